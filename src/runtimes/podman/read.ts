import { type Message, say } from "../../messages/message.ts";
import {
  isBlank,
  isObject,
  isSame,
  listAt,
  objectAt,
  type RawObject,
  stringAt,
  stringMapAt,
  stringsAt,
} from "../engine/raw.ts";
import { type Refusal, untoldSettings } from "../runtime.ts";
import { type CommandLine, readCommandLine, splitOnce, untellableOptions, valuesOf } from "./command-line.ts";
import { unlimitedSwapBytes } from "./limits.ts";
import { readNetworks } from "./read-networks.ts";
import { signalName } from "./signals.ts";

/**
 * Podman's own inspect of a container in the words of Docker's API, as far as these have any, so that everything that carries and
 * compares settings needs one language only. What Podman adds by itself (variables, the image's command, defaults of a health
 * check) is taken out again by looking at the container's image; what only Podman has keeps Podman's name.
 *
 * `image` is the inspect of that image in Docker's words; null when it is gone.
 */
export function readContainer(answer: unknown, image: RawObject | null): RawObject {
  const raw = objectAt(answer);
  const config = objectAt(raw.Config);
  const host = objectAt(raw.HostConfig);
  const line = readCommandLine(config.CreateCommand);
  const defaults = objectAt(image?.Config);
  return {
    ...raw,
    Name: `/${stringAt(raw.Name).replace(/^\//, "")}`,
    Image: imageId(raw.Image),
    State: readState(objectAt(raw.State)),
    Config: readConfig(raw, config, { defaults, annotations: objectAt(image?.Annotations) }, line),
    HostConfig: readHost(raw, config, host, line),
    NetworkSettings: readNetworks(raw, line),
    Mounts: mountsOf(raw).filter((mount) => stringAt(mount.Type) !== "image"),
    Refusals: refusals(raw, line),
    Warnings: warnings(raw, line),
  };
}

function imageId(id: unknown): string {
  const text = stringAt(id);
  return /^[0-9a-f]{64}$/.test(text) ? `sha256:${text}` : text;
}

/** Docker's states; Podman has some in between. One that is being stopped still has its process. */
const states: Readonly<Record<string, string>> = {
  configured: "created",
  initialized: "created",
  stopped: "exited",
  stopping: "running",
  "bad state": "dead",
};

function readState(state: RawObject): RawObject {
  const status = stringAt(state.Status);
  const health = objectAt(state.Health ?? state.Healthcheck);
  return {
    ...state,
    Status: states[status] ?? status,
    Running: state.Running === true || status === "stopping",
    Releasing: status === "stopped",
    Health: stringAt(health.Status) === "" ? null : health,
  };
}

/** Only Podman has these; they are carried under its names. */
const ownConfig = ["Umask", "Timeout", "Timezone", "ChrootDirs", "SystemdMode", "Passwd"] as const;

function readConfig(
  raw: RawObject,
  config: RawObject,
  { defaults: image, annotations }: { defaults: RawObject; annotations: RawObject },
  line: CommandLine | null,
): RawObject {
  const hostname = stringAt(config.Hostname);
  const own = Object.fromEntries(ownConfig.map((key) => [key, config[key]]).filter(([, value]) => !isBlank(value)));
  const stopSignal = signalName(config.StopSignal);
  const onFailure = stringAt(config.HealthcheckOnFailureAction);
  const check = objectAt(config.Healthcheck);
  const notify = stringAt(config.sdNotifyMode ?? config.SdNotifyMode);
  return {
    Hostname: hostname,
    Domainname: stringAt(config.Domainname),
    User: stringAt(config.User),
    Tty: config.Tty === true,
    OpenStdin: config.OpenStdin === true,
    Env: ownVariables(stringsAt(config.Env), hostname, stringsAt(image.Env), line),
    ...readCommand(raw, config, image),
    Image: stringAt(raw.ImageName) || stringAt(config.Image),
    WorkingDir: withoutDefault(stringAt(config.WorkingDir), "/", image.WorkingDir),
    Labels: objectAt(config.Labels),
    Annotations: ownAnnotations(config.Annotations, annotations),
    ExposedPorts: Object.fromEntries(Object.keys(portsOf(raw)).map((port) => [port, {}])),
    StopSignal: withoutDefault(stopSignal, "SIGTERM", image.StopSignal),
    StopTimeout: config.StopTimeout,
    Healthcheck: readHealthcheck(check, objectAt(image.Healthcheck)),
    ...(isNeverDue(check) ? { HealthcheckInterval: "disable" } : {}),
    ...(onFailure === "" || onFailure === "none" ? {} : { HealthcheckOnFailureAction: onFailure }),
    ...(notify === "" ? {} : { SdNotifyMode: notify }),
    ...own,
    ...(isOwnFile(raw, raw.ConmonPidFile) ? { ConmonPidFile: raw.ConmonPidFile } : {}),
    ...(line === null ? {} : { CreateCommand: line.words }),
  };
}

/** Podman fills these in where nobody said anything; Docker leaves them blank. */
function withoutDefault(value: string, filledIn: string, imageDefault: unknown): string {
  return value === filledIn && stringAt(imageDefault) === "" ? "" : value;
}

/** Given to every container that does not set them, and made anew by every create. */
const givenVariables = new Map([
  ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  ["TERM", "xterm"],
  ["container", "podman"],
]);

/** `HOME` is looked up at each start; of a container whose command line is unknown it may have been chosen. */
function ownVariables(
  env: readonly string[],
  hostname: string,
  image: readonly string[],
  line: CommandLine | null,
): readonly string[] {
  const isHomeMade = line !== null && !choosesHome(line);
  const ofImage = new Set(image.map((text) => splitOnce(text, "=")[0]));
  return env.filter((text) => {
    const [name, value] = splitOnce(text, "=");
    if (name === "HOSTNAME" && value === hostname) return ofImage.has(name);
    if (name === "HOME" && isHomeMade) return ofImage.has(name);
    return ofImage.has(name) || givenVariables.get(name) !== value;
  });
}

function choosesHome(line: CommandLine): boolean {
  const isChosen = valuesOf(line, "env").some((text) => text === "HOME" || text.startsWith("HOME="));
  return isChosen || valuesOf(line, "env-file", "env-host", "env-merge").length > 0;
}

/**
 * Podman shows an entrypoint as one text and a command only where it was given, but the whole of what is run as a list: with the
 * image's two lists, the two can be told apart again.
 */
function readCommand(raw: RawObject, config: RawObject, image: RawObject): { Entrypoint: unknown; Cmd: unknown } {
  const all = [stringAt(raw.Path), ...stringsAt(raw.Args)].filter((word, index) => index > 0 || word !== "");
  const whole = all[1] === "--" && isInit(raw) ? all.slice(2) : all;
  const command = stringsAt(config.Cmd);
  const [imageEntrypoint, imageCommand] = [stringsAt(image.Entrypoint), stringsAt(image.Cmd)];
  const entrypoint = Array.isArray(config.Entrypoint) ? config.Entrypoint.join(" ") : stringAt(config.Entrypoint);
  if (command.length > 0 && isSame(whole.slice(-command.length), command)) {
    const before = whole.slice(0, whole.length - command.length);
    return { Entrypoint: before.length === 0 ? null : before, Cmd: command };
  }
  if (entrypoint === "" && isSame(whole, [...imageEntrypoint, ...imageCommand])) {
    return { Entrypoint: image.Entrypoint ?? null, Cmd: image.Cmd ?? null };
  }
  return { Entrypoint: whole, Cmd: null };
}

function isInit(raw: RawObject): boolean {
  return objectAt(raw.HostConfig).Init === true;
}

/** Podman fills in an interval wherever none was given, so that none at all is `--health-interval=disable`. */
function isNeverDue(check: RawObject): boolean {
  const [kind = "NONE"] = stringsAt(check.Test);
  return kind !== "NONE" && numberAt(check.Interval) === 0;
}

const filledInHealthcheck = { Interval: 30_000_000_000, Timeout: 30_000_000_000 } as const;

function readHealthcheck(own: RawObject, image: RawObject): RawObject | null {
  if (isBlank(own)) return null;
  const kept = Object.entries(own).filter(([key, value]) => {
    const filledIn = key === "Interval" || key === "Timeout" ? filledInHealthcheck[key] : 0;
    return value !== 0 && !(value === filledIn && (image[key] ?? 0) === 0);
  });
  return Object.fromEntries(kept);
}

/** At a path that a person chose: Podman's own ones have the id in them. */
function isOwnFile(raw: RawObject, path: unknown): boolean {
  return stringAt(path) !== "" && !stringAt(path).includes(stringAt(raw.Id));
}

const podmansAnnotations =
  /^(io\.podman\.|io\.container\.manager$|io\.kubernetes\.cri-o\.|org\.opencontainers\.image\.stopSignal$)/;

/** An image gives its annotations to its containers. */
function ownAnnotations(annotations: unknown, ofImage: RawObject): RawObject {
  const own = Object.entries(objectAt(annotations)).filter(([key, value]) => {
    return !podmansAnnotations.test(key) && ofImage[key] !== value;
  });
  return Object.fromEntries(own);
}

/** Published ports have a list, those that are only exposed null. */
function portsOf(raw: RawObject): RawObject {
  return { ...objectAt(objectAt(raw.NetworkSettings).Ports), ...objectAt(objectAt(raw.HostConfig).PortBindings) };
}

/** Podman's words for nothing special, and members that say again what another one says. */
const droppedHost = [
  "Binds",
  "Cgroup",
  "CgroupManager",
  "CgroupMode",
  "Cgroups",
  "CgroupConf",
  "NanoCpus",
  "ConsoleSize",
];

function readHost(raw: RawObject, config: RawObject, host: RawObject, line: CommandLine | null): RawObject {
  const kept = Object.fromEntries(Object.entries(host).filter(([key]) => !droppedHost.includes(key)));
  const cgroups = stringAt(host.Cgroups);
  const secrets = listAt(config.Secrets);
  const pod = stringAt(raw.Pod);
  return {
    ...kept,
    NetworkMode: networkMode(raw),
    PortBindings: Object.fromEntries(Object.entries(objectAt(host.PortBindings)).filter(([, list]) => !isBlank(list))),
    Mounts: mountsOf(raw).map((mount) => mountObject(mount)),
    ...(isBlank(host.Tmpfs) ? {} : { Tmpfs: tmpfs(stringMapAt(host.Tmpfs)) }),
    CapAdd: [...stringsAt(host.CapAdd)].sort(),
    CapDrop: [...stringsAt(host.CapDrop)].sort(),
    CgroupnsMode: stringAt(host.CgroupMode),
    ...(cgroups === "" || cgroups === "default" ? {} : { Cgroups: cgroups }),
    ...(isBlank(host.CgroupConf) ? {} : { CgroupConf: host.CgroupConf }),
    Devices: listAt(host.Devices).map((device) => ({ ...objectAt(device), CgroupPermissions: "rwm" })),
    IpcMode: ipcMode(host, line),
    LogConfig: logConfig(raw, objectAt(host.LogConfig)),
    Runtime: stringAt(raw.OCIRuntime),
    Ulimits: listAt(host.Ulimits).map((limit) => ({
      ...objectAt(limit),
      Name: stringAt(objectAt(limit).Name)
        .replace(/^RLIMIT_/, "")
        .toLowerCase(),
    })),
    ...(hasUnlimitedSwap(host) ? { MemorySwap: -1 } : {}),
    ...(line === null ? {} : { Sysctls: sysctls(line) }),
    ...(pod === "" ? {} : { Pod: pod }),
    ...(secrets.length === 0 ? {} : { Secrets: secrets }),
    ...dependencies(raw),
  };
}

/** The command line leaves the number out, the API would then make it twice the memory: there it is a very large one. */
function hasUnlimitedSwap(host: RawObject): boolean {
  const swap = numberAt(host.MemorySwap);
  return (numberAt(host.Memory) > 0 && swap === 0) || swap >= unlimitedSwapBytes / 2;
}

function numberAt(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function networkMode(raw: RawObject): string {
  const mode = stringAt(objectAt(raw.HostConfig).NetworkMode);
  const networks = Object.keys(objectAt(objectAt(raw.NetworkSettings).Networks)).sort();
  return mode === "bridge" ? (networks[0] ?? mode) : mode;
}

/** Inspect of 4.x shows the host's and a private one as `shareable`, too. */
function ipcMode(host: RawObject, line: CommandLine | null): string {
  const asked = line === null ? undefined : valuesOf(line, "ipc").at(-1);
  const shown = stringAt(host.IpcMode);
  return shown === "shareable" && (asked === "host" || asked === "private" || asked === "none") ? asked : shown;
}

function sysctls(line: CommandLine): RawObject {
  return Object.fromEntries(valuesOf(line, "sysctl").map((text) => splitOnce(text, "=")));
}

function logConfig(raw: RawObject, log: RawObject): RawObject {
  const [path, tag, size] = [stringAt(log.Path), stringAt(log.Tag), stringAt(log.Size)];
  const isOwnPath = path !== "" && !path.includes(stringAt(raw.Id));
  const config = {
    ...(isOwnPath ? { path } : {}),
    ...(tag === "" ? {} : { tag }),
    ...(size === "" || size === "0B" ? {} : { "max-size": size }),
  };
  return { Type: stringAt(log.Type), Config: config };
}

/** Containers that have to run before this one, beside those whose namespaces it shares: of a pod that is its own one, too. */
function dependencies(raw: RawObject): RawObject {
  const shared = JSON.stringify(raw.HostConfig);
  const asked = stringsAt(raw.Dependencies).filter((id) => !shared.includes(id));
  return asked.length === 0 ? {} : { Dependencies: [...asked].sort() };
}

/** Podman shows that the files of the image are copied there, and would copy them wherever it is not told otherwise. */
function tmpfs(mounts: Readonly<Record<string, string>>): RawObject {
  const entries = Object.entries(mounts).map(([path, text]) => {
    const options = text.split(",").filter((option) => option !== "");
    return [path, options.includes("tmpcopyup") ? text : [...options, "notmpcopyup"].join(",")];
  });
  return Object.fromEntries(entries);
}

/** Without the mounts by which Podman lays a running container's images on each other. */
function mountsOf(raw: RawObject): readonly RawObject[] {
  const all = listAt(raw.Mounts).filter(isObject);
  const images = new Set(all.filter((mount) => mount.Type === "image").map((mount) => mount.Destination));
  const mounts = all.filter((mount) => mount.Type === "image" || !images.has(mount.Destination));
  return mounts.sort((left, right) => (stringAt(left.Destination) < stringAt(right.Destination) ? -1 : 1));
}

/** With every option as it was given to the mount, which the two members of Docker's object cannot hold. */
function mountObject(mount: RawObject): RawObject {
  const type = stringAt(mount.Type);
  const options = [
    ...stringsAt(mount.Options),
    ...[stringAt(mount.Propagation), stringAt(mount.Mode)].filter((option) => option !== ""),
    mount.RW === true ? "rw" : "ro",
  ];
  return {
    Type: type,
    Source: type === "volume" ? stringAt(mount.Name) : stringAt(mount.Source),
    Target: stringAt(mount.Destination),
    Options: type === "image" ? [mount.RW === true ? "rw" : "ro"] : options.sort(),
  };
}

function refusals(raw: RawObject, line: CommandLine | null): readonly Refusal[] {
  const found: Refusal[] = [];
  const refuse = (code: string, message: Message) => found.push({ code, message });
  const config = objectAt(raw.Config);
  const secrets = secretNames(config, line);
  if (stringAt(raw.Rootfs) !== "") {
    refuse("no_image", say("podman.from_folder", { path: stringAt(raw.Rootfs) }));
  }
  if (secrets.length > 0) {
    refuse("podman_secrets", say("podman.secrets", { names: secrets }));
  }
  const untellable = line === null ? [] : untellableOptions(line);
  if (untellable.length > 0) {
    refuse("untold_settings", say("podman.untold_options", { options: untellable }));
  }
  const networkMode = stringAt(objectAt(raw.HostConfig).NetworkMode);
  if (networkMode.startsWith("ns:")) {
    refuse("foreign_namespace", say("podman.foreign_namespace", { path: networkMode.slice(3) }));
  }
  if (isOwnFile(raw, raw.PidFile)) {
    refuse("pid_file", say("podman.pid_file", { path: stringAt(raw.PidFile) }));
  }
  if (raw.IsService === true) {
    refuse("pod_service", say("podman.service_container"));
  }
  const isKube = stringMapAt(config.Annotations)["io.podman.annotations.kube"] !== undefined;
  if (isKube) refuse("kube_play", say("podman.kube_play"));
  return found;
}

/** Inspect shows those that are files; those that are variables look like any other one and stand on the command line alone. */
function secretNames(config: RawObject, line: CommandLine | null): readonly string[] {
  const shown = listAt(config.Secrets).map((secret) => stringAt(objectAt(secret).Name));
  const written = line === null ? [] : valuesOf(line, "secret").map((text) => splitOnce(text, ",")[0]);
  return [...new Set([...shown, ...written])];
}

function warnings(raw: RawObject, line: CommandLine | null): readonly Refusal[] {
  const idFile = stringAt(objectAt(raw.HostConfig).ContainerIDFile);
  const stale = {
    code: "id_file",
    message: say("podman.id_file", { path: idFile }),
  };
  const known = idFile === "" ? [] : [stale];
  if (line !== null || stringAt(raw.Rootfs) !== "") return known;
  return [
    ...known,
    {
      code: untoldSettings,
      message: say("podman.created_by_api"),
    },
  ];
}
