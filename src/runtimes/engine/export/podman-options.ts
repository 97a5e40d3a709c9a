import { isInPod } from "../carry.ts";
import { listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { Concealer, Word } from "./conceal.ts";
import { attachmentsOf, type OwnSettings, sharing } from "./member.ts";

// Options that only the `podman` command has, for what only Podman shows.

const texts = [
  ["Umask", "umask"],
  ["Timezone", "tz"],
  ["SdNotifyMode", "sdnotify"],
  ["HealthcheckOnFailureAction", "health-on-failure"],
  ["HealthcheckInterval", "health-interval"],
  ["ConmonPidFile", "conmon-pidfile"],
] as const;

/** Members of a container, its host and an endpoint that only these options restore. */
export const podmanMembers: ReadonlySet<string> = new Set([
  ...texts.map(([key]) => key),
  ...["Timeout", "ChrootDirs", "SystemdMode", "Passwd", "Cgroups", "CgroupConf", "Pod", "IDMappings"],
  ...["ChosenMacAddress", "InterfaceName"],
]);

export function podmanOptions(settings: OwnSettings): readonly Word[] {
  const { config, host } = settings;
  const mappings = objectAt(host.IDMappings);
  return [
    ...texts
      .filter(([key]) => stringAt(config[key]) !== "")
      .map(([key, option]) => [`--${option}=${stringAt(config[key])}`]),
    ...(typeof config.Timeout === "number" && config.Timeout > 0 ? [[`--timeout=${config.Timeout}`]] : []),
    ...stringsAt(config.ChrootDirs).map((path) => [`--chrootdirs=${path}`]),
    ...(config.SystemdMode === true ? [["--systemd=always"]] : []),
    ...(config.Passwd === false ? [["--passwd=false"]] : []),
    ...(stringAt(host.Cgroups) === "" ? [] : [[`--cgroups=${stringAt(host.Cgroups)}`]]),
    ...Object.entries(stringMapAt(host.CgroupConf)).map(([key, value]) => [`--cgroup-conf=${key}=${value}`]),
    ...stringsAt(mappings.UidMap).map((range) => [`--uidmap=${range}`]),
    ...stringsAt(mappings.GidMap).map((range) => [`--gidmap=${range}`]),
    // Writable places are among its mounts.
    ...(host.ReadonlyRootfs === true ? [["--read-only-tmpfs=false"]] : []),
    ...(isInPod(host) ? [[`--pod=${stringAt(host.Pod)}`]] : []),
  ];
}

/** Without what its pod, namespaces or user map decide, because the command line refuses it. */
export function podmanHost(host: RawObject): RawObject {
  const ipc = stringAt(host.IpcMode);
  const isOwnIpc = ipc === "" || ipc === "private" || ipc === "shareable";
  const decided = [
    ...(isInPod(host) ? sharing.filter((key) => stringAt(host[key]).startsWith("container:")) : []),
    ...(isOwnIpc ? [] : ["ShmSize"]),
    ...(host.IDMappings === undefined || host.IDMappings === null ? [] : ["UsernsMode"]),
  ];
  return Object.fromEntries(Object.entries(host).filter(([key]) => !decided.includes(key)));
}

/** Each network with its choices: Podman takes several at create. */
export function podmanNetworks(settings: OwnSettings): readonly Word[] {
  const attached = attachmentsOf(settings);
  const { host } = settings;
  const mode = stringAt(host.NetworkMode);
  if (attached.length === 0) return mode === "" ? [] : [[`--network=${mode}`]];
  return attached.map(({ network, endpoint }) => {
    const ipam = objectAt(endpoint.IPAMConfig);
    const options = [
      ...stringsAt(endpoint.Aliases).map((alias) => `alias=${alias}`),
      ...[ipam.IPv4Address, ipam.IPv6Address]
        .map(stringAt)
        .filter((ip) => ip !== "")
        .map((ip) => `ip=${ip}`),
      ...named("mac", endpoint.ChosenMacAddress),
      ...named("interface_name", endpoint.InterfaceName),
    ];
    return [`--network=${network}${options.length === 0 ? "" : `:${options.join(",")}`}`];
  });
}

function named(key: string, value: unknown): readonly string[] {
  return stringAt(value) === "" ? [] : [`${key}=${stringAt(value)}`];
}

/** Every mount with its options. */
export function podmanMounts(host: RawObject): readonly Word[] {
  return listAt(host.Mounts)
    .map(objectAt)
    .map((mount) => {
      const [source, target] = [stringAt(mount.Source), stringAt(mount.Target)];
      const options = stringsAt(mount.Options);
      if (mount.Type !== "image") return [`--volume=${source}:${target}:${options.join(",")}`];
      return [`--mount=type=image,source=${source},target=${target},rw=${options.includes("rw")}`];
    });
}

/** Podman's own notation with an explicit keyword, so that a text beginning with another keyword stays literal. */
export function podmanHealth(settings: OwnSettings, conceal: Concealer): Word | null {
  const [kind = "", ...command] = stringsAt(settings.healthcheck?.Test);
  const words = conceal.words(settings, "health_check", kind === "CMD-SHELL" ? [command.join(" ")] : command);
  if (kind === "CMD-SHELL") return ["--health-cmd=CMD-SHELL ", ...words.flat()];
  if (kind !== "CMD") return null;
  if (words.length === 1) return ["--health-cmd=CMD ", ...words.flat()];
  return ["--health-cmd=", ...jsonWords(words)];
}

/** A JSON array. A value from the environment is assumed to have no quotes or backslashes. */
export function jsonWords(words: readonly Word[]): Word {
  const inside = (part: Word[number]) => (typeof part === "string" ? JSON.stringify(part).slice(1, -1) : part);
  return ["[", ...words.flatMap((word, index): Word => [index === 0 ? '"' : ',"', ...word.map(inside), '"']), "]"];
}
