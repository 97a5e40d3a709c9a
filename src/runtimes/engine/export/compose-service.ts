import { isUnset, listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import { splitReference } from "../reference.ts";
import { composeMounts } from "./compose-mounts.ts";
import { composeNetworks } from "./compose-networks.ts";
import { composeText, text } from "./compose-text.ts";
import type { Concealer } from "./conceal.ts";
import { attachmentsOf, type OwnSettings } from "./member.ts";
import { publishedPorts } from "./networks.ts";
import { isUnmasked } from "./notes.ts";
import { decimalCpus } from "./script-options.ts";
import type { Yaml, YamlMap } from "./yaml.ts";

/** Each container's service name in the file. */
export type ServiceNames = ReadonlyMap<string, string>;

const some = (value: string): string | undefined => (value === "" ? undefined : text(value));
const all = (values: readonly string[]): readonly string[] | undefined => {
  return values.length === 0 ? undefined : values.map(text);
};
const number = (value: unknown): number | undefined => (typeof value === "number" && value !== 0 ? value : undefined);
const bytes = (value: unknown): string | undefined => (isUnset(value) ? undefined : String(value));
const yes = (value: unknown): true | undefined => (value === true ? true : undefined);

/** One container as a service. */
export function serviceOf(settings: OwnSettings, names: ServiceNames, conceal: Concealer): YamlMap {
  const { config, host, entrypoint, command } = settings;
  const words = (what: string, list: readonly string[] | null) =>
    list === null ? undefined : conceal.words(settings, what, list).map(composeText);
  return {
    ...imageOf(settings),
    container_name: settings.name,
    depends_on: dependencies(settings, names),
    hostname: some(settings.hostname),
    domainname: some(settings.domainname),
    user: some(settings.user),
    working_dir: some(settings.working_dir),
    entrypoint: words("entrypoint", entrypoint),
    command: words("command", command),
    tty: yes(config.Tty),
    stdin_open: yes(config.OpenStdin),
    stop_signal: some(settings.stop_signal),
    stop_grace_period: typeof config.StopTimeout === "number" ? `${config.StopTimeout}s` : undefined,
    environment: pairs(settings, "env", settings.env, conceal),
    labels: pairs(
      settings,
      "label",
      settings.labels.filter(([key]) => !key.startsWith("com.docker.compose.")),
      conceal,
    ),
    healthcheck: healthcheck(settings, conceal),
    expose: all(settings.exposed.filter((port) => !(port in objectAt(host.PortBindings)))),
    ports: all(publishedPorts(host)),
    ...composeNetworks(settings, names),
    ...composeMounts(settings, names),
    ...hostMembers(settings, conceal, names),
    ...limits(host),
  };
}

/** By digest if there is one: exactly this image, wherever the file is used. */
function imageOf({ image }: OwnSettings): YamlMap {
  if (image.digest === null) return { image: text(image.reference), pull_policy: "never" };
  const { tag } = splitReference(image.reference);
  const { repository, digest } = splitReference(image.digest);
  return { image: text(`${repository}${tag === null ? "" : `:${tag}`}@${digest ?? ""}`), pull_policy: "missing" };
}

function pairs(
  settings: OwnSettings,
  place: "env" | "label",
  list: OwnSettings["env"],
  conceal: Concealer,
): readonly string[] | undefined {
  if (list.length === 0) return undefined;
  return list.map(([key, value]) => composeText([`${key}=`, ...conceal.named(settings, place, key, value)]));
}

const conditions = new Set(["service_started", "service_healthy", "service_completed_successfully"]);

/** From the container's compose label and Podman's requirements, as far as the others are included. */
function dependencies({ name, labels, host }: OwnSettings, names: ServiceNames): YamlMap | undefined {
  const label = labels.find(([key]) => key === "com.docker.compose.depends_on")?.[1] ?? "";
  const services = new Set(names.values());
  const found = label.split(",").flatMap((each): [string, YamlMap][] => {
    const [service = "", condition = "", restart = ""] = each.split(":");
    if (!services.has(service) || names.get(name) === service || !conditions.has(condition)) return [];
    return [[service, { condition, ...(restart === "true" ? { restart: true } : {}) }]];
  });
  const required = stringsAt(host.Dependencies).flatMap((each): [string, YamlMap][] => {
    const service = names.get(each);
    return service === undefined ? [] : [[service, { condition: "service_started" }]];
  });
  const needed = [...required, ...found];
  return needed.length === 0 ? undefined : Object.fromEntries(needed);
}

function healthcheck(settings: OwnSettings, conceal: Concealer): YamlMap | undefined {
  const check = settings.healthcheck;
  if (check === null) return undefined;
  const test = stringsAt(check.Test);
  if (test[0] === "NONE") return { disable: true };
  const time = (value: unknown) => (typeof value === "number" && value > 0 ? `${value}ns` : undefined);
  return {
    test: test.length === 0 ? undefined : conceal.words(settings, "health_check", test).map(composeText),
    interval: time(check.Interval),
    timeout: time(check.Timeout),
    start_period: time(check.StartPeriod),
    start_interval: time(check.StartInterval),
    retries: number(check.Retries),
  };
}

function hostMembers(settings: OwnSettings, conceal: Concealer, names: ServiceNames): YamlMap {
  const { host } = settings;
  const map = (values: unknown): YamlMap | undefined => {
    const entries = Object.entries(stringMapAt(values)).map(
      ([key, value]) => [key, composeText(conceal.named(settings, "option", key, value))] as const,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const { Name: restart, MaximumRetryCount: retries } = objectAt(host.RestartPolicy);
  const log = objectAt(host.LogConfig);
  const shared = (key: string) => {
    const mode = stringAt(host[key]);
    const service = mode.startsWith("container:") ? names.get(mode.slice("container:".length)) : undefined;
    return service === undefined ? some(mode) : `service:${service}`;
  };
  return {
    restart: some(`${stringAt(restart)}${typeof retries === "number" && retries > 0 ? `:${retries}` : ""}`),
    privileged: yes(host.Privileged),
    read_only: yes(host.ReadonlyRootfs),
    init: typeof host.Init === "boolean" ? host.Init : undefined,
    cap_add: all(stringsAt(host.CapAdd)),
    cap_drop: all(stringsAt(host.CapDrop)),
    security_opt: all(securityOptions(host)),
    group_add: all(stringsAt(host.GroupAdd)),
    userns_mode: some(stringAt(host.UsernsMode)),
    pid: shared("PidMode"),
    ipc: shared("IpcMode"),
    uts: some(stringAt(host.UTSMode)),
    cgroup: some(stringAt(host.CgroupnsMode)),
    cgroup_parent: some(stringAt(host.CgroupParent)),
    isolation: some(stringAt(host.Isolation)),
    runtime: some(stringAt(host.Runtime)),
    dns: all(stringsAt(host.Dns)),
    dns_opt: all(stringsAt(host.DnsOptions)),
    dns_search: all(stringsAt(host.DnsSearch)),
    extra_hosts: all(stringsAt(host.ExtraHosts)),
    external_links: all(linksOf(settings)),
    sysctls: map(host.Sysctls),
    annotations: map({ ...objectAt(settings.config.Annotations), ...objectAt(host.Annotations) }),
    storage_opt: map(host.StorageOpt),
    logging: stringAt(log.Type) === "" ? undefined : { driver: text(stringAt(log.Type)), options: map(log.Config) },
    ...devices(host),
  };
}

/** The container's links, which only the default network has, and those of its networks: compose applies them to all. */
export function linksOf(settings: OwnSettings): readonly string[] {
  const ofNetworks = attachmentsOf(settings).flatMap(({ endpoint }) => stringsAt(endpoint.Links));
  return [...new Set([...stringsAt(settings.host.Links), ...ofNetworks])];
}

function securityOptions(host: RawObject): readonly string[] {
  const isAdded = host.Privileged === true || host.PidMode === "host" || host.IpcMode === "host";
  const given = stringsAt(host.SecurityOpt).filter((option) => {
    return !/^seccomp[=:]\s*\{/.test(option) && !(isAdded && /^label[=:]disable$/.test(option));
  });
  return [...given, ...(isUnmasked(host) ? ["systempaths=unconfined"] : [])];
}

function devices(host: RawObject): YamlMap {
  const requests = listAt(host.DeviceRequests).map(objectAt);
  const cdi = requests.filter((request) => request.Driver === "cdi").flatMap((request) => stringsAt(request.DeviceIDs));
  const paths = listAt(host.Devices)
    .map(objectAt)
    .map(({ PathOnHost, PathInContainer, CgroupPermissions }) =>
      [PathOnHost, PathInContainer, CgroupPermissions].map(stringAt).join(":").replace(/:$/, ""),
    );
  const reserved = requests
    .filter((request) => request.Driver !== "cdi")
    .map((request): YamlMap => {
      const ids = stringsAt(request.DeviceIDs);
      const options = Object.entries(stringMapAt(request.Options)).map(([key, value]) => [key, text(value)]);
      return {
        capabilities: stringsAt(listAt(request.Capabilities)[0]).map(text),
        driver: some(stringAt(request.Driver)),
        device_ids: all(ids),
        count: ids.length > 0 ? undefined : request.Count === -1 ? "all" : (number(request.Count) ?? 0),
        options: options.length === 0 ? undefined : Object.fromEntries(options),
      };
    });
  return {
    devices: all([...paths, ...cdi]),
    device_cgroup_rules: all(stringsAt(host.DeviceCgroupRules)),
    deploy: reserved.length === 0 ? undefined : { resources: { reservations: { devices: reserved } } },
  };
}

function limits(host: RawObject): YamlMap {
  const { NanoCpus: cpus, MemorySwappiness: swappiness } = host;
  const ulimits = listAt(host.Ulimits)
    .map(objectAt)
    .map(({ Name, Soft, Hard }) => [stringAt(Name), { soft: Number(Soft), hard: Number(Hard) }]);
  return {
    mem_limit: bytes(host.Memory),
    mem_reservation: bytes(host.MemoryReservation),
    memswap_limit: bytes(host.MemorySwap),
    mem_swappiness: typeof swappiness === "number" && swappiness >= 0 ? swappiness : undefined,
    shm_size: bytes(host.ShmSize),
    oom_kill_disable: yes(host.OomKillDisable),
    oom_score_adj: number(host.OomScoreAdj),
    pids_limit: number(host.PidsLimit),
    cpus: typeof cpus === "number" && cpus > 0 ? decimalCpus(cpus) : undefined,
    cpu_shares: number(host.CpuShares),
    cpu_period: number(host.CpuPeriod),
    cpu_quota: number(host.CpuQuota),
    cpu_rt_period: number(host.CpuRealtimePeriod),
    cpu_rt_runtime: number(host.CpuRealtimeRuntime),
    cpu_count: number(host.CpuCount),
    cpu_percent: number(host.CpuPercent),
    cpuset: some(stringAt(host.CpusetCpus)),
    ulimits: ulimits.length === 0 ? undefined : Object.fromEntries(ulimits),
    blkio_config: blkio(host),
  };
}

const rates = [
  ["BlkioDeviceReadBps", "device_read_bps"],
  ["BlkioDeviceReadIOps", "device_read_iops"],
  ["BlkioDeviceWriteBps", "device_write_bps"],
  ["BlkioDeviceWriteIOps", "device_write_iops"],
] as const;

function blkio(host: RawObject): YamlMap | undefined {
  const list = (key: string, member: string): Yaml | undefined => {
    const found = listAt(host[key])
      .map(objectAt)
      .map((each) => ({
        path: text(stringAt(each.Path)),
        [member]: Number(each[member === "rate" ? "Rate" : "Weight"]),
      }));
    return found.length === 0 ? undefined : found;
  };
  const members: YamlMap = {
    weight: number(host.BlkioWeight),
    weight_device: list("BlkioWeightDevice", "weight"),
    ...Object.fromEntries(rates.map(([key, name]) => [name, list(key, "rate")])),
  };
  return Object.values(members).every((each) => each === undefined) ? undefined : members;
}
