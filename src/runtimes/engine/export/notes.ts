import { volumeName } from "../carry.ts";
import { isBlank, isSame, isUnset, listAt, objectAt, type RawObject, stringAt, stringsAt } from "../raw.ts";
import { attachmentsOf, type OwnSettings } from "./member.ts";
import { podmanMembers } from "./podman-options.ts";

/** A setting that a file does not restore. */
export interface Note {
  /** The container's name. */
  member: string;
  /** The settings, named as in an update's comparison (`HostConfig.Links`); none for anything else. */
  paths: readonly string[];
  text: string;
}

/** As in the head of the file. */
export function sentence({ member, text }: Note): string {
  return `${member}: ${text}`;
}

type Format = "script" | "compose";

/** Members that both formats write, that `unsayable` handles itself, or that do not describe the container. */
const written = {
  Config: new Set([
    ...["Annotations", "AttachStderr", "AttachStdin", "AttachStdout", "Cmd", "ConmonPidFile"],
    ...["CreateCommand", "Domainname", "Entrypoint", "Env", "ExposedPorts", "Healthcheck", "Hostname", "Image"],
    ...["Labels", "MacAddress", "NetworkDisabled", "OpenStdin", "Shell", "StdinOnce", "StopSignal"],
    ...["StopTimeout", "Tty", "User", "Volumes", "WorkingDir"],
  ]),
  HostConfig: new Set([
    ...["AutoRemove", "Annotations", "Binds", "BlkioDeviceReadBps", "BlkioDeviceReadIOps", "BlkioDeviceWriteBps"],
    ...["BlkioDeviceWriteIOps", "BlkioWeight", "BlkioWeightDevice", "CapAdd", "CapDrop", "CgroupParent"],
    ...["CgroupnsMode", "ConsoleSize", "ContainerIDFile", "CpuCount", "CpuPercent", "CpuPeriod", "CpuQuota"],
    ...["CpuRealtimePeriod", "CpuRealtimeRuntime", "CpuShares", "CpusetCpus", "Dependencies", "DeviceCgroupRules"],
    ...["DeviceRequests", "Devices", "Dns", "DnsOptions", "DnsSearch", "ExtraHosts", "GroupAdd", "Init", "IpcMode"],
    ...["Isolation", "Links", "LogConfig", "MaskedPaths", "Memory", "MemoryReservation", "MemorySwap"],
    ...["MemorySwappiness", "Mounts", "NanoCpus", "NetworkMode", "OomKillDisable", "OomScoreAdj", "PidMode"],
    ...["PidsLimit", "PortBindings", "Privileged", "ReadonlyPaths", "ReadonlyRootfs", "RestartPolicy", "Runtime"],
    ...["SecurityOpt", "ShmSize", "StorageOpt", "Sysctls", "Tmpfs", "UTSMode", "Ulimits", "UsernsMode"],
    ...["VolumesFrom"],
  ]),
  endpoint: new Set(["Aliases", "DriverOpts", "GwPriority", "IPAMConfig", "Links", "MacAddress"]),
} as const;

/** The same for mounts, by the object that holds them. */
const mountMembers: Readonly<Record<string, readonly string[]>> = {
  "": ["Type", "Source", "Target", "ReadOnly", "Consistency"],
  BindOptions: ["Propagation", "NonRecursive", "CreateMountpoint", "ReadOnlyNonRecursive", "ReadOnlyForceRecursive"],
  VolumeOptions: ["NoCopy", "Subpath", "Labels", "DriverConfig"],
  TmpfsOptions: ["SizeBytes", "Mode"],
  ImageOptions: ["Subpath"],
};

function unknownMembers(mount: RawObject, known: typeof mountMembers): readonly string[] {
  return Object.entries(mount).flatMap(([key, value]) => {
    const members = known[key];
    if (members === undefined) return isUnset(value) || known[""]?.includes(key) ? [] : [key];
    const unknown = Object.entries(objectAt(value)).filter(
      ([member, set]) => !isUnset(set) && !members.includes(member),
    );
    return unknown.map(([member]) => `${key}.${member}`);
  });
}

/** Members that only the command line has options for, on any engine. */
const ofScripts = new Set([
  ...["CpusetMems", "IOMaximumBandwidth", "IOMaximumIOps", "KernelMemory", "PublishAllPorts", "VolumeDriver"],
]);

/** Paths that engines mask or protect by default; a person named any other. */
const engineMasked =
  /^\/(?:proc\/(?:acpi|asound|interrupts|kcore|keys|latency_stats|timer_list|timer_stats|sched_debug|scsi)|sys\/.*)$/;
const engineReadonly = /^\/proc\/(?:bus|fs|irq|sys|sysrq-trigger|asound)$/;
/** Masked or protected by every version of Docker: a list without one of these comes from a person. */
const alwaysMasked = ["/proc/kcore", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug", "/sys/firmware"];
const alwaysReadonly = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/** `systempaths=unconfined` leaves both lists blank; a privileged container has none anyway. */
function hasOwnPaths(host: RawObject, key: "MaskedPaths" | "ReadonlyPaths"): boolean {
  const [known, always] = key === "MaskedPaths" ? [engineMasked, alwaysMasked] : [engineReadonly, alwaysReadonly];
  const found = host[key];
  if (!Array.isArray(found) || host.Privileged === true) return false;
  if (isUnmasked(host)) return found.length > 0;
  const paths = stringsAt(found);
  return paths.some((path) => !known.test(path)) || always.some((path) => !paths.includes(path));
}

/** Every setting that the format cannot express: everything not known to be written is named. */
export function unsayable(settings: OwnSettings, format: Format): readonly Note[] {
  const { host, config, defaults, engine } = settings;
  const isScriptOfPodman = format === "script" && engine === "podman";
  const notes: Note[] = [];
  const say = (path: string, text: string) => notes.push({ member: settings.name, paths: [path], text });
  for (const [key, value] of Object.entries(config)) {
    if (written.Config.has(key) || isUnset(value) || isSame(value, defaults[key])) continue;
    if (!(isScriptOfPodman && podmanMembers.has(key))) say(`Config.${key}`, `Config.${key} is not restored`);
  }
  for (const [key, value] of Object.entries(host)) {
    if (written.HostConfig.has(key) || isUnset(value) || (format === "script" && ofScripts.has(key))) continue;
    if (!(isScriptOfPodman && podmanMembers.has(key))) say(`HostConfig.${key}`, `HostConfig.${key} is not restored`);
  }
  for (const { network, endpoint } of attachmentsOf(settings)) {
    for (const [key, value] of Object.entries(endpoint)) {
      if (written.endpoint.has(key) || isUnset(value) || (isScriptOfPodman && podmanMembers.has(key))) continue;
      say(`Networks.${network}`, `${key} of the network ${network} is not restored`);
    }
  }
  for (const mount of listAt(host.Mounts).map(objectAt)) {
    const unknown = engine === "podman" ? [] : unknownMembers(mount, mountMembers);
    if (unknown.length > 0)
      say("HostConfig.Mounts", `${unknown.join(", ")} of the mount ${stringAt(mount.Target)} is not restored`);
  }
  if (hasOwnPaths(host, "MaskedPaths")) say("HostConfig.MaskedPaths", "its own list of masked paths is not restored");
  if (hasOwnPaths(host, "ReadonlyPaths"))
    say("HostConfig.ReadonlyPaths", "its own list of read-only paths is not restored");
  if (listAt(host.Devices).some((device) => stringAt(objectAt(device).CgroupPermissions) === ""))
    say("HostConfig.Devices", "a device without rights gets all of them");
  if (stringsAt(config.Env).some((line) => !line.includes("=")))
    say("Config.Env", "a variable without a value is not restored");
  if (listAt(host.DeviceRequests).some((request) => listAt(objectAt(request).Capabilities).length > 1))
    say("HostConfig.DeviceRequests", "only the first of several sets of device capabilities is restored");
  if (config.NetworkDisabled === true)
    say("Config.NetworkDisabled", "its network is disabled, which is not restored; network none comes near");
  if (!isBlank(config.Shell) && !isSame(config.Shell, defaults.Shell))
    say("Config.Shell", "a shell of its own for health checks is not restored");
  if (Object.values(objectAt(host.PortBindings)).some((bindings) => listAt(bindings).length === 0)) {
    say("HostConfig.PortBindings", "a port that is bound to nothing is not restored");
  }
  return notes;
}

/** An empty list means `systempaths=unconfined`. A privileged container has none anyway. */
export function isUnmasked(host: RawObject): boolean {
  return Array.isArray(host.MaskedPaths) && host.MaskedPaths.length === 0 && host.Privileged !== true;
}

/** A network that must exist, as known from its endpoint. */
export interface NeededNetwork {
  name: string;
  /** The network's, when an address was fixed: the engine requires them. */
  subnet: string | null;
  gateway: string | null;
  labels: Readonly<Record<string, string>>;
}

/** For `network create`. */
export function neededOptions({ subnet, gateway }: Pick<NeededNetwork, "subnet" | "gateway">): readonly string[] {
  if (subnet === null) return [];
  return [`--subnet=${subnet}`, ...(gateway === null ? [] : [`--gateway=${gateway}`])];
}

const provided = new Set(["bridge", "host", "none", "default", "podman"]);

export function neededNetworks(all: readonly OwnSettings[]): readonly NeededNetwork[] {
  const found = new Map<string, NeededNetwork>();
  for (const settings of all) {
    const project = settings.labels.find(([key]) => key === "com.docker.compose.project")?.[1];
    for (const { network } of attachmentsOf(settings).filter((each) => !provided.has(each.network))) {
      const known = found.get(network);
      const { subnet, gateway } = subnetOf(settings, network);
      const isOfProject = project !== undefined && network.startsWith(`${project}_`);
      found.set(network, {
        name: network,
        subnet: known?.subnet ?? subnet,
        gateway: known?.gateway ?? gateway,
        labels: isOfProject
          ? {
              "com.docker.compose.project": project,
              "com.docker.compose.network": network.slice(project.length + 1),
            }
          : (known?.labels ?? {}),
      });
    }
  }
  return [...found.values()];
}

function subnetOf(settings: OwnSettings, network: string): Pick<NeededNetwork, "subnet" | "gateway"> {
  const endpoint = settings.endpoints[network] ?? {};
  const wanted = stringAt(objectAt(endpoint.IPAMConfig).IPv4Address);
  const length = endpoint.IPPrefixLen;
  const parts = wanted.split(".").map(Number);
  if (parts.length !== 4 || typeof length !== "number" || length < 1 || length > 30) {
    return { subnet: null, gateway: null };
  }
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - length);
  const base = address - (address % size);
  const subnet = [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join(".");
  return { subnet: `${subnet}/${length}`, gateway: stringAt(endpoint.Gateway) || null };
}

/** The named volumes in use, each with its driver. */
export function neededVolumes(all: readonly OwnSettings[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { mounts } of all) {
    for (const mount of mounts) {
      const volume = volumeName(mount);
      if (mount.Type === "volume" && volume !== "") found.set(volume, stringAt(mount.Driver) || "local");
    }
  }
  return found;
}
