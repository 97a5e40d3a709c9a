import { isInPod } from "../carry.ts";
import { isUnset, listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { Concealer, Word } from "./conceal.ts";
import type { OwnSettings } from "./member.ts";
import { csv, mountOptions } from "./mounts.ts";
import { networkOptions, publishedPorts } from "./networks.ts";
import { isUnmasked } from "./notes.ts";
import { jsonWords, podmanHealth, podmanHost, podmanNetworks, podmanOptions } from "./podman-options.ts";

type Named = readonly (readonly [key: string, option: string])[];

const texts: Named = [
  ["CgroupParent", "cgroup-parent"],
  ["CgroupnsMode", "cgroupns"],
  ["CpusetCpus", "cpuset-cpus"],
  ["CpusetMems", "cpuset-mems"],
  ["IpcMode", "ipc"],
  ["Isolation", "isolation"],
  ["PidMode", "pid"],
  ["UTSMode", "uts"],
  ["UsernsMode", "userns"],
  ["VolumeDriver", "volume-driver"],
];
const numbers: Named = [
  ["BlkioWeight", "blkio-weight"],
  ["CpuCount", "cpu-count"],
  ["CpuPercent", "cpu-percent"],
  ["CpuPeriod", "cpu-period"],
  ["CpuQuota", "cpu-quota"],
  ["CpuRealtimePeriod", "cpu-rt-period"],
  ["CpuRealtimeRuntime", "cpu-rt-runtime"],
  ["CpuShares", "cpu-shares"],
  ["IOMaximumBandwidth", "io-maxbandwidth"],
  ["IOMaximumIOps", "io-maxiops"],
  ["KernelMemory", "kernel-memory"],
  ["Memory", "memory"],
  ["MemoryReservation", "memory-reservation"],
  ["MemorySwap", "memory-swap"],
  ["OomScoreAdj", "oom-score-adj"],
  ["PidsLimit", "pids-limit"],
  ["ShmSize", "shm-size"],
];
const switches: Named = [
  ["AutoRemove", "rm"],
  ["OomKillDisable", "oom-kill-disable"],
  ["Privileged", "privileged"],
  ["PublishAllPorts", "publish-all"],
  ["ReadonlyRootfs", "read-only"],
];
const lists: Named = [
  ["CapAdd", "cap-add"],
  ["CapDrop", "cap-drop"],
  ["Dependencies", "requires"],
  ["DeviceCgroupRules", "device-cgroup-rule"],
  ["Dns", "dns"],
  ["DnsOptions", "dns-option"],
  ["DnsSearch", "dns-search"],
  ["ExtraHosts", "add-host"],
  ["GroupAdd", "group-add"],
  ["Links", "link"],
  ["VolumesFrom", "volumes-from"],
];
const maps: Named = [
  ["Annotations", "annotation"],
  ["StorageOpt", "storage-opt"],
  ["Sysctls", "sysctl"],
];
const rates: Named = [
  ["BlkioDeviceReadBps", "device-read-bps"],
  ["BlkioDeviceReadIOps", "device-read-iops"],
  ["BlkioDeviceWriteBps", "device-write-bps"],
  ["BlkioDeviceWriteIOps", "device-write-iops"],
];

/** Every setting as an option of `create`, without the image, the command and option files. */
export function createOptions(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const isPodman = settings.engine === "podman";
  const host = isPodman ? podmanHost(settings.host) : settings.host;
  return [
    ...configOptions(settings, conceal),
    ...(isPodman ? podmanOptions(settings) : []),
    ...hostOptions(settings, host, conceal),
    ...deviceOptions(host),
    ...(isPodman && isInPod(host) ? [] : publishedPorts(host).map((port): Word => [`--publish=${port}`])),
    ...mountOptions(settings, conceal),
    ...(isPodman ? podmanNetworks({ ...settings, host }) : networkOptions(settings)),
  ];
}

function configOptions(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const { config, hostname, domainname, user, working_dir, stop_signal } = settings;
  const options: Word[] = [];
  const text = (option: string, value: string) => {
    if (value !== "") options.push([`--${option}=${value}`]);
  };
  text("hostname", hostname);
  text("domainname", domainname);
  text("user", user);
  text("workdir", working_dir);
  text("stop-signal", stop_signal);
  for (const [key, value] of Object.entries(stringMapAt(config.Annotations))) {
    options.push([`--annotation=${key}=`, ...conceal.named(settings, "option", key, value)]);
  }
  if (typeof config.StopTimeout === "number") text("stop-timeout", String(config.StopTimeout));
  if (config.Tty === true) options.push(["--tty"]);
  if (config.OpenStdin === true) options.push(["--interactive"]);
  for (const [key, value] of settings.env) {
    options.push([`--env=${key}=`, ...conceal.named(settings, "env", key, value)]);
  }
  for (const [key, value] of settings.labels.filter(([name]) => isSayableLabel(name))) {
    options.push([`--label=${key}=`, ...conceal.named(settings, "label", key, value)]);
  }
  for (const port of settings.exposed) {
    if (!(port in objectAt(settings.host.PortBindings))) options.push([`--expose=${port}`]);
  }
  if (settings.entrypoint !== null) options.push(entrypointOption(settings, settings.entrypoint, conceal));
  return [...options, ...healthOptions(settings, conceal)];
}

/** Docker takes one word and puts the others before the command (`commandWords`); Podman takes a list. */
function entrypointOption(settings: OwnSettings, entrypoint: readonly string[], conceal: Concealer): Word {
  if (!isListed(settings)) return [`--entrypoint=${entrypoint[0] ?? ""}`];
  return ["--entrypoint=", ...jsonWords(conceal.words(settings, "entrypoint", entrypoint))];
}

function isListed({ engine, entrypoint }: OwnSettings): boolean {
  return engine === "podman" && entrypoint !== null && entrypoint.length > 0;
}

/** The words after the image. */
export function commandWords(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const rest = isListed(settings) ? [] : (settings.entrypoint ?? []).slice(1);
  return [
    ...conceal.words(settings, "entrypoint", rest),
    ...conceal.words(settings, "command", settings.command ?? []),
  ];
}

/** The command line allows no white space in a label's name. */
export function isSayableLabel(name: string): boolean {
  return name !== "" && !/\s/.test(name) && !name.includes("=");
}

const durations: Named = [
  ["Interval", "health-interval"],
  ["Timeout", "health-timeout"],
  ["StartPeriod", "health-start-period"],
  ["StartInterval", "health-start-interval"],
];

function healthOptions(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const check = settings.healthcheck ?? {};
  const [kind = "", ...command] = stringsAt(check.Test);
  if (kind === "NONE") return [["--no-healthcheck"]];
  const options: Word[] = [];
  const ofPodman = settings.engine === "podman" ? podmanHealth(settings, conceal) : null;
  if (ofPodman !== null) options.push(ofPodman);
  else if (kind === "CMD-SHELL") {
    const [word = []] = conceal.words(settings, "health_check", [command.join(" ")]);
    options.push(["--health-cmd=", ...word]);
  } else if (kind === "CMD") {
    const words = conceal.words(settings, "health_check", command);
    options.push([
      "--health-cmd=",
      ...words.flatMap((word, index): Word => [index === 0 ? "" : " ", ...innerQuoted(word)]),
    ]);
  }
  for (const [key, option] of durations) {
    const value = check[key];
    if (typeof value === "number" && value > 0) options.push([`--${option}=${value}ns`]);
  }
  if (typeof check.Retries === "number" && check.Retries > 0) options.push([`--health-retries=${check.Retries}`]);
  return options;
}

/** A word within text for the container's own shell. */
function innerQuoted(word: Word): Word {
  return ["'", ...word.map((part) => (typeof part === "string" ? part.replaceAll("'", "'\\''") : part)), "'"];
}

function hostOptions(settings: OwnSettings, host: RawObject, conceal: Concealer): readonly Word[] {
  const options: Word[] = [];
  for (const [key, option] of texts) {
    const value = stringAt(host[key]);
    if (value !== "") options.push([`--${option}=${value}`]);
  }
  for (const [key, option] of numbers) if (!isUnset(host[key])) options.push([`--${option}=${String(host[key])}`]);
  for (const [key, option] of switches) if (host[key] === true) options.push([`--${option}`]);
  for (const [key, option] of lists) for (const value of stringsAt(host[key])) options.push([`--${option}=${value}`]);
  for (const [key, option] of maps) {
    for (const [name, value] of Object.entries(stringMapAt(host[key]))) {
      options.push([`--${option}=${name}=`, ...conceal.named(settings, "option", name, value)]);
    }
  }
  for (const [key, option] of rates) {
    for (const { Path, Rate } of listAt(host[key]).map(objectAt)) {
      options.push([`--${option}=${stringAt(Path)}:${String(Rate)}`]);
    }
  }
  return [...options, ...limitOptions(host), ...logOptions(settings, conceal)];
}

function limitOptions(host: RawObject): readonly Word[] {
  const { MemorySwappiness: swappiness, NanoCpus: cpus, Init: init } = host;
  const policy = objectAt(host.RestartPolicy);
  const [restart, retries] = [stringAt(policy.Name), policy.MaximumRetryCount];
  return [
    ...(typeof swappiness === "number" && swappiness >= 0 ? [[`--memory-swappiness=${swappiness}`]] : []),
    ...(typeof cpus === "number" && cpus > 0 ? [[`--cpus=${decimalCpus(cpus)}`]] : []),
    ...(typeof init === "boolean" ? [[`--init=${init}`]] : []),
    ...(restart === "" || restart === "no"
      ? []
      : [[`--restart=${restart}${typeof retries === "number" && retries > 0 ? `:${retries}` : ""}`]]),
    ...listAt(host.Ulimits)
      .map(objectAt)
      .map(({ Name, Soft, Hard }) => [`--ulimit=${stringAt(Name)}=${String(Soft)}:${String(Hard)}`]),
    ...listAt(host.BlkioWeightDevice)
      .map(objectAt)
      .map(({ Path, Weight }) => [`--blkio-weight-device=${stringAt(Path)}:${String(Weight)}`]),
    ...securityOptions(host).map((option) => [`--security-opt=${option}`]),
  ];
}

/** Without the engine's own additions, and without the profile written to a file (`seccompProfile`). */
function securityOptions(host: RawObject): readonly string[] {
  const isAdded = host.Privileged === true || host.PidMode === "host" || host.IpcMode === "host";
  const given = stringsAt(host.SecurityOpt).filter((option) => {
    return !isProfile(option) && !(isAdded && /^label[=:]disable$/.test(option));
  });
  return [...given, ...(isUnmasked(host) ? ["systempaths=unconfined"] : [])];
}

function isProfile(option: string): boolean {
  return /^seccomp[=:]\s*\{/.test(option);
}

/** A seccomp profile's text, which the CLI takes as a file. */
export function seccompProfile(host: RawObject): string | null {
  const option = stringsAt(host.SecurityOpt).find(isProfile);
  return option === undefined ? null : option.slice("seccomp=".length);
}

/** In the CLI's form: 1500000000 nano CPUs are 1.5. */
export function decimalCpus(nano: number): string {
  const text = `${Math.floor(nano / 1e9)}.${String(nano % 1e9).padStart(9, "0")}`;
  return text.replace(/\.?0+$/, "");
}

function logOptions(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const { Type: driver, Config: options } = objectAt(settings.host.LogConfig);
  return [
    ...(stringAt(driver) === "" ? [] : [[`--log-driver=${stringAt(driver)}`]]),
    ...Object.entries(stringMapAt(options)).map(
      ([key, value]): Word => [`--log-opt=${key}=`, ...conceal.named(settings, "option", key, value)],
    ),
  ];
}

function deviceOptions(host: RawObject): readonly Word[] {
  const devices = listAt(host.Devices)
    .map(objectAt)
    .map(({ PathOnHost, PathInContainer, CgroupPermissions }) => {
      return [`--device=${[PathOnHost, PathInContainer, CgroupPermissions].map(stringAt).join(":").replace(/:$/, "")}`];
    });
  const requests = listAt(host.DeviceRequests).map(objectAt).flatMap(deviceRequest);
  return [...devices, ...requests];
}

function deviceRequest(request: RawObject): readonly Word[] {
  const ids = stringsAt(request.DeviceIDs);
  if (request.Driver === "cdi") return ids.map((id) => [`--device=${id}`]);
  // The CLI adds `gpu` automatically.
  const abilities = stringsAt(listAt(request.Capabilities)[0]).filter((each) => each !== "gpu");
  const options = Object.entries(stringMapAt(request.Options)).map(([key, value]) => `${key}=${value}`);
  const fields = [
    ...(stringAt(request.Driver) === "" ? [] : [["driver", [stringAt(request.Driver)]] as const]),
    ...(ids.length > 0
      ? [["device", [ids.join(",")]] as const]
      : [["count", [request.Count === -1 ? "all" : String(request.Count ?? 0)]] as const]),
    ...(abilities.length === 0 ? [] : [["capabilities", [abilities.join(",")]] as const]),
    ...(options.length === 0 ? [] : [["options", [options.join(",")]] as const]),
  ];
  return [["--gpus=", ...csv(fields)]];
}
