import type { Json } from "./container-configs.ts";

/**
 * An oracle of its own for what an update must leave as it was, written from the engine's API documentation and not from the code
 * under test. It is told what a person asked for (`body`), what the engine made of it (`before`), the defaults of the two images,
 * and what stands there after the update; it names every member that is not as it has to be.
 */
export interface Carrying {
  body: Json;
  /** Networks connected after the create call. */
  connects: readonly { network: string; endpoint: Json }[];
  before: Json;
  after: Json;
  /** The images' `Config`. */
  old_image: Json;
  new_image: Json;
  new_image_id: string;
  reference: string;
}

export function lostSettings(carrying: Carrying): string[] {
  return [
    ...topLevel(carrying),
    ...config(carrying),
    ...hostConfig(carrying),
    ...mountPoints(carrying),
    ...networks(carrying),
  ];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): string[] {
  return list(value).map(String);
}

/** The engine writes "none" as null, as an empty list or map, or leaves the member out; anything else is told apart. */
function isNone(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return Array.isArray(value) ? value.length === 0 : typeof value === "object" && Object.keys(value).length === 0;
}

function same(left: unknown, right: unknown): boolean {
  return (isNone(left) && isNone(right)) || Bun.deepEquals(left, right);
}

function differs(path: string, wanted: unknown, found: unknown): string[] {
  if (same(wanted, found)) return [];
  return [`${path}: wanted ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`];
}

function shortId(inspect: Json): string {
  return String(inspect.Id).slice(0, 12);
}

function topLevel({ before, after, new_image_id }: Carrying): string[] {
  const kept = ["Name", "Driver", "Platform", "MountLabel"];
  return [
    ...kept.flatMap((key) => differs(key, before[key], after[key])),
    ...differs("Image", new_image_id, after.Image),
    ...differs("State.Running", object(before.State).Running, object(after.State).Running),
  ];
}

/** The members that a create call takes from the image when it names none; every other one is the container's alone. */
const ofImage = [
  "User",
  "WorkingDir",
  "StopSignal",
  "Env",
  "Labels",
  "ExposedPorts",
  "Volumes",
  "Cmd",
  "Entrypoint",
  "Healthcheck",
];

function config(carrying: Carrying): string[] {
  const [before, after] = [object(carrying.before.Config), object(carrying.after.Config)];
  const { old_image: old, new_image: next } = carrying;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const found = [...keys].filter((key) => !ofImage.includes(key) && key !== "Image" && key !== "Hostname");
  return [
    ...found.flatMap((key) => differs(`Config.${key}`, before[key], after[key])),
    ...differs("Config.Image", carrying.reference, after.Image),
    ...hostname(carrying),
    ...["User", "WorkingDir", "StopSignal"].flatMap((key) => {
      const isOwn = (before[key] ?? "") !== (old[key] ?? "");
      return differs(`Config.${key}`, (isOwn ? before[key] : next[key]) ?? "", after[key] ?? "");
    }),
    ...["ExposedPorts", "Volumes"].flatMap((key) => {
      // A published port is a person's: engine 20.10 publishes what is exposed, and nothing else.
      const published = key === "ExposedPorts" ? object(object(carrying.before.HostConfig).PortBindings) : {};
      const own = Object.keys(object(before[key])).filter((each) => !(each in object(old[key])) || each in published);
      const wanted = new Set([...own, ...Object.keys(object(next[key]))]);
      return differs(`Config.${key}`, [...wanted].sort(), Object.keys(object(after[key])).sort());
    }),
    ...labels(object(before.Labels), object(after.Labels), object(old.Labels), object(next.Labels)),
    ...environment(strings(before.Env), strings(after.Env), strings(old.Env), strings(next.Env)),
    ...command(before, after, old, next),
    ...healthcheck(
      object(before.Healthcheck),
      object(after.Healthcheck),
      object(old.Healthcheck),
      object(next.Healthcheck),
    ),
  ];
}

function hostname({ before, after, body }: Carrying): string[] {
  const chosen = String(body.Hostname ?? "");
  // It is the other container's then.
  if (String(object(before.HostConfig).NetworkMode).startsWith("container:")) return [];
  const [was, is] = [object(before.Config).Hostname, object(after.Config).Hostname];
  if (chosen !== "") return differs("Config.Hostname", chosen, is);
  return differs("Config.Hostname", was === shortId(before) ? shortId(after) : was, is);
}

function labels(before: Json, after: Json, old: Json, next: Json): string[] {
  const own = Object.entries(before).filter(([key, value]) => old[key] !== value);
  const wanted = { ...next, ...Object.fromEntries(own) };
  const found = Object.fromEntries(Object.entries(after).filter(([key]) => !key.startsWith("tidemark.")));
  return differs("Config.Labels", sorted(wanted), sorted(found));
}

function sorted(map: Json): Json {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** By name: all lines of a name that a person wrote, in their order; else the new image's; a name of the old image alone goes. */
function environment(before: string[], after: string[], old: string[], next: string[]): string[] {
  const nameOf = (line: string) => line.split("=", 1)[0] ?? "";
  const byName = (lines: string[], name: string) => lines.filter((line) => nameOf(line) === name);
  const names = new Set([...before, ...after, ...next].map(nameOf));
  return [...names].flatMap((name) => {
    const [was, is, oldDefault, newDefault] = [before, after, old, next].map((lines) => byName(lines, name));
    const isOwn = !same(was, oldDefault) && was !== undefined && was.length > 0;
    return differs(`Config.Env ${name}`, isOwn ? was : newDefault, is);
  });
}

function command(before: Json, after: Json, old: Json, next: Json): string[] {
  // An entrypoint of `[]` is one that was taken away; the image's command then still stands in for a missing one.
  const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
  const isTakenAway = isEmptyList(before.Entrypoint) && !isEmptyList(old.Entrypoint);
  const isOwnEntrypoint = isTakenAway || !same(before.Entrypoint, old.Entrypoint);
  const isCommandGone = isNone(before.Cmd) && !isNone(old.Cmd);
  const followsCommand = same(before.Cmd, old.Cmd) && (!isOwnEntrypoint || isTakenAway) && !isCommandGone;
  const followsEntrypoint = !isOwnEntrypoint && !isCommandGone;
  return [
    ...differs("Config.Entrypoint", followsEntrypoint ? next.Entrypoint : before.Entrypoint, after.Entrypoint),
    ...differs("Config.Cmd", followsCommand ? next.Cmd : before.Cmd, after.Cmd),
  ];
}

function healthcheck(before: Json, after: Json, old: Json, next: Json): string[] {
  if (strings(before.Test)[0] === "NONE" && strings(old.Test)[0] !== "NONE") {
    return differs("Config.Healthcheck.Test", before.Test, after.Test);
  }
  const members = ["Test", "Interval", "Timeout", "StartPeriod", "StartInterval", "Retries"];
  return members.flatMap((key) => {
    const [was, oldDefault, newDefault] = [before, old, next].map((each) => each[key] || null);
    const isOwn = !isNone(was) && !same(was, oldDefault);
    return differs(`Config.Healthcheck.${key}`, isOwn ? was : newDefault, after[key] || null);
  });
}

function hostConfig({ before, after }: Carrying): string[] {
  const [was, is] = [object(before.HostConfig), object(after.HostConfig)];
  const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
  const special = ["Binds", "Mounts", "Links", "RestartPolicy"];
  const policy = (of: Json) => {
    const { Name, MaximumRetryCount } = object(of.RestartPolicy);
    return [Name === "" ? "no" : Name, MaximumRetryCount];
  };
  return [
    ...[...keys]
      .filter((key) => !special.includes(key))
      .flatMap((key) => differs(`HostConfig.${key}`, was[key], is[key])),
    ...differs("HostConfig.RestartPolicy", policy(was), policy(is)),
    ...differs("HostConfig.Links", strings(was.Links).sort(), strings(is.Links).sort()),
    ...mountSettings(before, after),
  ];
}

/** Anonymous volumes have names afterwards, because a volume without one would be a new and empty one. */
function mountSettings(before: Json, after: Json): string[] {
  const [was, is] = [object(before.HostConfig), object(after.HostConfig)];
  const points = list(before.Mounts).map(object);
  const volumeAt = (target: string) =>
    nameOfVolume(points.find((each) => each.Type === "volume" && each.Destination === cleaned(target)));
  const binds = strings(was.Binds).map((bind) => (bind.includes(":") ? bind : `${volumeAt(bind)}:${bind}`));
  const mounts = list(was.Mounts)
    .map(object)
    .map((mount) => {
      const isAnonymous = mount.Type === "volume" && (mount.Source ?? "") === "";
      return isAnonymous ? { ...mount, Source: volumeAt(String(mount.Target)) } : mount;
    });
  const found = list(is.Mounts).map(object);
  const added = found.slice(mounts.length).filter((mount) => {
    const plain = Object.keys(mount).every((key) => ["Type", "Source", "Target"].includes(key));
    return !(plain && mount.Type === "volume" && volumeAt(String(mount.Target)) === mount.Source);
  });
  return [
    ...differs("HostConfig.Binds", binds, is.Binds),
    ...differs("HostConfig.Mounts", mounts, found.slice(0, mounts.length)),
    ...differs("HostConfig.Mounts that nobody asked for", [], added),
  ];
}

/** Engine 29 tells no name for a bind that is a path alone; the local driver keeps a volume in a folder of its name. */
function nameOfVolume(point: Json | undefined): string {
  return String(point?.Name || String(point?.Source).split("/").at(-2));
}

function cleaned(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function mountPoints({ before, after, new_image }: Carrying): string[] {
  const byPath = (inspect: Json) =>
    new Map(
      list(inspect.Mounts)
        .map(object)
        .map((each) => [String(each.Destination), each]),
    );
  const [was, is] = [byPath(before), byPath(after)];
  const brought = Object.keys(object(new_image.Volumes)).map(cleaned);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    const [old, now] = [was.get(path), is.get(path)];
    if (old === undefined && brought.includes(path)) return [];
    if (old === undefined || now === undefined) return differs(`Mounts ${path}`, old, now);
    // An image's files lie under a path that each container has for itself.
    const kept = ["Type", "Name", "Driver", "RW", "Propagation", ...(old.Type === "image" ? [] : ["Source"])];
    const shown = (of: Json): Json => ({
      ...Object.fromEntries(kept.map((key) => [key, of[key] ?? null])),
      ...(of.Type === "volume" ? { Name: nameOfVolume(of) } : {}),
    });
    return differs(`Mounts ${path}`, shown(old), shown(now));
  });
}

function networks(carrying: Carrying): string[] {
  const { before, after } = carrying;
  const of = (inspect: Json) => object(object(inspect.NetworkSettings).Networks);
  const [was, is] = [of(before), of(after)];
  const shared = String(object(before.HostConfig).NetworkMode).startsWith("container:");
  return [
    ...(shared ? [] : differs("Networks", Object.keys(was).sort(), Object.keys(is).sort())),
    ...Object.keys(was).flatMap((name) => {
      const [old, now] = [object(was[name]), object(is[name])];
      const aliases = strings(old.Aliases).filter((each) => each !== shortId(before));
      // Connecting a network adds the hostname, as a start does with every network.
      const made = [shortId(after), object(after.Config).Hostname].filter((each) => !aliases.includes(String(each)));
      const found = strings(now.Aliases).filter((each) => !made.includes(each));
      return [
        ...["IPAMConfig", "Links", "DriverOpts", "GwPriority"].flatMap((key) =>
          differs(`Networks.${name}.${key}`, old[key], now[key]),
        ),
        ...differs(`Networks.${name}.Aliases`, aliases.sort(), found.sort()),
        ...(isNone(old.NetworkID) || old.NetworkID === "" || now.NetworkID === ""
          ? []
          : differs(`Networks.${name}.NetworkID`, old.NetworkID, now.NetworkID)),
        ...macAddress(name, carrying, now),
      ];
    }),
  ];
}

/** One that was asked for with the network, as newer engines take it. A network that the body names by its id is the only one then. */
function macAddress(name: string, { body, connects, before }: Carrying, now: Json): string[] {
  const asked = object(object(body.NetworkingConfig).EndpointsConfig);
  const later = connects.find((each) => each.network === name)?.endpoint;
  const isAlone = Object.keys(object(object(before.NetworkSettings).Networks)).length === 1;
  const byId = isAlone ? asked[String(object(before.HostConfig).NetworkMode)] : undefined;
  const { MacAddress } = object(asked[name] ?? later ?? byId);
  return MacAddress === undefined ? [] : differs(`Networks.${name}.MacAddress`, MacAddress, now.MacAddress);
}
