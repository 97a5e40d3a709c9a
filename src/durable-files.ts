import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { AppError, errorMessage, saidBy } from "./errors.ts";
import { type Message, say } from "./messages/message.ts";

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a file's content to disk, to survive a power failure. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Syncs a folder's names to disk, to survive a power failure: after creating, renaming or removing a file in it. */
export function syncFolder(path: string): void {
  sync(path, "r");
}

/** Writes a new file of mode 0600 and syncs it. Throws `EEXIST` when the name is taken. */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Identifies the content of a file. */
export interface FileFacts {
  size: number;
  sha256: string;
}

export function isSameContent(one: FileFacts, other: FileFacts): boolean {
  return one.size === other.size && one.sha256 === other.sha256;
}

const chunkBytes = 1024 * 1024;

/** Reads a file once from beginning to end. */
export function fileFacts(path: string, onChunk: (chunk: Uint8Array) => void = () => undefined): FileFacts {
  const source = openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const chunk = Buffer.alloc(chunkBytes);
    let size = 0;
    for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
      hash.update(chunk.subarray(0, read));
      onChunk(chunk.subarray(0, read));
      size += read;
    }
    return { size, sha256: hash.digest("hex") };
  } finally {
    closeSync(source);
  }
}

/** Copies a file into a new one of mode 0600, whatever its own mode, and syncs it. Returns what was copied. Throws `EEXIST`. */
export function copyToNewFile(from: string, to: string): FileFacts {
  const target = openSync(to, "wx", 0o600);
  try {
    const facts = fileFacts(from, (chunk) => writeFileSync(target, chunk));
    fsyncSync(target);
    return facts;
  } finally {
    closeSync(target);
  }
}

/** Renames a file or folder within its folder and syncs the folder. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Whether the name exists. A dangling link does not; a name that cannot be checked throws. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Removes files and folders after an error, which is the one to report: failures to remove are ignored. Returns the removed ones. */
export function removeLeft(paths: Iterable<string>): readonly string[] {
  const stayed: string[] = [];
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      stayed.push(path);
    }
  }
  return stayed;
}

/** Whether the disk was full: by the code or message of the file system, or of the database. */
export function isDiskFull(error: unknown): boolean {
  // Not every runtime has the code in the message.
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") return true;
  return /ENOSPC|SQLITE_FULL|disk is full/.test(errorMessage(error));
}

/** The error to throw after a failed write: 507 with `said` when the disk is full, else the error itself. */
export function withoutRoom(error: unknown, said: Message): unknown {
  if (!isDiskFull(error) || error instanceof AppError) return error;
  return new AppError("insufficient_storage", 507, said, { cause: error });
}

/** Checks whether files can be created in a folder; throws the system's error. */
export function assertWritableFolder(folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Why a folder named by a variable cannot be used, and what to do; our own errors stay unchanged. */
export function unusableFolder(folder: Message, variable: string, cause: unknown) {
  if (cause instanceof AppError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const told = (said: Message) => new AppError("folder_unusable", 500, said, { cause });
  if (isDiskFull(cause)) return told(say("files.folder_on_full_disk", { folder }));
  if (code === "EROFS") return told(say("files.folder_read_only", { folder, variable }));
  if (code === "EACCES" || code === "EPERM") return told(say("files.folder_forbidden", { folder, variable }));
  if (code === "EEXIST" || code === "ENOTDIR") return told(say("files.folder_not_one", { folder, variable }));
  if (code === "ENOENT") return told(say("files.folder_missing", { folder, variable }));
  return told(say("files.folder_unusable", { folder, variable, cause: saidBy(cause) }));
}
