import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isHostnameMade, mountPath, volumeName } from "../../src/runtimes/engine/carry.ts";
import type { RestorableSnapshot } from "../../src/runtimes/engine/export/member.ts";
import { canonical, listAt, objectAt, type RawObject, stringAt, stringsAt } from "../../src/runtimes/engine/raw.ts";
import { readSnapshot } from "../../src/runtimes/engine/snapshot.ts";
import { unorderedHost } from "../../src/runtimes/engine/unordered.ts";
import type { TestEngine } from "../peers/engine.ts";
import { inspectContainer } from "./update-target.ts";

type Json = Record<string, unknown>;

/** What a run would have stored of these containers, in the order in which they start; read as a stored one is. */
export async function snapshotOf(
  engine: TestEngine,
  names: readonly string[],
  options: { api_version: string; files?: Readonly<Record<string, string>>; inherited?: readonly string[] },
): Promise<RestorableSnapshot> {
  const members = [];
  for (const name of names) {
    const container: Json = await inspectContainer(engine, name);
    const image = await engine.call("GET", `/images/${stringAt(container.Image)}/json`);
    const files = options.files?.[name] ?? null;
    const inherited = options.inherited ?? [];
    members.push({ name, service: "main", role: "target", container, image, inherited, files });
  }
  const kind = names.length > 1 ? "compose" : "container";
  const { api_version } = options;
  return readSnapshot(JSON.stringify({ format: 2, kind, name: names[0], api_version, members }));
}

export interface ScriptResult {
  code: number;
  out: string;
}

/** Runs a script as a person would, with `sh`, on the engine's socket and with nothing else in its environment. */
export async function runScript(
  engine: TestEngine,
  script: string,
  options: {
    args?: readonly string[];
    cli?: string;
    env?: Readonly<Record<string, string>>;
    shell?: readonly string[];
  } = {},
): Promise<ScriptResult> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-restore-"));
  try {
    writeFileSync(join(folder, "restore.sh"), script);
    const [shell = "sh", ...first] = options.shell ?? ["sh"];
    const env = { PATH: process.env.PATH ?? "", DOCKER_HOST: engine.address, HOME: folder, ...options.env };
    if (options.cli !== undefined) Object.assign(env, { CONTAINER_CLI: options.cli });
    const args = [...first, join(folder, "restore.sh"), ...(options.args ?? [])];
    const child = spawn(shell, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        out += String(chunk);
      });
    }
    const code = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (status) => resolve(status ?? -1));
    });
    return { code, out };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the two writers may make different, and why. */
export type Exceptions = "script" | "compose";

/** What neither writer can decide: made by the engine, or a matter of the client that once created the container. */
const everywhere = {
  // Who was attached when it was created; nothing depends on it once it runs.
  Config: ["AttachStdin", "AttachStdout", "AttachStderr"],
  // The size of the window, and the file that the id was written to.
  HostConfig: ["ConsoleSize", "ContainerIDFile"],
};

/** A container's inspect as it has to be equal before and after; `exceptions` are those of the way it came back. */
export function comparable(found: RawObject, exceptions: Exceptions): RawObject {
  const id = stringAt(found.Id);
  const config: Json = { ...objectAt(found.Config) };
  const host: Json = { ...objectAt(found.HostConfig) };
  for (const key of everywhere.Config) delete config[key];
  for (const key of everywhere.HostConfig) delete host[key];
  const mode = stringAt(host.NetworkMode);
  if (isHostnameMade(id, stringAt(config.Hostname)) || mode.startsWith("container:")) delete config.Hostname;
  // The command line says "none" with a number, the API with nothing.
  if (host.MemorySwappiness === -1) delete host.MemorySwappiness;
  for (const key of ["OomKillDisable", "PidsLimit", "Init"])
    if (host[key] === false || host[key] === 0) delete host[key];
  // Stand for the default, by another name.
  if (objectAt(host.RestartPolicy).Name === "no") host.RestartPolicy = { ...objectAt(host.RestartPolicy), Name: "" };
  if (mode === "bridge") host.NetworkMode = "default";
  // Others are named by their ids or their names.
  else if (/^[0-9a-f]{64}$/.test(mode) || mode in objectAt(objectAt(found.NetworkSettings).Networks))
    host.NetworkMode = "named";
  // Which variable comes first has no meaning; of two with one name the last counts.
  const variables = new Map(stringsAt(config.Env).map((line) => [line.split("=")[0], line]));
  config.Env = [...variables.values()].toSorted();
  withoutNameless(found, host);
  withoutSynonyms(host);
  if (exceptions === "compose") withoutComposeOwn(config, host);
  // Named by the engine once it is started.
  if (host.Runtime === "runc") delete host.Runtime;
  for (const key of ["CapAdd", "CapDrop"])
    host[key] = stringsAt(host[key])
      .map((each) => each.replace(/^(?:CAP_)?/, "CAP_"))
      .toSorted();
  for (const key of ["SecurityOpt", "Binds"]) host[key] = stringsAt(host[key]).toSorted();
  for (const [key, value] of Object.entries(host)) if (value === "" || value === 0) delete host[key];
  for (const [key, value] of Object.entries(config)) if (value === "") delete config[key];
  return JSON.parse(
    canonical({
      Image: found.Image,
      Config: config,
      HostConfig: unorderedHost(host),
      Networks: networksOf(found, exceptions),
      Mounts: mountsOf(found),
      Running: objectAt(found.State).Running === true,
    }),
  );
}

/** Volumes that nobody has named are asked for by their names, as they are to have their data: what is mounted where is compared. */
function withoutNameless(found: RawObject, host: Json): void {
  const isNameless = (path: string) =>
    listAt(found.Mounts)
      .map(objectAt)
      .some((mount) => mount.Destination === mountPath(path) && /^[0-9a-f]{64}$/.test(volumeName(mount)));
  host.Binds = stringsAt(host.Binds).filter((bind) => !isNameless(bind.split(":")[1] ?? bind));
  host.Mounts = listAt(host.Mounts)
    .map(objectAt)
    .filter((mount) => !isNameless(stringAt(mount.Target)));
}

/** What can be said in two ways. A bind that makes its folder is one: `--mount` of older clients has no word for it. */
function withoutSynonyms(host: Json): void {
  const [made, others] = [[] as RawObject[], [] as RawObject[]];
  for (const mount of listAt(host.Mounts).map(objectAt))
    (objectAt(mount.BindOptions).CreateMountpoint === true ? made : others).push(mount);
  host.Mounts = others;
  host.VolumesFrom = stringsAt(host.VolumesFrom).map((each) => each.replace(/:rw$/, ""));
  host.Binds = [
    ...stringsAt(host.Binds).map((bind) => bind.replace(/:$/, "")),
    ...made.map(({ Source, Target, ReadOnly, BindOptions }) => {
      const options = [...(ReadOnly === true ? ["ro"] : []), stringAt(objectAt(BindOptions).Propagation)];
      return [Source, Target, options.filter((each) => each !== "").join(",")].filter((each) => each !== "").join(":");
    }),
  ];
}

/** Compose writes labels and aliases of its own, and chooses by itself between the two forms of a mount. */
function withoutComposeOwn(config: Json, host: Json): void {
  const labels = Object.entries(objectAt(config.Labels)).filter(([key]) => !key.startsWith("com.docker.compose."));
  config.Labels = Object.fromEntries(labels);
  // By digest too, so that it is exactly this image wherever the file is used.
  config.Image = stringAt(config.Image).replace(/@.*$/, "");
  // What is mounted is compared by the engine's own list.
  for (const key of ["Binds", "Mounts", "Links"]) delete host[key];
  for (const key of ["Volumes", "StdinOnce", "ExposedPorts"]) delete config[key];
}

function networksOf(found: RawObject, exceptions: Exceptions): RawObject {
  const id = stringAt(found.Id).slice(0, 12);
  const networks = Object.entries(objectAt(objectAt(found.NetworkSettings).Networks)).map(([name, value]) => {
    const endpoint = objectAt(value);
    const { Aliases, IPAMConfig, Links, DriverOpts } = endpoint;
    const aliases = stringsAt(Aliases).filter((alias) => alias !== id);
    const links = exceptions === "script" ? { Links } : {};
    return [name, { Aliases: exceptions === "script" ? aliases.toSorted() : [], IPAMConfig, DriverOpts, ...links }];
  });
  return Object.fromEntries(networks);
}

function mountsOf(found: RawObject): RawObject {
  const mounts = listAt(found.Mounts).map(objectAt);
  return Object.fromEntries(
    mounts.map((mount) => {
      const { Type, Source, Destination, Driver, RW, Propagation } = mount;
      return [
        stringAt(Destination),
        { Type, Name: volumeName(mount), Source: Type === "image" ? "" : Source, Driver, RW: RW === true, Propagation },
      ];
    }),
  );
}
