import {
  type Blueprint,
  isHostnameForeign,
  isHostnameMade,
  isInPod,
  linkForCreate,
  sharesNetwork,
  volumeName,
} from "./carry.ts";
import { isOwnLabel } from "./names.ts";
import type { ContainerInspect } from "./objects.ts";
import { canonical, isBlank, listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "./raw.ts";
import { isSameReference } from "./reference.ts";
import { unorderedConfig, unorderedEndpoint, unorderedHost } from "./unordered.ts";

/** A setting that differs from the plan, without its values, which may be secrets. */
export interface Difference {
  path: string;
}

/**
 * Compares a created container with its blueprint, field by field in both directions, and returns what cannot be explained.
 * Explained are only: the name and labels of the run, the hostname and alias derived from the ID, the restart policy that is set
 * later, and volumes that the new image brings.
 */
export function differences(plan: Blueprint, found: ContainerInspect): readonly Difference[] {
  const paths = [
    ...(found.Image === plan.image_id ? [] : ["Image"]),
    ...differingKeys(comparableConfig(plan.config, found), comparableConfig(found.Config, found))
      .filter((key) => key !== "MacAddress" || !hasMac(plan))
      .filter((key) => key !== "Image" || !isSameReference(stringAt(plan.config.Image), stringAt(found.Config.Image)))
      .map((key) => `Config.${key}`),
    ...differingKeys(comparableHost(plan.host_config), comparableHost(withoutBrought(plan, found)))
      .filter((key) => !isFilledIn(key, plan.host_config[key]))
      .map((key) => `HostConfig.${key}`),
    ...differingKeys(expectedNetworks(plan), foundNetworks(plan, found)).map((key) => `Networks.${key}`),
    ...differingKeys(mountsByPath(plan.mounts), mountsByPath(carriedMounts(plan, found))).map((key) => `Mounts.${key}`),
  ];
  return paths.map((path) => ({ path }));
}

/** The MAC address is then compared with its network: newer engines report it there, and some report it here too. */
function hasMac(plan: Blueprint): boolean {
  return plan.attachments.some((each) => "MacAddress" in each.endpoint);
}

/** Podman lists mounts of the new image or the pod among the requested ones. */
function withoutBrought(plan: Blueprint, found: ContainerInspect): RawObject {
  const asked = new Set(listAt(plan.host_config.Mounts).map((mount) => stringAt(objectAt(mount).Target)));
  const mounts = listAt(found.HostConfig.Mounts).filter((mount) => {
    const target = stringAt(objectAt(mount).Target);
    return asked.has(target) || !(isInPod(found.HostConfig) || plan.image_volumes.includes(target));
  });
  return { ...found.HostConfig, Mounts: mounts };
}

/**
 * Fields that an engine fills in at create if they are unset; an older engine may have created the old container without them. An
 * empty list is a value here: `MaskedPaths: []` means that no path is masked.
 */
const filledIn = new Set([
  "CgroupnsMode",
  "IpcMode",
  "LogConfig",
  "MaskedPaths",
  "NetworkMode",
  "ReadonlyPaths",
  "Runtime",
  "ShmSize",
]);

function isFilledIn(key: string, wanted: unknown): boolean {
  if (!filledIn.has(key)) return false;
  if (key === "LogConfig") return stringAt(objectAt(wanted).Type) === "";
  return wanted === undefined || wanted === null || wanted === "" || wanted === 0;
}

/** The keys whose values differ in meaning. */
export function differingKeys(left: RawObject, right: RawObject): readonly string[] {
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].filter((key) => canonical(left[key]) !== canonical(right[key])).sort();
}

export function comparableConfig(config: RawObject, owner: Pick<ContainerInspect, "Id" | "HostConfig">): RawObject {
  const hostname = stringAt(config.Hostname);
  const isMade = isHostnameForeign(owner) || isHostnameMade(owner.Id, hostname);
  const labels = Object.entries(stringMapAt(config.Labels)).filter(([key]) => !isOwnLabel(key));
  return {
    ...unorderedConfig(config),
    // For these, the engine treats empty text as absent.
    ...blankToNull(config),
    Hostname: isMade ? null : hostname,
    Domainname: isHostnameForeign(owner) ? null : emptyToNull(config.Domainname),
    Labels: Object.fromEntries(labels),
    Healthcheck: comparableCheck(config.Healthcheck),
  };
}

export function comparableHost(host: RawObject): RawObject {
  const { RestartPolicy: _later, ...rest } = host;
  return unorderedHost({
    ...rest,
    // Newer engines record which network is their default.
    NetworkMode: host.NetworkMode === "default" ? "bridge" : host.NetworkMode,
    Links: stringsAt(host.Links).map(linkForCreate),
    PortBindings: portBindings(host.PortBindings),
  });
}

/** "All addresses" is written as empty text or left out. */
function portBindings(value: unknown): RawObject {
  const ports = Object.entries(objectAt(value)).map(([port, bindings]) => {
    const list = Array.isArray(bindings) ? bindings.map(objectAt) : [];
    return [port, list.map((each) => ({ ...each, HostIp: stringAt(each.HostIp), HostPort: stringAt(each.HostPort) }))];
  });
  return Object.fromEntries(ports);
}

function expectedNetworks(plan: Blueprint): RawObject {
  return Object.fromEntries(plan.attachments.map((each) => [each.network, comparableEndpoint(each.endpoint)]));
}

function foundNetworks(plan: Blueprint, found: ContainerInspect): RawObject {
  if (sharesNetwork(found.HostConfig)) return {};
  const networks = Object.entries(found.NetworkSettings?.Networks ?? {}).map(([network, raw]) => {
    const endpoint = objectAt(raw);
    const expected = plan.attachments.find((each) => each.network === network)?.endpoint ?? {};
    // A MAC address that was not chosen is generated at start; a chosen one must match.
    const kept = "MacAddress" in expected ? endpoint : { ...endpoint, MacAddress: null };
    return [network, comparableEndpoint({ ...kept, Aliases: plannedAliases(endpoint, expected, found) })];
  });
  return Object.fromEntries(networks);
}

/** The aliases without those that engines add: the short ID, and the hostname when they connect a network. */
function plannedAliases(endpoint: RawObject, expected: RawObject, found: ContainerInspect): readonly string[] {
  const planned = stringsAt(expected.Aliases);
  const added = [found.Id.slice(0, 12), stringAt(found.Config.Hostname)];
  return stringsAt(endpoint.Aliases).filter((alias) => planned.includes(alias) || !added.includes(alias));
}

export function comparableEndpoint(endpoint: RawObject): RawObject {
  const {
    NetworkID: _networkId,
    EndpointID: _endpointId,
    Gateway: _gateway,
    IPAddress: _address,
    IPPrefixLen: _prefix,
    IPv6Gateway: _gateway6,
    GlobalIPv6Address: _address6,
    GlobalIPv6PrefixLen: _prefix6,
    DNSNames: _names,
    ...configured
  } = endpoint;
  // A marker, so that an endpoint without settings still counts as attached.
  return { ...unorderedEndpoint(configured), attached: true };
}

/** The mounts without inherited ones and without volumes of the new image at paths where nothing was mounted before. */
function carriedMounts(plan: Blueprint, found: ContainerInspect): readonly RawObject[] {
  const before = new Set(plan.mounts.map((mount) => stringAt(mount.Destination)));
  const brought = new Set(plan.image_volumes.filter((destination) => !before.has(destination)));
  const inherits = !isBlank(found.HostConfig.VolumesFrom) || isInPod(found.HostConfig);
  return (found.Mounts ?? []).filter((mount) => {
    const destination = stringAt(mount.Destination);
    return !brought.has(destination) && (before.has(destination) || !inherits);
  });
}

function mountsByPath(mounts: readonly RawObject[]): RawObject {
  const entries = mounts.map((mount) => {
    const propagation = mount.Type === "volume" ? "" : stringAt(mount.Propagation);
    return [
      stringAt(mount.Destination),
      { type: mount.Type, from: mountedFrom(mount), writable: mount.RW === true, propagation },
    ];
  });
  return Object.fromEntries(entries);
}

/** The name of a volume or image: an image's files have a different path for each container. */
function mountedFrom(mount: RawObject): string {
  if (mount.Type === "image") return stringAt(mount.Name);
  const name = mount.Type === "volume" ? volumeName(mount) : "";
  return name === "" ? stringAt(mount.Source) : name;
}

function blankToNull(config: RawObject): RawObject {
  const keys = ["User", "WorkingDir", "StopSignal", "MacAddress"];
  return Object.fromEntries(keys.map((key) => [key, emptyToNull(config[key])]));
}

function emptyToNull(value: unknown): unknown {
  return value === "" || isBlank(value) ? null : value;
}

/** `["NONE"]` turns the check off; its other members then have no effect. */
function comparableCheck(check: unknown): RawObject {
  const { Test: test } = objectAt(check);
  return stringsAt(test)[0] === "NONE" ? { Test: test } : withoutZeros(check);
}

function withoutZeros(value: unknown): RawObject {
  return Object.fromEntries(Object.entries(objectAt(value)).filter(([, member]) => member !== 0));
}
