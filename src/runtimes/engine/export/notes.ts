import { volumeName } from "../carry.ts";
import { isBlank, listAt, objectAt, type RawObject, stringAt, stringsAt } from "../raw.ts";
import type { OwnSettings } from "./member.ts";

/** Every member of `HostConfig` that the exports write, or that says nothing about the container to make. */
const written = new Set([
  ...["AutoRemove", "Annotations", "Binds", "BlkioDeviceReadBps", "BlkioDeviceReadIOps", "BlkioDeviceWriteBps"],
  ...["BlkioDeviceWriteIOps", "BlkioWeight", "BlkioWeightDevice", "CapAdd", "CapDrop", "CgroupParent", "CgroupnsMode"],
  ...["ConsoleSize", "ContainerIDFile", "CpuCount", "CpuPercent", "CpuPeriod", "CpuQuota", "CpuRealtimePeriod"],
  ...["CpuRealtimeRuntime", "CpuShares", "CpusetCpus", "CpusetMems", "Dependencies", "DeviceCgroupRules"],
  ...["DeviceRequests", "Devices"],
  ...["Dns", "DnsOptions", "DnsSearch", "ExtraHosts", "GroupAdd", "IOMaximumBandwidth", "IOMaximumIOps", "Init"],
  ...["IpcMode", "Isolation", "KernelMemory", "Links", "LogConfig", "MaskedPaths", "Memory", "MemoryReservation"],
  ...["MemorySwap", "MemorySwappiness", "Mounts", "NanoCpus", "NetworkMode", "OomKillDisable", "OomScoreAdj"],
  ...["PidMode", "PidsLimit", "PortBindings", "Privileged", "PublishAllPorts", "ReadonlyPaths", "ReadonlyRootfs"],
  ...["RestartPolicy", "Runtime", "SecurityOpt", "ShmSize", "StorageOpt", "Sysctls", "Tmpfs", "UTSMode", "Ulimits"],
  ...["UsernsMode", "VolumeDriver", "VolumesFrom"],
]);

/** Paths that engines mask or protect by themselves; any other was named by a person. */
const engineMasked =
  /^\/(?:proc\/(?:acpi|asound|interrupts|kcore|keys|latency_stats|timer_list|timer_stats|sched_debug|scsi)|sys\/.*)$/;
const engineReadonly = /^\/proc\/(?:bus|fs|irq|sys|sysrq-trigger|asound)$/;

/** What neither the CLI nor a compose file has words for, as sentences. */
export function unsayable(settings: OwnSettings): readonly string[] {
  const { host, config } = settings;
  const notes: string[] = [];
  const say = (what: string) => notes.push(`${settings.name}: ${what}`);
  for (const [key, value] of Object.entries(host)) {
    if (!written.has(key) && !isUnset(value)) say(`HostConfig.${key} cannot be said`);
  }
  const masked = stringsAt(host.MaskedPaths).filter((path) => !engineMasked.test(path));
  const readonly = stringsAt(host.ReadonlyPaths).filter((path) => !engineReadonly.test(path));
  if (masked.length > 0) say(`masked paths of its own cannot be said: ${masked.join(", ")}`);
  if (readonly.length > 0) say(`read-only paths of its own cannot be said: ${readonly.join(", ")}`);
  for (const [network, endpoint] of Object.entries(settings.endpoints)) {
    const name = stringAt(endpoint.InterfaceName);
    if (name !== "") say(`the name ${name} of its interface in the network ${network} is left to the engine`);
  }
  if (!isBlank(config.ConmonPidFile)) say("a compose file has no word for the PID file of conmon; the script has");
  if (config.NetworkDisabled === true) say("that its network is disabled cannot be said; network none comes near");
  if (!isBlank(config.Shell) && isOwn(settings, "Shell")) say("a shell of its own for health checks cannot be said");
  if (Object.values(objectAt(host.PortBindings)).some((bindings) => listAt(bindings).length === 0)) {
    say("a port that is bound to nothing cannot be said");
  }
  return notes;
}

/** A shell of the image itself comes with the image. */
function isOwn({ defaults, config }: OwnSettings, key: string): boolean {
  return JSON.stringify(defaults[key]) !== JSON.stringify(config[key]);
}

/** An empty list is how a container without masked paths looks: `systempaths=unconfined`. A privileged one has none anyway. */
export function isUnmasked(host: RawObject): boolean {
  return Array.isArray(host.MaskedPaths) && host.MaskedPaths.length === 0 && host.Privileged !== true;
}

export function isUnset(value: unknown): boolean {
  return isBlank(value) || value === "" || value === 0 || value === false;
}

/** A network that has to be there: what is known of it from its endpoint. */
export interface NeededNetwork {
  name: string;
  /** Of the network, where an address was fixed: without them the engine refuses it. */
  subnet: string | null;
  gateway: string | null;
  labels: Readonly<Record<string, string>>;
}

/** Of `network create`. */
export function neededOptions({ subnet, gateway }: Pick<NeededNetwork, "subnet" | "gateway">): readonly string[] {
  if (subnet === null) return [];
  return [`--subnet=${subnet}`, ...(gateway === null ? [] : [`--gateway=${gateway}`])];
}

const provided = new Set(["bridge", "host", "none", "default", "podman"]);

export function neededNetworks(all: readonly OwnSettings[]): readonly NeededNetwork[] {
  const found = new Map<string, NeededNetwork>();
  for (const settings of all) {
    const project = settings.labels.find(([key]) => key === "com.docker.compose.project")?.[1];
    const attached = [...(settings.main === null ? [] : [settings.main]), ...settings.further];
    for (const { network } of attached.filter((each) => !provided.has(each.network))) {
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

/** The named volumes that it uses, each with its driver. */
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
