import type { Attachment } from "../carry.ts";
import { isUnset, objectAt, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { ServiceNames } from "./compose-service.ts";
import { given, text } from "./compose-text.ts";
import { attachmentsOf, type OwnSettings } from "./member.ts";
import type { YamlMap } from "./yaml.ts";

/** The members `network_mode`, `networks` and `mac_address` of a service. */
export function composeNetworks(settings: OwnSettings, names: ServiceNames): YamlMap {
  const { host, main, further, mac_address } = settings;
  const mode = stringAt(host.NetworkMode);
  const isProvided = main === null || main.network === "bridge" || main.network === "podman";
  if (isProvided && further.length === 0) {
    const service = mode.startsWith("container:") ? names.get(mode.slice("container:".length)) : undefined;
    const shown = mode === "" || mode === "default" ? "bridge" : mode;
    return {
      network_mode: service === undefined ? text(shown) : `service:${service}`,
      mac_address: mac_address === "" ? undefined : mac_address,
    };
  }
  const attached = attachmentsOf(settings).filter((each) => !isLeftOut(settings, each));
  return {
    mac_address: mac_address === "" || settings.has_network_mac ? undefined : mac_address,
    networks: Object.fromEntries(
      attached.map((each, index) => {
        const mac = each === main && settings.has_network_mac ? mac_address : stringAt(each.endpoint.MacAddress);
        // The one with the highest priority is connected first.
        return [each.network, endpointOf(each, mac, attached.length > 1 ? 1000 - index : null)];
      }),
    ),
  };
}

/** Compose cannot attach a container to the engine's default network besides others. */
export function isLeftOut({ further }: OwnSettings, { network }: Attachment): boolean {
  return further.length > 0 && network === "bridge";
}

function endpointOf({ endpoint }: Attachment, mac: string, priority: number | null): YamlMap {
  const ipam = objectAt(endpoint.IPAMConfig);
  const list = (values: readonly string[]) => (values.length === 0 ? undefined : values.map(text));
  const options = Object.entries(stringMapAt(endpoint.DriverOpts)).map(([key, value]) => [key, text(value)]);
  return {
    aliases: list(stringsAt(endpoint.Aliases)),
    ipv4_address: given(ipam.IPv4Address),
    ipv6_address: given(ipam.IPv6Address),
    link_local_ips: list(stringsAt(ipam.LinkLocalIPs)),
    mac_address: mac === "" ? undefined : mac,
    driver_opts: options.length === 0 ? undefined : Object.fromEntries(options),
    gw_priority: isUnset(endpoint.GwPriority) ? undefined : Number(endpoint.GwPriority),
    priority: priority ?? undefined,
  };
}
