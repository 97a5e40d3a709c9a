import { isInPod } from "../engine/carry.ts";
import type { RawObject } from "../engine/raw.ts";
import { isBlank, isObject, listAt, objectAt, stringAt, stringMapAt, stringsAt } from "../engine/raw.ts";
import { imagePlaceholder, splitOnce } from "./command-line.ts";
import { unlimitedSwapBytes } from "./limits.ts";
import { signalNumber } from "./signals.ts";

/**
 * The body of Podman's own create call, from a Docker create body as made by `readContainer`. Podman's Docker-compatible create call
 * silently loses annotations, log options, tmpfs options, limits and more.
 */
export function createSpec(name: string, body: RawObject, platform: string | null): RawObject {
  const host = objectAt(body.HostConfig);
  return withoutBlanks({
    name,
    ...imageMembers(body, platform),
    ...processMembers(body),
    ...healthMembers(body),
    ...logMembers(objectAt(host.LogConfig)),
    ...restartMembers(objectAt(host.RestartPolicy)),
    ...securityMembers(host),
    ...namespaceMembers(body, host),
    ...networkMembers(body, host),
    ...mountMembers(host),
    ...limitMembers(host),
    oci_runtime: host.Runtime,
    sysctl: host.Sysctls,
    pod: host.Pod,
    dependencyContainers: host.Dependencies,
    devices: listAt(host.Devices).map(deviceSpec),
    cgroups_mode: host.Cgroups,
    cgroup_parent: host.CgroupParent,
    init: host.Init,
    read_only_filesystem: host.ReadonlyRootfs,
    remove: host.AutoRemove,
  });
}

/** Podman's own connect call has different names for addresses. */
export function connectSpec(container: string, endpoint: RawObject): RawObject {
  return { container, ...networkOptions(endpoint) };
}

function imageMembers(body: RawObject, platform: string | null): RawObject {
  const image = stringAt(body.Image);
  const [os = "", architecture = "", variant = ""] = (platform ?? "").split("/");
  const words = stringsAt(body.CreateCommand).map((word) => (word === imagePlaceholder ? image : word));
  return {
    image,
    containerCreateCommand: words,
    ...(platform === null ? {} : { image_os: os, image_arch: architecture, image_variant: variant }),
  };
}

function processMembers(body: RawObject): RawObject {
  const entrypoint = body.Entrypoint;
  return {
    // A single empty word means "none"; without a list the image's would apply.
    entrypoint: isBlank(entrypoint) ? undefined : entrypoint,
    command: stringsAt(body.Cmd),
    env: Object.fromEntries(stringsAt(body.Env).map((text) => splitOnce(text, "="))),
    labels: objectAt(body.Labels),
    annotations: { ...objectAt(body.Annotations), ...shownAnnotations(objectAt(body.HostConfig)) },
    terminal: body.Tty,
    stdin: body.OpenStdin,
    user: body.User,
    work_dir: body.WorkingDir,
    create_working_dir: stringAt(body.WorkingDir) !== "",
    stop_signal: signalNumber(body.StopSignal) ?? undefined,
    stop_timeout: body.StopTimeout,
    timeout: body.Timeout === 0 ? undefined : body.Timeout,
    timezone: body.Timezone,
    umask: body.Umask,
    systemd: body.SystemdMode === true ? "always" : undefined,
    sdnotifyMode: body.SdNotifyMode,
    manage_password: body.Passwd,
    conmon_pid_file: body.ConmonPidFile,
    chroot_directories: body.ChrootDirs,
  };
}

const defaultPeriod = 30_000_000_000;
/** Podman's numbers for `kill`, `restart` and `stop`. */
const failureActions: Readonly<Record<string, number>> = { kill: 2, restart: 3, stop: 4 };

function healthMembers(body: RawObject): RawObject {
  const check = objectAt(body.Healthcheck);
  const isCheck = !isBlank(check.Test) && stringsAt(check.Test)[0] !== "NONE";
  const interval = body.HealthcheckInterval === "disable" ? 0 : (check.Interval ?? defaultPeriod);
  const filled = { ...check, Interval: interval, Timeout: check.Timeout ?? defaultPeriod };
  return {
    healthconfig: isCheck ? filled : check,
    health_check_on_failure_action: failureActions[stringAt(body.HealthcheckOnFailureAction)],
  };
}

function logMembers(log: RawObject): RawObject {
  const { path = "", "max-size": size = "", ...options } = stringMapAt(log.Config);
  const members = { driver: log.Type, path, size: size === "" ? undefined : bytesOf(size), options };
  return { log_configuration: withoutBlanks(members) };
}

const units: Readonly<Record<string, number>> = { b: 0, k: 1, m: 2, g: 3, t: 4 };

/** `10.49MB` as in inspect, in thousands; a plain number is bytes. */
export function bytesOf(text: string): number {
  const match = /^([0-9.]+)\s*([bkmgt])?b?$/i.exec(text.trim());
  if (match === null) return 0;
  return Math.round(Number(match[1]) * 1000 ** (units[(match[2] ?? "b").toLowerCase()] ?? 0));
}

function restartMembers(policy: RawObject): RawObject {
  const name = stringAt(policy.Name);
  const retries = policy.MaximumRetryCount;
  return { restart_policy: name, restart_tries: name === "on-failure" && retries !== 0 ? retries : undefined };
}

/** Podman shows these options from the annotations that its own command line left. */
const shownOptions = ["label", "seccomp", "apparmor"] as const;

function shownAnnotations(host: RawObject): RawObject {
  const entries = shownOptions.map((name): [string, string | undefined] => {
    return [`io.podman.annotations.${name}`, securityOption(host, name)];
  });
  const idFile = stringAt(host.ContainerIDFile);
  if (idFile !== "") entries.push(["io.podman.annotations.cid-file", idFile]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function securityOption(host: RawObject, name: string): string | undefined {
  const option = stringsAt(host.SecurityOpt).find((each) => each.startsWith(`${name}=`));
  return option?.slice(name.length + 1);
}

function securityMembers(host: RawObject): RawObject {
  return {
    privileged: host.Privileged,
    cap_add: host.CapAdd,
    cap_drop: host.CapDrop,
    groups: host.GroupAdd,
    no_new_privileges: stringsAt(host.SecurityOpt).includes("no-new-privileges"),
    selinux_opts: securityOption(host, "label")?.split(",label=") ?? [],
    apparmor_profile: securityOption(host, "apparmor"),
    seccomp_profile_path: securityOption(host, "seccomp"),
  };
}

/** `container:ID`, `ns:/path`, or a mode of its own. */
function namespace(mode: unknown): RawObject | undefined {
  const [name, value] = splitOnce(stringAt(mode), ":");
  if (name === "") return undefined;
  if (name === "ns") return { nsmode: "path", value };
  return value === "" ? { nsmode: name } : { nsmode: name, value };
}

/** In a pod the shared namespaces come with it. */
function namespaceMembers(body: RawObject, host: RawObject): RawObject {
  const isMember = isInPod(host);
  const unlessPods = (mode: unknown) =>
    isMember && stringAt(mode).startsWith("container:") ? undefined : namespace(mode);
  const uts = stringAt(host.UTSMode);
  const hasOwnName = uts === "" || uts === "private";
  const ipc = stringAt(host.IpcMode);
  const mappings = idMappings(objectAt(host.IDMappings));
  return {
    hostname: hasOwnName ? body.Hostname : undefined,
    utsns: unlessPods(uts),
    pidns: unlessPods(host.PidMode),
    ipcns: unlessPods(ipc),
    cgroupns: unlessPods(host.CgroupnsMode),
    userns: mappings === null ? unlessPods(host.UsernsMode) : { nsmode: "private" },
    idmappings: mappings ?? undefined,
    shm_size: ipc === "shareable" || ipc === "private" || ipc === "" ? host.ShmSize : undefined,
  };
}

function idMappings(mappings: RawObject): RawObject | null {
  const ranges = (list: unknown) =>
    stringsAt(list).map((text) => {
      const [container = 0, onHost = 0, size = 0] = text.split(":").map(Number);
      return { container_id: container, host_id: onHost, size };
    });
  const [uids, gids] = [ranges(mappings.UidMap), ranges(mappings.GidMap)];
  if (uids.length === 0 && gids.length === 0) return null;
  return { HostUIDMapping: false, HostGIDMapping: false, UIDMap: uids, GIDMap: gids };
}

const otherModes = /^(host|none|private|default|container:|ns:|slirp4netns|pasta)/;

function networkMembers(body: RawObject, host: RawObject): RawObject {
  const mode = stringAt(host.NetworkMode);
  const isPods = isInPod(host) && mode.startsWith("container:");
  const isBridge = mode !== "" && !otherModes.test(mode);
  const endpoints = objectAt(objectAt(body.NetworkingConfig).EndpointsConfig);
  const networks = Object.entries(endpoints).map(([name, endpoint]) => [name, networkOptions(objectAt(endpoint))]);
  const isShared = mode.startsWith("container:");
  return {
    netns: isPods ? undefined : isBridge ? { nsmode: "bridge" } : namespace(mode),
    Networks: isBridge ? Object.fromEntries(networks) : undefined,
    portmappings: isShared ? [] : portMappings(host.PortBindings),
    expose: isShared ? undefined : exposedPorts(body.ExposedPorts),
    dns_server: host.Dns,
    dns_option: host.DnsOptions,
    dns_search: host.DnsSearch,
    hostadd: isShared ? [] : host.ExtraHosts,
  };
}

function networkOptions(endpoint: RawObject): RawObject {
  const ipam = objectAt(endpoint.IPAMConfig);
  const addresses = [stringAt(ipam.IPv4Address), stringAt(ipam.IPv6Address)].filter((address) => address !== "");
  return withoutBlanks({
    aliases: endpoint.Aliases,
    static_ips: addresses,
    static_mac: endpoint.ChosenMacAddress,
    interface_name: endpoint.InterfaceName,
  });
}

function portMappings(bindings: unknown): readonly RawObject[] {
  return Object.entries(objectAt(bindings)).flatMap(([port, list]) => {
    const [number, protocol] = splitOnce(port, "/");
    return listAt(list)
      .filter(isObject)
      .map((binding) => ({
        container_port: Number(number),
        host_port: Number(binding.HostPort ?? 0),
        host_ip: stringAt(binding.HostIp),
        protocol: protocol || "tcp",
        range: 1,
      }));
  });
}

function exposedPorts(exposed: unknown): RawObject {
  const byNumber = new Map<string, string[]>();
  for (const port of Object.keys(objectAt(exposed))) {
    const [number, protocol] = splitOnce(port, "/");
    byNumber.set(number, [...(byNumber.get(number) ?? []), protocol || "tcp"]);
  }
  return Object.fromEntries([...byNumber].map(([number, protocols]) => [number, protocols.join(",")]));
}

function mountMembers(host: RawObject): RawObject {
  const mounts = listAt(host.Mounts).filter(isObject);
  const ofType = (type: string) => mounts.filter((mount) => mount.Type === type);
  const tmpfs = Object.entries(stringMapAt(host.Tmpfs)).map(([destination, options]) => ({
    type: "tmpfs",
    source: "tmpfs",
    destination,
    options: options === "" ? [] : options.split(","),
  }));
  const binds = ofType("bind").map((mount) => ({
    type: "bind",
    source: mount.Source,
    destination: mount.Target,
    options: mountOptions(mount),
  }));
  return {
    mounts: [...binds, ...tmpfs],
    volumes: ofType("volume").map((mount) => ({
      Name: mount.Source,
      Dest: mount.Target,
      Options: mountOptions(mount),
    })),
    image_volumes: ofType("image").map((mount) => ({
      Source: mount.Source,
      Destination: mount.Target,
      ReadWrite: stringsAt(mount.Options).includes("rw"),
    })),
    volumes_from: host.VolumesFrom,
  };
}

function mountOptions(mount: RawObject): readonly string[] {
  return Array.isArray(mount.Options) ? stringsAt(mount.Options) : [mount.ReadOnly === true ? "ro" : "rw"];
}

function deviceSpec(device: unknown): RawObject {
  const { PathOnHost: onHost, PathInContainer: inContainer } = objectAt(device);
  return { path: `${stringAt(onHost)}:${stringAt(inContainer)}` };
}

function limitMembers(host: RawObject): RawObject {
  const given = (value: unknown) => (value === 0 || value === "" ? undefined : value);
  const swappiness = typeof host.MemorySwappiness === "number" && host.MemorySwappiness > 0;
  const throttles = (list: unknown) =>
    Object.fromEntries(listAt(list).map((each) => [stringAt(objectAt(each).Path), { rate: objectAt(each).Rate }]));
  const weights = listAt(host.BlkioWeightDevice).map((each) => {
    return [stringAt(objectAt(each).Path), { weight: objectAt(each).Weight }];
  });
  return {
    resource_limits: withoutBlanks({
      cpu: withoutBlanks({
        shares: given(host.CpuShares),
        quota: given(host.CpuQuota),
        period: given(host.CpuPeriod),
        realtimeRuntime: given(host.CpuRealtimeRuntime),
        realtimePeriod: given(host.CpuRealtimePeriod),
        cpus: host.CpusetCpus,
        mems: host.CpusetMems,
      }),
      memory: withoutBlanks({
        limit: given(host.Memory),
        reservation: given(host.MemoryReservation),
        swap: host.MemorySwap === -1 ? unlimitedSwapBytes : given(host.MemorySwap),
        swappiness: swappiness ? host.MemorySwappiness : undefined,
        disableOOMKiller: host.OomKillDisable === true ? true : undefined,
      }),
      // 0 means none; left out, Podman's own limit would apply.
      pids: withoutBlanks({ limit: host.PidsLimit }),
      blockIO: withoutBlanks({ weight: given(host.BlkioWeight) }),
    }),
    weightDevice: Object.fromEntries(weights),
    throttleReadBpsDevice: throttles(host.BlkioDeviceReadBps),
    throttleWriteBpsDevice: throttles(host.BlkioDeviceWriteBps),
    throttleReadIOPSDevice: throttles(host.BlkioDeviceReadIOps),
    throttleWriteIOPSDevice: throttles(host.BlkioDeviceWriteIOps),
    unified: host.CgroupConf,
    r_limits: listAt(host.Ulimits).map((limit) => {
      const { Name: type, Soft: soft, Hard: hard } = objectAt(limit);
      return { type, soft: unlimited(soft), hard: unlimited(hard) };
    }),
    oom_score_adj: host.OomScoreAdj === 0 ? undefined : host.OomScoreAdj,
  };
}

interface JsonWithRaw extends JSON {
  /** Not in the language's types yet; Bun and Deno have it. */
  rawJSON(text: string): unknown;
}
const json = JSON as JsonWithRaw;

/** Unlimited is -1 in inspect and the largest unsigned number at create, which JavaScript numbers cannot hold. */
function unlimited(value: unknown): unknown {
  return value === -1 ? json.rawJSON("18446744073709551615") : value;
}

function withoutBlanks(members: RawObject): RawObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== "" && !isBlank(value)));
}
