import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Message, say } from "../../../messages/message.ts";
import { isObject } from "../raw.ts";
import type { ComposeContainer } from "./labels.ts";

/** Per file; compose files are a few kilobytes, and parsing this much takes a second. */
const maxFileBytes = 256 * 1024;
const maxFiles = 20;

export interface SourceFile {
  path: string;
  text: string;
}

/** The files of a project, according to its labels. */
export interface ComposeSources {
  /** In merge order. */
  files: readonly SourceFile[];
  /** Those given with `--env-file`, or the project's `.env` if it has one; later ones win. */
  environment: readonly SourceFile[];
}

export type FoundSources =
  | { sources: ComposeSources; reason: null }
  | { sources: null; path: string | null; reason: Message };

/**
 * Reads the files in the labels if they are visible: often we run in a container, where the host's paths do not exist. Labels are not
 * trusted: only regular files with YAML or JSON names are read, of bounded size, and through no link that leaves both its folder and the
 * project's.
 */
export async function findSources(compose: ComposeContainer): Promise<FoundSources> {
  const { config_files: paths, working_dir: workingDir } = compose;
  const [first] = paths;
  if (first === undefined || workingDir === null) {
    return { sources: null, path: null, reason: say("compose.no_path") };
  }
  if (paths.length + compose.environment_files.length > maxFiles) {
    return { sources: null, path: first, reason: say("compose.too_many_files", { limit: maxFiles }) };
  }
  const files: SourceFile[] = [];
  for (const path of paths) {
    if (!/\.(ya?ml|json)$/i.test(path))
      return { sources: null, path, reason: say("compose.not_named_like_one", { path }) };
    const text = await readSource(path, workingDir);
    if (typeof text !== "string") return { sources: null, path, reason: text.reason };
    files.push({ path, text });
  }
  const named = compose.environment_files;
  const environment: SourceFile[] = [];
  for (const path of named.length > 0 ? named : [join(workingDir, ".env")]) {
    const text = await readSource(path, workingDir);
    if (typeof text === "string") environment.push({ path, text });
    else if (named.length > 0 || !text.is_missing) return { sources: null, path, reason: text.reason };
  }
  return { sources: { files, environment }, reason: null };
}

async function readSource(
  path: string,
  workingDir: string,
): Promise<string | { reason: Message; is_missing: boolean }> {
  const refused = (reason: Message) => ({ reason, is_missing: false });
  if (!path.startsWith("/") || !workingDir.startsWith("/") || hasControl(path))
    return refused(say("compose.not_absolute", { path }));
  try {
    const [real, folder, project] = await Promise.all([
      realpath(path),
      realOrSame(dirname(path)),
      realOrSame(workingDir),
    ]);
    if (!isWithin(real, folder) && !isWithin(real, project)) return refused(say("compose.leads_elsewhere", { path }));
    // No longer a link; opening a pipe would block.
    const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return refused(say("compose.not_regular", { path }));
      const tooLarge = say("compose.too_large", { path, limit: maxFileBytes });
      if (stat.size > maxFileBytes) return refused(tooLarge);
      const bytes = Buffer.alloc(maxFileBytes + 1);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      if (bytesRead > maxFileBytes) return refused(tooLarge);
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = isObject(error) ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return { reason: say("compose.not_visible", { path }), is_missing: true };
    }
    return refused(say(code === "EACCES" || code === "EPERM" ? "compose.not_allowed" : "compose.not_text", { path }));
  }
}

async function realOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isObject(error) && error.code === "ENOENT") return path;
    throw error;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function hasControl(text: string): boolean {
  return [...text].some((letter) => letter < " " || letter === "\x7f");
}
