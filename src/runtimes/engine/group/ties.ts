import type { Blueprint } from "../carry.ts";
import { linkForCreate } from "../carry.ts";
import { composeOf } from "../compose/labels.ts";
import { type ContainerInspect, isIdPrefix, nameOf } from "../objects.ts";
import { isBlank, type RawObject, stringAt, stringsAt } from "../raw.ts";

/**
 * How a container depends on another: by its namespaces, volumes or links, or by requiring it. Podman stores a required container's id and
 * starts it with its dependants.
 */
export type Tie = "namespace" | "volumes" | "link" | "requirement";

const modes = ["NetworkMode", "PidMode", "IpcMode", "UTSMode", "UsernsMode", "CgroupnsMode"] as const;
const shared = "container:";
const requirements = "Dependencies";

/** Whether an engine's text means this container: its name, or the beginning of its id. */
export function isNameOrId(text: string, container: Pick<ContainerInspect, "Id" | "Name">): boolean {
  const bare = text.replace(/^\//, "");
  return bare === nameOf(container) || isIdPrefix(bare, container.Id);
}

export function tiesTo(container: ContainerInspect, other: ContainerInspect): readonly Tie[] {
  if (container.Id === other.Id) return [];
  const { HostConfig: host } = container;
  const isNamespace = modes
    .map((mode) => stringAt(host[mode]))
    .some((mode) => mode.startsWith(shared) && isNameOrId(mode.slice(shared.length), other));
  const isVolumes = stringsAt(host.VolumesFrom).some((each) => isNameOrId(each.split(":")[0] ?? "", other));
  const isLink = stringsAt(host.Links).some((each) => isNameOrId(each.split(":")[0] ?? "", other));
  const isRequired = stringsAt(host.Dependencies).some((each) => isNameOrId(each, other));
  return [
    ...(isNamespace ? (["namespace"] as const) : []),
    ...(isVolumes ? (["volumes"] as const) : []),
    ...(isLink ? (["link"] as const) : []),
    ...(isRequired ? (["requirement"] as const) : []),
  ];
}

/** Why a container must be recreated together with a replaced one; null if it need not. */
export function becauseOf(container: ContainerInspect, owner: ContainerInspect): "shares" | "restarts" | null {
  if (tiesTo(container, owner).length > 0) return "shares";
  return isRestartedWith(container, owner) ? "restarts" : null;
}

/** `depends_on` with `restart: true`: compose itself restarts it whenever it replaces the other one. */
function isRestartedWith(container: ContainerInspect, owner: ContainerInspect): boolean {
  const [labels, other] = [composeOf(container), composeOf(owner)];
  if (labels === null || other === null || labels.project !== other.project) return false;
  return labels.depends_on.some((each) => each.service === other.service && each.restarts);
}

/**
 * The containers named in modes, volumes and requirements, by name or id, with the place. Requirements have no order, so all of them share
 * one place.
 */
export function ownersIn(host: RawObject): readonly { place: string; reference: string }[] {
  const shares = modes.flatMap((mode) => {
    const value = stringAt(host[mode]);
    return value.startsWith(shared) ? [{ place: mode, reference: value.slice(shared.length) }] : [];
  });
  const volumes = stringsAt(host.VolumesFrom).map((each, index) => {
    return { place: `VolumesFrom ${index}`, reference: each.split(":")[0] ?? "" };
  });
  const required = stringsAt(host.Dependencies).map((reference) => ({ place: requirements, reference }));
  return [...shares, ...volumes, ...required];
}

/** New references to a replaced container: for those that name its id, and for links while it has no name yet. */
export interface Successor {
  id: string;
  name: string;
}

/**
 * The blueprint with every reference to a replaced container changed to its successor. A reference by name stays: when the engine reads it,
 * at the start, the successor has the name. A link is bound when it is created, so it is changed too.
 */
export function rebased(
  blueprint: Blueprint,
  find: (reference: string) => { successor: Successor; is_by_id: boolean } | null,
): Blueprint {
  const host: Record<string, unknown> = { ...blueprint.host_config };
  for (const mode of modes) {
    const value = stringAt(host[mode]);
    if (!value.startsWith(shared)) continue;
    const found = find(value.slice(shared.length));
    if (found?.is_by_id === true) host[mode] = `${shared}${found.successor.id}`;
  }
  if (!isBlank(host.VolumesFrom)) {
    host.VolumesFrom = stringsAt(host.VolumesFrom).map((each) => {
      const [reference = "", ...options] = each.split(":");
      const found = find(reference);
      return found?.is_by_id === true ? [found.successor.id, ...options].join(":") : each;
    });
  }
  if (!isBlank(host.Links)) {
    host.Links = stringsAt(host.Links)
      .map(linkForCreate)
      .map((link) => {
        const [reference = "", alias = ""] = link.split(":");
        const found = find(reference);
        return found === null ? link : `${found.successor.name}:${alias === "" ? reference : alias}`;
      });
  }
  if (!isBlank(host.Dependencies)) {
    const led = stringsAt(host.Dependencies).map((each) => {
      const found = find(each);
      return found?.is_by_id === true ? found.successor.id : each;
    });
    host.Dependencies = led.sort();
  }
  return { ...blueprint, host_config: host };
}

/** The host configuration with names for other containers' ids: equal when a successor replaced an owner. */
export function withNames(host: RawObject, nameOfId: (id: string) => string | null): RawObject {
  const named = (text: string) => nameOfId(text) ?? text;
  const changed = modes.flatMap((mode) => {
    const value = stringAt(host[mode]);
    return value.startsWith(shared) ? [[mode, shared + named(value.slice(shared.length))] as const] : [];
  });
  const volumes = stringsAt(host.VolumesFrom).map((each) => {
    const [reference = "", ...options] = each.split(":");
    return [named(reference), ...options].join(":");
  });
  const required = stringsAt(host.Dependencies).map(named).sort();
  return {
    ...host,
    ...Object.fromEntries(changed),
    ...(volumes.length === 0 ? {} : { VolumesFrom: volumes }),
    ...(required.length === 0 ? {} : { Dependencies: required }),
  };
}
