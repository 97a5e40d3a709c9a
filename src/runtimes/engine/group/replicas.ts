import { attachments } from "../carry.ts";
import { comparableConfig, comparableEndpoint, comparableHost } from "../compare.ts";
import { composeLabels, composeOf } from "../compose/labels.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { canonical, objectAt, stringMapAt, stringsAt } from "../raw.ts";

/** Whether the containers of one service have different settings: one then says nothing about the others. */
export function differingReplicas(replicas: readonly ContainerInspect[]): boolean {
  return new Set(replicas.map(settingsOf)).size > 1;
}

/** Without what differs between replicas: name, number, id, host ports and the names of their own volumes. */
function settingsOf(container: ContainerInspect): string {
  const { Labels: labels, ...config } = comparableConfig(container.Config, container);
  const kept = Object.entries(stringMapAt(labels)).filter(([key]) => !ofOne.has(key));
  const host = comparableHost(container.HostConfig);
  const compose = composeOf(container);
  const own = new Set([nameOf(container), container.Id.slice(0, 12), compose?.service ?? ""]);
  const mounts = (container.Mounts ?? []).map((mount) => [mount.Destination, mount.Type, mount.RW]).sort();
  return canonical({
    config: { ...config, Labels: Object.fromEntries(kept) },
    needs: (compose?.depends_on ?? []).map(canonical).sort(),
    host: {
      ...host,
      Binds: stringsAt(host.Binds).map((bind) => bind.slice(bind.indexOf(":"))),
      Mounts: null,
      PortBindings: Object.keys(objectAt(host.PortBindings)),
    },
    mounts,
    networks: attachments(container, "1.44").map(({ network, endpoint }) => ({
      network,
      aliases: stringsAt(comparableEndpoint(endpoint).Aliases).filter((alias) => !own.has(alias)),
      driver: endpoint.DriverOpts,
    })),
    image: container.Image,
  });
}

/** Compose itself leaves `replace` on recreated replicas. Dependencies are in any order and compared as parsed. */
const ofOne: ReadonlySet<string> = new Set([
  composeLabels.number,
  composeLabels.version,
  composeLabels.depends_on,
  "com.docker.compose.replace",
]);
