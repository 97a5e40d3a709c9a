import { type Random, randomFrom } from "./random.ts";

export type Json = Record<string, unknown>;

/** What the bodies may refer to; the suite makes all of it on the engine before. */
export interface ConfigWorld {
  /** Minor version of the API: 41 for 1.41. Members that came later are only made for later ones. */
  api: number;
  /** A folder on the host with `one/sub`, `two` and the file `file.txt`. */
  folder: string;
  /** Images to begin with and images to update to; their defaults differ. */
  old_images: readonly string[];
  new_images: readonly string[];
  /** A running container with volumes, a shareable IPC namespace and a network of its own. */
  anchor: string;
  /** User-defined networks: with an IPv4 subnet `10.98.1.0/24`, without a subnet, and with IPv6 `fd00:98::/64`. */
  networks: { front: string; back: string; six: string };
  /** The networks' ids by name. */
  network_ids: Readonly<Record<string, string>>;
  /** An image to mount (API 1.48). */
  mounted_image: string;
}

export interface ContainerConfig {
  seed: number;
  image: string;
  next_image: string;
  /** The body of the create call. */
  body: Json;
  /** Networks to connect after it, in order. */
  connects: readonly { network: string; endpoint: Json }[];
  /** Whether the suite should try to start it, and then whether to stop it again: one that ran shows less of what was asked. */
  is_to_start: boolean;
  is_to_stop: boolean;
}

/** Draws for one configuration. */
interface Dice {
  random: Random;
  /** True in `percent` of a hundred. */
  chance(percent: number): boolean;
  one<T>(values: readonly T[]): T;
  /** `values` in which each is kept by half, never none. */
  some<T>(values: readonly T[]): T[];
}

function diceFrom(seed: number): Dice {
  const random = randomFrom(seed);
  // Some lists hold `undefined`, for "not set".
  const one = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  return {
    random,
    chance: (percent) => random(100) < percent,
    one,
    some: (values) => {
      const kept = values.filter(() => random(2) === 0);
      return kept.length === 0 ? [one(values)] : kept;
    },
  };
}

/** Namespaces first: most members are only allowed or refused because of them. */
interface Frame {
  network: "default" | "front" | "back" | "six" | "host" | "none" | "anchor";
  network_mode: string | null;
  is_own_network: boolean;
  uts_host: boolean;
  is_to_start: boolean;
}

/**
 * A random container configuration that an engine should accept, over the documented `Config`, `HostConfig` and
 * `NetworkingConfig`. The same seed and world give the same one. Those that are to start keep to members that do not stop a
 * container of busybox from running.
 */
export function containerConfig(seed: number, world: ConfigWorld): ContainerConfig {
  const dice = diceFrom(Math.imul(seed, 0x9e3779b1));
  const isToStart = dice.chance(8);
  const frame = frameOf(dice, world, isToStart);
  const body: Json = {
    Image: dice.one(world.old_images),
    ...configMembers(dice, frame),
    HostConfig: {
      ...hostMembers(dice, frame, world),
      ...resources(dice, frame),
      ...storage(dice, frame, world),
    },
  };
  const { endpoints, connects } = networking(dice, frame, world);
  if (endpoints !== null) body.NetworkingConfig = { EndpointsConfig: endpoints };
  if (world.api < 44 && frame.is_own_network && dice.chance(12)) body.MacAddress = macAddress(dice);
  if (isToStart) body.StopTimeout = 1;
  const image = String(body.Image);
  return {
    seed,
    image,
    next_image: dice.one(world.new_images),
    body,
    connects,
    is_to_start: isToStart,
    is_to_stop: dice.chance(40),
  };
}

function frameOf(dice: Dice, world: ConfigWorld, isToStart: boolean): Frame {
  const kinds = ["default", "default", "front", "front", "back", "six", "host", "none", "anchor"] as const;
  const network = dice.one(kinds);
  const isUserDefined = network === "front" || network === "back" || network === "six";
  const modes = {
    default: dice.one([null, "default", "bridge"]),
    host: "host",
    none: "none",
    anchor: `container:${world.anchor}`,
  };
  const mode = isUserDefined
    ? dice.chance(15)
      ? (world.network_ids[world.networks[network]] ?? "")
      : world.networks[network]
    : modes[network];
  return {
    network,
    network_mode: mode,
    is_own_network: network === "default" || isUserDefined,
    uts_host: network !== "anchor" && dice.chance(6),
    is_to_start: isToStart,
  };
}

const second = 1_000_000_000;
const oddTexts = [
  "",
  "0",
  "a=b=c",
  "två ☃ 名前",
  "line one\nline two",
  "tab\there",
  ' "quoted" $HOME \\ ',
  "x".repeat(300),
];

function configMembers(dice: Dice, frame: Frame): Json {
  const config: Json = {};
  const canBeNamed = frame.network !== "anchor" && !frame.uts_host;
  // One that is a single hex digit is, now and then, also how the id begins.
  if (canBeNamed && dice.chance(25)) config.Hostname = dice.one(["web-1", "db.example.test", "a", "1", "f0"]);
  if (canBeNamed && dice.chance(10)) config.Domainname = "example.test";
  if (dice.chance(15)) config.User = dice.one(["1000", "1000:1000", "0", "0:0", "65534"]);
  for (const key of ["AttachStdin", "AttachStdout", "AttachStderr", "Tty"]) {
    if (dice.chance(15)) config[key] = dice.chance(80);
  }
  if (dice.chance(15)) Object.assign(config, { OpenStdin: true, StdinOnce: dice.chance(50) });
  if (frame.network !== "anchor" && dice.chance(25)) {
    const ports = dice.some(["80/tcp", "53/udp", "9999/sctp", "8443/tcp", "7000/tcp", "5000/tcp"]);
    config.ExposedPorts = Object.fromEntries(ports.map((port) => [port, {}]));
  }
  if (dice.chance(45)) config.Env = environment(dice);
  if (dice.chance(35)) config.Labels = labels(dice);
  if (!frame.is_to_start) Object.assign(config, command(dice));
  if (dice.chance(20)) config.Healthcheck = healthcheck(dice);
  if (dice.chance(15)) {
    const paths = dice.some(["/cache", "/var/lib/own", "/trailing/", "/up/../down", "/data"]);
    config.Volumes = Object.fromEntries(paths.map((path) => [path, {}]));
  }
  if (dice.chance(15)) config.WorkingDir = dice.one(["/var", "/made/anew", "/srv/app", "/var/./tmp/"]);
  if (dice.chance(10)) config.StopSignal = dice.one(["SIGQUIT", "TERM", "9", "SIGRTMIN+3"]);
  if (dice.chance(15)) config.StopTimeout = dice.one([0, 1, 42, -1]);
  if (dice.chance(10)) config.Shell = dice.one([["/bin/ash", "-c"], ["/bin/sh", "-eu", "-c"], []]);
  if (dice.chance(7)) config.OnBuild = dice.one([["RUN true"], ["RUN echo $A", "ENV B=c"]]);
  if (dice.chance(5)) config.ArgsEscaped = true;
  if (dice.chance(4) && !frame.is_to_start && frame.network === "default") config.NetworkDisabled = true;
  return config;
}

/** Some lines equal an image's default, some set its variables otherwise, some names come twice. */
function environment(dice: Dice): string[] {
  const lines = [
    "APP_VERSION=1.0.0",
    "APP_VERSION=mine",
    "MODE=production",
    "MODE=",
    "MODE",
    "OWN=value",
    "OWN=other value",
    "UNSET_ME",
    "EMPTY=",
    "lower_case=1",
    "WITH.DOT-AND-DASH=1",
    "ÜNICODE=ja",
    `ODD=${dice.one(oddTexts)}`,
    `ODD_TOO=${dice.one(oddTexts)}`,
    "DATABASE_URL=postgres://u:p%40ss@db/x?a=b&c=d",
  ];
  const chosen = dice.some(lines);
  return dice.chance(30) ? chosen.reverse() : chosen;
}

function labels(dice: Dice): Json {
  const keys = ["own", "version", "a.b/c-d_e", "traefik.http.routers.x.rule", "with space", "ünicode", "kept", "UPPER"];
  return Object.fromEntries(dice.some(keys).map((key) => [key, dice.one([...oddTexts, "1.0.0", "Host(`x.test`)"])]));
}

function command(dice: Dice): Json {
  const commands = [
    undefined,
    undefined,
    undefined,
    null,
    [],
    ["/bin/sleep", "600"],
    ["serve"],
    ["a", "", "b c"],
    [""],
  ];
  const entrypoints = [
    undefined,
    undefined,
    undefined,
    null,
    [],
    [""],
    ["/entry"],
    ["/bin/busybox", "sh"],
    ["/mine", "-x"],
  ];
  const found: Json = {};
  const cmd = dice.one(commands);
  const entrypoint = dice.one(entrypoints);
  if (cmd !== undefined) found.Cmd = cmd;
  if (entrypoint !== undefined) found.Entrypoint = entrypoint;
  // An engine refuses a container that has neither.
  if (entrypoint?.[0] === "" && (cmd ?? []).length === 0) found.Cmd = ["/bin/sleep", "1"];
  return found;
}

function healthcheck(dice: Dice): Json {
  if (dice.chance(20)) return { Test: ["NONE"] };
  const check: Json = {};
  if (dice.chance(70))
    check.Test = dice.one([
      ["CMD-SHELL", "true"],
      ["CMD", "/bin/true", "x y"],
      ["CMD", "probe"],
    ]);
  if (dice.chance(50)) check.Interval = dice.one([7 * second, 3600 * second, 1_000_000]);
  if (dice.chance(50)) check.Timeout = dice.one([3 * second, 5 * second]);
  if (dice.chance(40)) check.StartPeriod = dice.one([2 * second, 90 * second]);
  if (dice.chance(40)) check.StartInterval = dice.one([second, 4 * second]);
  if (dice.chance(50)) check.Retries = dice.one([1, 3, 9]);
  return check;
}

function macAddress(dice: Dice): string {
  const tail = () => dice.random(256).toString(16).padStart(2, "0");
  return `${dice.one(["02:42", "de:ad", "00:16"])}:${tail()}:${tail()}:${tail()}:${tail()}`;
}

const capabilities = ["NET_ADMIN", "SYS_TIME", "CAP_SYS_PTRACE", "NET_RAW", "ALL"];
const logging = [
  { Type: "json-file", Config: { "max-size": "3m", "max-file": "2", tag: "{{.Name}}/{{.ID}}" } },
  { Type: "none", Config: {} },
  { Type: "local", Config: { "max-size": "1m" } },
  { Type: "", Config: { "max-size": "2m" } },
  { Type: "json-file", Config: {} },
];
const restartPolicies = [
  { Name: "always" },
  { Name: "unless-stopped" },
  { Name: "on-failure", MaximumRetryCount: 3 },
  { Name: "on-failure" },
  { Name: "no" },
  { Name: "" },
];

function hostMembers(dice: Dice, frame: Frame, world: ConfigWorld): Json {
  const host: Json = {};
  if (frame.network_mode !== null) host.NetworkMode = frame.network_mode;
  if (frame.uts_host) host.UTSMode = "host";
  if (frame.network !== "anchor") Object.assign(host, namesAndPorts(dice, frame, world));
  if (dice.chance(35)) host.RestartPolicy = dice.one(restartPolicies);
  if (dice.chance(20)) host.LogConfig = dice.one(logging);
  if (dice.chance(20)) host.CapAdd = dice.some(capabilities);
  if (dice.chance(20)) host.CapDrop = dice.some(["MKNOD", "CAP_CHOWN", ...(frame.is_to_start ? [] : ["ALL"])]);
  if (dice.chance(20)) host.PidMode = dice.one(["host", `container:${world.anchor}`, ""]);
  if (dice.chance(25)) host.IpcMode = dice.one(["shareable", "private", "host", "none", `container:${world.anchor}`]);
  if (dice.chance(15)) host.CgroupnsMode = dice.one(["host", "private"]);
  if (dice.chance(10)) host.UsernsMode = dice.one(["host", ""]);
  if (dice.chance(10)) host.Privileged = true;
  if (dice.chance(12)) host.ReadonlyRootfs = true;
  if (dice.chance(20)) host.SecurityOpt = securityOptions(dice, frame);
  if (dice.chance(12)) host.MaskedPaths = dice.one([[], ["/proc/kcore"], null]);
  if (dice.chance(12)) host.ReadonlyPaths = dice.one([[], ["/proc/bus", "/proc/fs"], null]);
  if (dice.chance(15)) host.Sysctls = sysctls(dice, host, frame);
  if (dice.chance(15)) host.Init = dice.chance(frame.is_to_start ? 0 : 50);
  if (dice.chance(15)) host.GroupAdd = dice.some(["10", "4242", ...(frame.is_to_start ? [] : ["audio"])]);
  if (dice.chance(15)) host.OomScoreAdj = dice.one([-500, 1, 321, 1000]);
  if (dice.chance(15)) host.ShmSize = dice.one([134_217_728, 65_536]);
  if (dice.chance(8)) host.Runtime = "runc";
  if (dice.chance(8)) host.Isolation = dice.one(["default", ""]);
  if (dice.chance(5)) host.ContainerIDFile = "/run/own.cid";
  if (dice.chance(10) && world.api >= 42) host.ConsoleSize = [40, 120];
  if (dice.chance(20) && world.api >= 43)
    host.Annotations = { "io.own/annotation": "yes", [dice.one(["a", "ü"])]: "b" };
  if (dice.chance(12) && world.api >= 56) host.Umask = dice.one([18, 63, 0]);
  return host;
}

function namesAndPorts(dice: Dice, frame: Frame, world: ConfigWorld): Json {
  const host: Json = {};
  if (dice.chance(15)) host.Dns = dice.some(["192.0.2.53", "192.0.2.54", "2001:db8::53"]);
  if (dice.chance(12)) host.DnsOptions = dice.some(["ndots:2", "timeout:1"]);
  if (dice.chance(12)) host.DnsSearch = dice.one([["corp.test", "example.test"], ["."]]);
  if (dice.chance(15)) {
    const entries = ["db.test:192.0.2.7", "gateway:host-gateway", "six:2001:db8::7", "db.test:192.0.2.8"];
    host.ExtraHosts = dice.some(frame.is_to_start ? ["db.test:192.0.2.7"] : entries);
  }
  if (frame.is_own_network && dice.chance(35)) host.PortBindings = portBindings(dice, frame);
  if (frame.is_own_network && dice.chance(12)) host.PublishAllPorts = true;
  // Only the default network has these links in `HostConfig`; the anchor is on it.
  if (frame.network === "default" && dice.chance(15)) {
    host.Links = dice.some([`${world.anchor}:database`, `${world.anchor}:cache`, world.anchor]);
  }
  return host;
}

function portBindings(dice: Dice, frame: Frame): Json {
  const fixed = () => String(20_000 + dice.random(30_000));
  const shapes = [
    () => [{ HostPort: "" }],
    () => [{ HostIp: "127.0.0.1", HostPort: "" }],
    () => [{ HostPort: "0" }],
    () => [{ HostIp: "127.0.0.1", HostPort: fixed() }],
    () => [
      { HostIp: "127.0.0.1", HostPort: fixed() },
      { HostIp: "127.0.0.2", HostPort: fixed() },
    ],
  ];
  const unstarted = [
    () => [
      { HostIp: "0.0.0.0", HostPort: fixed() },
      { HostIp: "::", HostPort: fixed() },
    ],
    () => [{ HostIp: "127.0.0.1", HostPort: "30000-30010" }],
    () => [{ HostPort: "8080" }, { HostPort: "8081" }],
    () => [],
    () => [{}],
  ];
  const ports = dice.some(
    ["80/tcp", "53/udp", "53/tcp", "9/sctp", "8443/tcp"].filter((port) => !frame.is_to_start || port !== "9/sctp"),
  );
  return Object.fromEntries(
    ports.map((port) => [port, dice.one(frame.is_to_start ? shapes : [...shapes, ...unstarted])()]),
  );
}

function securityOptions(dice: Dice, frame: Frame): string[] {
  const options = ["no-new-privileges", "seccomp=unconfined", "apparmor=unconfined"];
  const seccomp = 'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}';
  const known = [...options, "label=disable", "no-new-privileges:true", ...(frame.is_to_start ? [] : [seccomp])];
  return dice.some(known);
}

function sysctls(dice: Dice, host: Json, frame: Frame): Json {
  const ofNetwork = ["host", "anchor"].includes(frame.network)
    ? []
    : ["net.core.somaxconn", "net.ipv4.ip_unprivileged_port_start"];
  const isOwnIpc = host.IpcMode === undefined || host.IpcMode === "private" || host.IpcMode === "shareable";
  const ofIpc = isOwnIpc ? ["kernel.msgmax", "fs.mqueue.msg_max"] : [];
  const names = [...ofNetwork, ...ofIpc];
  return names.length === 0 ? {} : Object.fromEntries(dice.some(names).map((name) => [name, "1024"]));
}

function resources(dice: Dice, frame: Frame): Json {
  const mib = 1_048_576;
  const host: Json = {};
  if (dice.chance(15)) host.CpuShares = dice.one([2, 512, 4096]);
  if (dice.chance(20)) Object.assign(host, dice.one(cpuLimits));
  if (dice.chance(25)) {
    host.Memory = dice.one([64, 256, 512]) * mib;
    if (dice.chance(40)) host.MemorySwap = dice.one([-1, 1024 * mib, Number(host.Memory)]);
    if (dice.chance(20)) host.OomKillDisable = dice.chance(50);
  }
  if (dice.chance(12)) host.MemoryReservation = 32 * mib;
  if (dice.chance(8)) host.MemorySwappiness = dice.one([0, 30, 100, -1]);
  if (dice.chance(6)) host.KernelMemory = 64 * mib;
  if (dice.chance(6)) host.KernelMemoryTCP = 32 * mib;
  if (dice.chance(12)) host.CpusetCpus = dice.one(["0", "0-1", "0,1"]);
  if (dice.chance(8)) host.CpusetMems = "0";
  if (dice.chance(12)) host.PidsLimit = dice.one([77, 4096, -1, 0]);
  if (dice.chance(20)) {
    host.Ulimits = dice.some([
      { Name: "nofile", Soft: 1024, Hard: 2048 },
      { Name: "nproc", Soft: 4096, Hard: 4096 },
      { Name: "core", Soft: 0, Hard: 0 },
      ...(frame.is_to_start ? [] : [{ Name: "memlock", Soft: -1, Hard: -1 }]),
    ]);
  }
  if (frame.is_to_start) return host;
  if (dice.chance(8)) host.CgroupParent = dice.one(["/tidemark-test", "tidemark-test/deeper"]);
  if (dice.chance(8)) host.BlkioWeight = dice.one([10, 500, 1000]);
  if (dice.chance(6)) host.BlkioWeightDevice = [{ Path: "/dev/null", Weight: 300 }];
  for (const key of ["BlkioDeviceReadBps", "BlkioDeviceWriteBps", "BlkioDeviceReadIOps", "BlkioDeviceWriteIOps"]) {
    if (dice.chance(6)) host[key] = [{ Path: "/dev/null", Rate: dice.one([1000, 1_048_576]) }];
  }
  if (dice.chance(15)) host.Devices = dice.some(devices);
  if (dice.chance(8)) host.DeviceCgroupRules = dice.some(["c 1:3 rmw", "a 42:* r", "b 8:* rw"]);
  if (dice.chance(12)) host.DeviceRequests = dice.some(deviceRequests);
  return host;
}

const cpuLimits = [
  { NanoCpus: 1_500_000_000 },
  { NanoCpus: 250_000_000 },
  { CpuPeriod: 50_000, CpuQuota: 25_000 },
  { CpuQuota: 100_000 },
  { CpuPeriod: 200_000 },
  { CpuQuota: -1 },
];
const devices = [
  { PathOnHost: "/dev/null", PathInContainer: "/dev/nothing", CgroupPermissions: "r" },
  { PathOnHost: "/dev/zero", PathInContainer: "/dev/zero", CgroupPermissions: "rwm" },
  { PathOnHost: "/dev/full", PathInContainer: "/dev/other", CgroupPermissions: "" },
];
const deviceRequests = [
  { Driver: "nvidia", Count: -1, Capabilities: [["gpu"]], Options: { a: "b" } },
  {
    Driver: "",
    Count: 2,
    Capabilities: [
      ["gpu", "compute"],
      ["gpu", "video"],
    ],
    Options: {},
  },
  { Driver: "", Count: 0, DeviceIDs: ["0", "GPU-f3"], Capabilities: [["gpu"]] },
  { Driver: "cdi", DeviceIDs: ["vendor.com/class=name"] },
];

/** Every destination once, so that the engine has no duplicate to refuse. */
function storage(dice: Dice, frame: Frame, world: ConfigWorld): Json {
  const host: Json = {};
  if (dice.chance(30)) host.Binds = binds(dice, world);
  if (dice.chance(30)) host.Mounts = mounts(dice, frame, world);
  if (dice.chance(15)) {
    const all = { "/run": "rw,noexec,nosuid,size=65536k", "/tmpfs-bare": "", "/tmpfs-mode": "mode=1777" };
    host.Tmpfs = Object.fromEntries(dice.some(Object.entries(all)));
  }
  if (dice.chance(12)) host.VolumesFrom = dice.one([[world.anchor], [`${world.anchor}:ro`], [`${world.anchor}:rw`]]);
  if (dice.chance(8)) host.VolumeDriver = "local";
  return host;
}

function binds(dice: Dice, world: ConfigWorld): string[] {
  const { folder } = world;
  const own = `tm-named-${dice.random(1_000_000)}`;
  return dice.some([
    "/anonymous-bind",
    "/anonymous/up/../bind",
    `${folder}/one:/bind-a:ro`,
    `${folder}/one:/bind-b`,
    `${folder}/one:/bind-b2:rw,rprivate`,
    `${folder}/two:/bind-c:z`,
    `${folder}/two:/bind-d:rslave,ro`,
    `${folder}/two/:/bind-e/`,
    `${folder}/file.txt:/etc/own.conf:ro`,
    `${folder}/made-by-engine-${dice.random(50)}:/bind-f`,
    `${own}:/bind-named`,
    `${own}:/bind-named-too:ro`,
    `${own}-nocopy:/bind-nocopy:nocopy`,
    `${own}:/bind-named-z:Z,rw`,
  ]);
}

function mounts(dice: Dice, frame: Frame, world: ConfigWorld): Json[] {
  const { api, folder } = world;
  const own = `tm-mounted-${dice.random(1_000_000)}`;
  const driver = { Name: "local", Options: { type: "tmpfs", device: "tmpfs", o: "size=1m" } };
  const all: Json[] = [
    { Type: "bind", Source: `${folder}/one`, Target: "/mount-a" },
    { Type: "bind", Source: `${folder}/one`, Target: "/mount-b", ReadOnly: true, Consistency: "cached" },
    { Type: "bind", Source: `${folder}/two`, Target: "/mount-c/", BindOptions: { Propagation: "rslave" } },
    { Type: "bind", Source: `${folder}/two`, Target: "/mount-d", BindOptions: { NonRecursive: true } },
    { Type: "volume", Target: "/mount-anonymous" },
    { Type: "volume", Target: "/mount-anonymous/../mount-anonymous-too/" },
    { Type: "volume", Target: "/mount-labelled", VolumeOptions: { Labels: { own: "label" } } },
    { Type: "volume", Source: own, Target: "/mount-e", VolumeOptions: { NoCopy: true, Labels: { own: "x" } } },
    { Type: "volume", Source: `${own}-driver`, Target: "/mount-f", VolumeOptions: { DriverConfig: driver } },
    { Type: "volume", Source: own, Target: "/mount-g", ReadOnly: true },
    { Type: "tmpfs", Target: "/mount-tmpfs", TmpfsOptions: { SizeBytes: 65_536, Mode: 448 } },
    { Type: "tmpfs", Target: "/mount-tmpfs-bare" },
  ];
  if (api >= 42) {
    const Source = `${folder}/created-${dice.random(50)}`;
    all.push({ Type: "bind", Source, Target: "/mount-made", BindOptions: { CreateMountpoint: true } });
  }
  if (api >= 44 && !frame.is_to_start) {
    const plain = { Type: "bind", Source: `${folder}/one`, ReadOnly: true };
    all.push({ ...plain, Target: "/mount-nr", BindOptions: { ReadOnlyNonRecursive: true } });
    const options = { ReadOnlyForceRecursive: true, Propagation: "rprivate" };
    all.push({ ...plain, Target: "/mount-fr", BindOptions: options });
  }
  if (api >= 45 && !frame.is_to_start) {
    all.push({
      Type: "volume",
      Source: own,
      Target: "/mount-sub",
      VolumeOptions: { Subpath: "deep/er", NoCopy: true },
    });
  }
  if (api >= 46) all.push({ Type: "tmpfs", Target: "/mount-exec", TmpfsOptions: { Options: [["exec"]] } });
  if (api >= 48) {
    all.push({ Type: "image", Source: world.mounted_image, Target: "/mount-image" });
    all.push({
      Type: "image",
      Source: world.mounted_image,
      Target: "/mount-image-bin",
      ImageOptions: { Subpath: "bin" },
    });
  }
  return dice.some(all);
}

function networking(
  dice: Dice,
  frame: Frame,
  world: ConfigWorld,
): { endpoints: Json | null; connects: { network: string; endpoint: Json }[] } {
  if (!frame.is_own_network) return { endpoints: null, connects: [] };
  const userDefined = (["front", "back", "six"] as const).filter((each) => each !== frame.network);
  const more = dice.chance(25) ? dice.some(userDefined) : [];
  const endpoints: Json = {};
  if (frame.network !== "default" && dice.chance(60)) {
    endpoints[frame.network_mode ?? ""] = endpoint(dice, frame.network, world, true);
  } else if (frame.network === "default" && world.api >= 44 && dice.chance(25)) {
    endpoints.bridge = { MacAddress: macAddress(dice) };
  }
  const others = more.map((each) => ({ network: world.networks[each], endpoint: endpoint(dice, each, world, false) }));
  // Newer engines take all at once; older ones only one, and the rest by a call for each.
  const isAtOnce = world.api >= 44 && Object.keys(endpoints).length > 0 && dice.chance(50);
  if (isAtOnce) for (const each of others) endpoints[each.network] = each.endpoint;
  const isEmpty = Object.keys(endpoints).length === 0;
  return { endpoints: isEmpty ? null : endpoints, connects: isAtOnce ? [] : others };
}

function endpoint(dice: Dice, network: Frame["network"], world: ConfigWorld, isMain: boolean): Json {
  const found: Json = {};
  if (dice.chance(60)) found.Aliases = dice.some(["web", "www", "Upper.Case", "ünicode"]);
  if (dice.chance(20)) found.Links = dice.some([`${world.anchor}:database`, `${world.anchor}:cache`]);
  if (dice.chance(25)) found.DriverOpts = { "own.option": "value", [dice.one(["a", "b"])]: "" };
  if (network === "front" && dice.chance(50)) {
    found.IPAMConfig = { IPv4Address: `10.98.1.${20 + dice.random(220)}` };
    if (dice.chance(25)) found.IPAMConfig = { ...(found.IPAMConfig as Json), LinkLocalIPs: ["169.254.34.68"] };
  }
  if (network === "six" && dice.chance(50))
    found.IPAMConfig = { IPv6Address: `fd00:98::${(32 + dice.random(60_000)).toString(16)}` };
  if (world.api >= 44 && dice.chance(isMain ? 25 : 15)) found.MacAddress = macAddress(dice);
  if (world.api >= 48 && dice.chance(25)) found.GwPriority = dice.one([1, -5, 100]);
  return found;
}
