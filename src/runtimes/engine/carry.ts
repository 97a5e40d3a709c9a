import { composeImageLabel } from "./compose/labels.ts";
import { configForCreate, mergeConfig, ownCounts } from "./merge.ts";
import { isOwnLabel } from "./names.ts";
import type { ContainerInspect, ImageInspect } from "./objects.ts";
import { isBlank, isObject, listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "./raw.ts";

export interface Attachment {
  network: string;
  /** The network's ID if the engine reports it: a name can be ambiguous. */
  network_id: string;
  endpoint: RawObject;
}

/** The new container's configuration, in the engine's terms. */
export interface Blueprint {
  /** What its inspection must show; `Hostname` is blank if the engine derives it from the ID. */
  config: RawObject;
  host_config: RawObject;
  attachments: readonly Attachment[];
  mounts: readonly RawObject[];
  image_id: string;
  /** Destinations at which the new image may declare a volume. */
  image_volumes: readonly string[];
  /**
   * Set only after the new container has started. Until then only we may start it, even if a starting engine or a restart service
   * starts all `always` containers.
   */
  restart_policy: RawObject;
}

export interface CarryInput {
  container: ContainerInspect;
  oldImage: ImageInspect;
  newImage: Pick<ImageInspect, "Id" | "Config">;
  reference: string;
  /** Destinations that come from the containers in `VolumesFrom`, or from the pod. */
  inherited: ReadonlySet<string>;
  apiVersion: string;
}

/**
 * Turns a container's inspection into the blueprint of its successor. Everything that the engine reports is carried unchanged, unknown
 * fields too, except what is derived from the old container's ID or generated at each start.
 */
export function blueprint(input: CarryInput): Blueprint {
  const { container, newImage, reference } = input;
  const oldDefaults = objectAt(input.oldImage.Config);
  const newDefaults = objectAt(newImage.Config);
  const merged = mergeConfig(container.Config, oldDefaults, newDefaults);
  const config = {
    ...merged,
    Image: reference,
    Hostname: carriedHostname(container),
    Domainname: isHostnameForeign(container) ? "" : merged.Domainname,
    ExposedPorts: { ...objectAt(merged.ExposedPorts), ...publishedPorts(container) },
    Labels: labelsFor(merged, input),
  };
  return {
    config,
    host_config: hostConfig(container, input.inherited),
    attachments: attachments(container, input.apiVersion),
    mounts: (container.Mounts ?? []).filter((mount) => !input.inherited.has(stringAt(mount.Destination))),
    image_id: newImage.Id,
    image_volumes: Object.keys(objectAt(newDefaults.Volumes)),
    restart_policy: restartPolicyOf(container),
  };
}

/**
 * Published ports stay exposed even if the old image exposed them too: older engines publish only exposed ports, so a port that
 * the new image does not expose would be closed.
 */
function publishedPorts(container: ContainerInspect): RawObject {
  const bindings = objectAt(container.HostConfig.PortBindings);
  const exposed = Object.entries(objectAt(container.Config.ExposedPorts));
  return Object.fromEntries(exposed.filter(([port]) => port in bindings));
}

export const noRestart: RawObject = { Name: "no", MaximumRetryCount: 0 };

export function restartPolicyOf(container: ContainerInspect): RawObject {
  const policy = objectAt(container.HostConfig.RestartPolicy);
  return stringAt(policy.Name) === "" ? noRestart : policy;
}

/** The body of the create call. One network only: engines before API 1.44 refuse two. */
export function createBody(plan: Blueprint, newImageConfig: unknown, labels: RawObject, apiVersion: string): RawObject {
  const main = mainAttachment(plan);
  const config = configForCreate(plan.config, objectAt(newImageConfig));
  const { MacAddress: macAddress, ExposedPorts: exposedPorts, ...withoutMac } = config;
  // Engines refuse exposed ports in another container's network, even those of the image.
  const isNetworkShared = isOfContainer(plan.host_config);
  const isMacInConfig = !hasEndpointMac(apiVersion) && !isBlank(macAddress) && macAddress !== "";
  return {
    ...withoutMac,
    ...(isMacInConfig ? { MacAddress: macAddress } : {}),
    ...(isNetworkShared || exposedPorts === undefined ? {} : { ExposedPorts: exposedPorts }),
    Labels: { ...objectAt(config.Labels), ...labels },
    HostConfig: { ...plan.host_config, RestartPolicy: plan.restart_policy },
    ...(main === null ? {} : { NetworkingConfig: { EndpointsConfig: { [main.network]: main.endpoint } } }),
  };
}

type Attached = Pick<Blueprint, "attachments" | "host_config">;

/** The attachment that the create call makes from `NetworkMode`. */
export function mainAttachment(plan: Attached): Attachment | null {
  const name = mainNetwork(plan.host_config);
  const named = plan.attachments.find((each) => each.network === name || isIdOf(each, name));
  if (named !== undefined || name === "bridge") return named ?? null;
  // The mode may be an ID, which a container that never ran does not list among its networks.
  const [unknown, ...others] = plan.attachments.filter((each) => each.network_id === "");
  return /^[0-9a-f]{12,64}$/.test(name) && others.length === 0 ? (unknown ?? null) : null;
}

/** The network that the mode names, by name or ID. */
function mainNetwork(host: RawObject): string {
  const mode = stringAt(host.NetworkMode);
  return mode === "" || mode === "default" ? "bridge" : mode;
}

function isIdOf(attachment: Attachment, text: string): boolean {
  return text.length >= 12 && attachment.network_id.startsWith(text);
}

/** Whether networks have to be connected or disconnected after the create call; most containers need neither. */
export function needsNetworkCalls(plan: Attached): boolean {
  const made = mainAttachment(plan) === null ? 0 : 1;
  return plan.attachments.length > made;
}

/** Whether the create call attaches a network that must be detached again: the container had been disconnected from its first one. */
export function needsDisconnect(plan: Attached): boolean {
  return plan.attachments.length > 0 && mainAttachment(plan) === null;
}

/** Whether a chosen MAC address belongs to the endpoint in the create call, rather than to the container. */
function hasEndpointMac(apiVersion: string): boolean {
  return isApi(apiVersion, 44, Number.POSITIVE_INFINITY);
}

function isApi(apiVersion: string, fromMinor: number, toMinor: number): boolean {
  const minor = Number(apiVersion.split(".")[1] ?? "0");
  return minor >= fromMinor && minor <= toMinor;
}

/** The hostname if somebody chose it: engines fill in the short ID, the host's name or the name of a shared namespace. */
function carriedHostname(container: ContainerInspect): string {
  const hostname = stringAt(container.Config.Hostname);
  return isHostnameForeign(container) || isHostnameMade(container.Id, hostname) ? "" : hostname;
}

/** The engine's default: the first twelve digits of the ID. A shorter prefix of the ID was chosen by somebody. */
export function isHostnameMade(id: string, hostname: string): boolean {
  return hostname === "" || hostname === id.slice(0, 12);
}

/** In these modes the hostname belongs to another namespace, and the engine refuses one at create. */
export function isHostnameForeign(container: Pick<ContainerInspect, "HostConfig">): boolean {
  const networkMode = stringAt(container.HostConfig.NetworkMode);
  return networkMode.startsWith("container:") || stringAt(container.HostConfig.UTSMode) === "host";
}

function labelsFor(merged: RawObject, input: CarryInput): RawObject {
  const labels = Object.entries(stringMapAt(merged.Labels)).filter(([key]) => !isOwnLabel(key));
  return { ...Object.fromEntries(labels), ...composeImageLabel(input.container, input.newImage) };
}

function hostConfig(container: ContainerInspect, inherited: ReadonlySet<string>): RawObject {
  const carried: Record<string, unknown> = { ...container.HostConfig };
  if (!isBlank(carried.Links)) carried.Links = stringsAt(carried.Links).map(linkForCreate);
  return { ...carried, ...volumesByName(container, inherited) };
}

/** Inspect reports `/db:/app/alias`, create expects `db:alias`. */
export function linkForCreate(link: string): string {
  const colon = link.indexOf(":");
  if (colon < 0) return link.replace(/^\//, "");
  const alias = link.slice(colon + 1);
  return `${link.slice(0, colon).replace(/^\//, "")}:${alias.slice(alias.lastIndexOf("/") + 1)}`;
}

/**
 * Refers to anonymous volumes by name, so that the new container gets the data and not an empty volume: those of the image's or the
 * container's `Volumes`, mounts of type volume without a source, and binds that are a path alone.
 */
function volumesByName(container: ContainerInspect, inherited: ReadonlySet<string>): RawObject {
  const volumes = (container.Mounts ?? []).filter((mount) => mount.Type === "volume");
  const nameAt = (path: string) => {
    const volume = volumes.find((each) => each.Destination === mountPath(path));
    return volume === undefined ? "" : volumeName(volume);
  };

  const binds = stringsAt(container.HostConfig.Binds).map((bind) => {
    const name = bind.includes(":") ? "" : nameAt(bind);
    return name === "" ? bind : `${name}:${bind}`;
  });
  const mounts = listAt(container.HostConfig.Mounts)
    .filter(isObject)
    .filter((mount) => !inherited.has(mountPath(stringAt(mount.Target))))
    .map((mount) => {
      const isAnonymous = mount.Type === "volume" && stringAt(mount.Source) === "";
      const name = isAnonymous ? nameAt(stringAt(mount.Target)) : "";
      return name === "" ? mount : { ...mount, Source: name };
    });
  const named = new Set(
    [...binds.map(bindDestination), ...mounts.map((mount) => stringAt(mount.Target))].map(mountPath),
  );
  const anonymous = volumes.filter((mount) => {
    const destination = stringAt(mount.Destination);
    return !named.has(destination) && !inherited.has(destination);
  });
  const added = anonymous.map((mount) => ({
    Type: "volume",
    Source: volumeName(mount),
    Target: stringAt(mount.Destination),
    ...(mount.RW === false ? { ReadOnly: true } : {}),
  }));
  const allMounts = [...mounts, ...added];
  return {
    ...(binds.length === 0 ? {} : { Binds: binds }),
    ...(isBlank(container.HostConfig.Mounts) && allMounts.length === 0 ? {} : { Mounts: allMounts }),
  };
}

/**
 * The name of a mounted volume, empty if unknown. Newer engines omit it for a bind that is a path alone; a volume of
 * their own driver is then in a folder of its name.
 */
export function volumeName(mount: RawObject): string {
  const name = stringAt(mount.Name);
  if (name !== "" || !["", "local"].includes(stringAt(mount.Driver))) return name;
  return /\/volumes\/([a-zA-Z0-9][a-zA-Z0-9_.-]+)\/_data$/.exec(stringAt(mount.Source))?.[1] ?? "";
}

/** A path as the engine reports it for a mount, however it was written: `/a/./b/` and `/x/../a/b` are `/a/b`. */
export function mountPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

export function bindDestination(bind: string): string {
  const [first = "", second] = bind.split(":");
  return second ?? first;
}

/** The container has no network stack of its own, so nothing is attached to it. */
export function sharesNetwork(host: RawObject): boolean {
  const mode = stringAt(host.NetworkMode);
  return mode === "host" || mode === "none" || isOfContainer(host);
}

/** In a Podman pod, which provides mounts and some of the namespaces. */
export function isInPod(host: RawObject): boolean {
  return stringAt(host.Pod) !== "";
}

function isOfContainer(host: RawObject): boolean {
  return stringAt(host.NetworkMode).startsWith("container:");
}

/** Fields that the engine regenerates at each start; the rest of an endpoint is configuration. */
const runtimeEndpointFields = new Set([
  "NetworkID",
  "EndpointID",
  "Gateway",
  "IPAddress",
  "IPPrefixLen",
  "IPv6Gateway",
  "GlobalIPv6Address",
  "GlobalIPv6PrefixLen",
  "MacAddress",
  "DNSNames",
]);

export function attachments(container: ContainerInspect, apiVersion: string): readonly Attachment[] {
  if (sharesNetwork(container.HostConfig)) return [];
  return Object.entries(container.NetworkSettings?.Networks ?? {}).map(([network, raw]) => {
    const found = objectAt(raw);
    const kept = Object.entries(found).filter(([key, value]) => !runtimeEndpointFields.has(key) && !isBlank(value));
    const aliases = stringsAt(found.Aliases).filter((alias) => alias !== container.Id.slice(0, 12));
    const endpoint: Record<string, unknown> = Object.fromEntries(kept);
    delete endpoint.Aliases;
    if (aliases.length > 0) endpoint.Aliases = aliases;
    if (!isBlank(found.Links)) endpoint.Links = stringsAt(found.Links);
    const macAddress = hasEndpointMac(apiVersion) ? chosenMac(container, network, found, apiVersion) : "";
    if (macAddress !== "") endpoint.MacAddress = macAddress;
    return { network, network_id: stringAt(found.NetworkID), endpoint };
  });
}

/**
 * For the network that the mode names, the engine reports the chosen MAC address with the container, always up to API 1.51. For other
 * networks, or if the mode is an ID, it does not report whether an address was chosen. An address derived from the IP address (02:42
 * and the address) was not chosen; any other is kept, because keeping a random one does no harm and losing a chosen one does.
 */
function chosenMac(container: ContainerInspect, network: string, endpoint: RawObject, apiVersion: string): string {
  const { HostConfig: host, Config: config } = container;
  const chosen = stringAt(config.MacAddress);
  const isTold = isApi(apiVersion, 44, 51) || typeof config.MacAddress === "string";
  if (mainNetwork(host) === network && isTold) return chosen;
  const macAddress = stringAt(endpoint.MacAddress).toLowerCase();
  const bytes = stringAt(endpoint.IPAddress)
    .split(".")
    .map((part) => Number(part).toString(16).padStart(2, "0"));
  return macAddress === ["02", "42", ...bytes].join(":") ? "" : macAddress;
}

/** How much is carried over. Host settings that are blank, zero or false are defaults and do not count. */
export function carriedCounts(
  container: ContainerInspect,
  oldImage: ImageInspect,
  plan: Blueprint,
): Record<string, number> {
  const counted = new Set(["Binds", "Mounts", "PortBindings", "MaskedPaths", "ReadonlyPaths", "ConsoleSize"]);
  const settings = Object.entries(container.HostConfig).filter(([key, value]) => {
    return !counted.has(key) && !isBlank(value) && value !== 0 && value !== false && value !== "";
  });
  return {
    settings: settings.length,
    ...ownCounts(container.Config, objectAt(oldImage.Config)),
    networks: plan.attachments.length,
    mounts: plan.mounts.length,
    ports: Object.keys(objectAt(container.HostConfig.PortBindings)).length,
  };
}
