import { parseInstant } from "../../../clock.ts";
import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import type { Refusal } from "../../target.ts";
import { type EngineClient, isMissing } from "../client.ts";
import { type ContainerInspect, type FileChange, nameOf, type PathStat } from "../objects.ts";
import { type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { EngineRequest } from "../transport.ts";
import { composeOf } from "./labels.ts";
import { readTar, type TarFile, writeTar } from "./tar.ts";

/** The paths of files that we put into a container, as a JSON list. */
export const carriedFilesLabel = "tidemark.files";

/** For all files of a container; compose's own are a few kilobytes. */
const maxBytes = 1024 * 1024;
const maxFiles = 200;
/** How many changed paths are inspected; each takes one to two milliseconds. */
const maxLooks = 4000;
const looksAtOnce = 8;
/** Overhead of an archive with one file. */
const archiveOverheadBytes = 16 * 1024;
/** Compose stamps the files with its own machine's clock, which may differ from the engine's. */
const clockToleranceMs = 60_000;

/** A file that compose wrote into a container's own layer. Its content is secret and only in the archive. */
export interface InjectedFile {
  path: string;
  size_bytes: number;
}

export interface InjectedFiles {
  files: readonly InjectedFile[];
  /** Why they cannot be carried; empty when they can. */
  refusals: readonly Refusal[];
}

const none: InjectedFiles = { files: [], refusals: [] };

/**
 * Finds what compose put into a container through the archive API: `configs` with `content`, `secrets` from the environment. No mount or
 * label names such a file: it is a file of the container's own layer with a time in whole seconds (as in a tar header) between the
 * container's creation and its last start, because compose writes it just before the start. Includes those that we carried before, which a
 * label names. Reads no content. Containers without compose's labels have none.
 */
export async function findInjectedFiles(client: EngineClient, container: ContainerInspect): Promise<InjectedFiles> {
  if (composeOf(container) === null) return none;
  try {
    const carried = carriedPaths(container);
    const paths = [...new Set([...candidates(await client.changes(container.Id), container), ...carried])];
    if (paths.length > maxLooks) return { files: [], refusals: [tooMany(container, paths.length)] };
    const files: InjectedFile[] = [];
    const look = async () => {
      for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
        const stat = await statOrNull(client, container.Id, path);
        if (stat === null || !isRegular(stat)) continue;
        if (carried.has(path) || isWrittenByCompose(stat, container)) files.push({ path, size_bytes: stat.size });
      }
    };
    await Promise.all(Array.from({ length: Math.min(looksAtOnce, paths.length) }, look));
    const sorted = files.sort((left, right) => (left.path < right.path ? -1 : 1));
    return { files: sorted, refusals: sizeRefusals(container, sorted) };
  } catch (error) {
    if (!(error instanceof PluginError) || error.code === "unreachable" || error.code === "not_found") throw error;
    return { files: [], refusals: [unreadable(container, error)] };
  }
}

/** Their content as a tar archive with absolute paths, for `writeInjectedFiles`; null when there are none. Secret. */
export async function readInjectedFiles(
  client: EngineClient,
  id: string,
  files: readonly InjectedFile[],
): Promise<Uint8Array | null> {
  if (files.length === 0) return null;
  const found: TarFile[] = [];
  let left = maxBytes;
  for (const { path } of files) {
    const [file, ...others] = await readTar(await client.readArchive(id, path, left + archiveOverheadBytes));
    if (file === undefined || others.length > 0 || file.path !== path.slice(path.lastIndexOf("/") + 1)) {
      throw new PluginError("rejected", say("refusals.file_changed", { path }));
    }
    left -= file.content.length;
    if (left < 0) throw new PluginError("rejected", say("refusals.files_over_limit", { path, bytes: maxBytes }));
    found.push({ ...file, path });
  }
  return await writeTar(found);
}

/**
 * Writes them into a container that was created but not started, and reads them back. Throws `rejected` with the paths that differ
 * (content, mode, owner).
 */
export async function writeInjectedFiles(client: EngineClient, id: string, archive: Uint8Array): Promise<void> {
  const wanted = await readTar(archive);
  const isOther = wanted.length === 0 && archive.some((byte) => byte !== 0);
  if (isOther || wanted.some((file) => !isSafePath(file.path)))
    throw new PluginError("rejected", say("refusals.file_path_escapes"));
  if (wanted.length === 0) return;
  await client.writeArchive(id, archive);
  const wrong: string[] = [];
  for (const file of wanted) {
    const [is] = await readTar(await client.readArchive(id, file.path, file.content.length + archiveOverheadBytes));
    if (is === undefined || !isSameFile(is, file)) wrong.push(file.path);
  }
  if (wrong.length === 0) return;
  throw new PluginError(
    "rejected",
    say("refusals.files_not_written", { paths: wrong.slice(0, 10).map((path) => path.slice(0, 200)) }),
  );
}

/** The label by which the next update finds them; none for no files. */
export async function carriedFilesLabels(archive: Uint8Array | null): Promise<RawObject> {
  const paths = archive === null ? [] : (await readTar(archive)).map((file) => file.path);
  return paths.length === 0 ? {} : { [carriedFilesLabel]: JSON.stringify(paths) };
}

/** The end of every archive. */
const emptyArchive = new Uint8Array(1024);

/** Calls that test whether the API allows these requests, on a container that does not exist. */
export function injectedFileProbes(nothing: string): readonly Omit<EngineRequest, "deadlineMs">[] {
  const path = `/containers/${nothing}/archive`;
  return [
    { method: "GET", path, query: { path: "/" } },
    { method: "PUT", path, query: { path: "/" }, archive: emptyArchive },
  ];
}

async function statOrNull(client: EngineClient, id: string, path: string): Promise<PathStat | null> {
  try {
    return await client.statPath(id, path);
  } catch (error) {
    // Gone since, or hidden: engines return 404 for both.
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Files that engines themselves write, or mount over, at each start. */
const enginePaths = new Set([
  "/.dockerenv",
  "/etc/hostname",
  "/etc/hosts",
  "/etc/mtab",
  "/etc/resolv.conf",
  "/run/.containerenv",
]);
const removed = 2;

function candidates(changes: readonly FileChange[], container: ContainerInspect): readonly string[] {
  const present = changes.filter((each) => each.Kind !== removed).map((each) => each.Path);
  const folders = new Set(present.map((path) => path.slice(0, path.lastIndexOf("/"))));
  const mounted = (container.Mounts ?? []).map((mount) => stringAt(mount.Destination));
  return present.filter((path) => {
    const isMounted = mounted.some((place) => path === place || path.startsWith(`${place}/`));
    return isSafePath(path) && !folders.has(path) && !isMounted && !enginePaths.has(path);
  });
}

function carriedPaths(container: ContainerInspect): ReadonlySet<string> {
  const label = stringMapAt(container.Config.Labels)[carriedFilesLabel];
  if (label === undefined) return new Set();
  try {
    return new Set(stringsAt(JSON.parse(label)).filter(isSafePath).slice(0, maxFiles));
  } catch {
    // A label that is not JSON is not ours.
    return new Set();
  }
}

/** Absolute and plain: no `.` or `..`, no empty parts, no control characters. */
export function isSafePath(path: string): boolean {
  if (path.length < 2 || path.length > 4096 || !path.startsWith("/")) return false;
  if ([...path].some((letter) => letter < " " || letter === "\x7f")) return false;
  return path
    .slice(1)
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");
}

/** Go's bits for a directory, link, device, pipe, socket and anything else but a regular file. */
const otherKinds = (1 << 31) | (1 << 27) | (1 << 26) | (1 << 25) | (1 << 24) | (1 << 21) | (1 << 19);

function isRegular(stat: PathStat): boolean {
  return (stat.mode & otherKinds) === 0;
}

function isWrittenByCompose(stat: PathStat, container: ContainerInspect): boolean {
  const created = parseInstant(stringAt(container.Created));
  const written = parseInstant(stat.mtime);
  // Compose writes no empty files, and engines report nanoseconds where there are any.
  if (stat.size === 0 || created === null || written === null || /\d\.\d/.test(stat.mtime)) return false;
  if (written < created - clockToleranceMs) return false;
  const started = parseInstant(container.State.StartedAt ?? "");
  return started === null || started < created || written <= started + clockToleranceMs;
}

function isSameFile(left: TarFile, right: TarFile): boolean {
  const isSameOwner = left.uid === right.uid && left.gid === right.gid;
  return isSameOwner && left.mode === right.mode && Buffer.compare(left.content, right.content) === 0;
}

function sizeRefusals(container: ContainerInspect, files: readonly InjectedFile[]): readonly Refusal[] {
  const bytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
  if (bytes <= maxBytes && files.length <= maxFiles) return [];
  const largest = [...files].sort((left, right) => right.size_bytes - left.size_bytes).slice(0, 3);
  return [
    {
      code: "injected_files_too_large",
      message: say("refusals.files_too_large", {
        name: nameOf(container),
        files: files.length,
        bytes,
        most_files: maxFiles,
        most_bytes: maxBytes,
        largest: largest.map((file) => file.path.slice(0, 120)),
      }),
    },
  ];
}

function tooMany(container: ContainerInspect, count: number): Refusal {
  return {
    code: "injected_files_unknown",
    message: say("refusals.files_too_many", { name: nameOf(container), files: count, limit: maxLooks }),
  };
}

function unreadable(container: ContainerInspect, error: PluginError): Refusal {
  return {
    code: "injected_files_unreadable",
    message: say("refusals.files_unreadable", { name: nameOf(container), cause: error.said }),
  };
}
