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

/** Makes the content of a file last through a power failure. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Makes the names in a folder last through a power failure: after a file was made, renamed or removed in it. */
export function syncFolder(path: string): void {
  sync(path, "r");
}

/** Writes a new file whole, with mode 0600, so that its content lasts. Throws `EEXIST` when the name is taken. */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What tells the content of a file from any other. */
export interface FileFacts {
  size: number;
  sha256: string;
}

export function isSameContent(one: FileFacts, other: FileFacts): boolean {
  return one.size === other.size && one.sha256 === other.sha256;
}

const chunkBytes = 1024 * 1024;

/** Reads a file once, from its beginning to its end. */
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

/**
 * Copies a file into a new one with mode 0600, whatever mode it has itself, so that its content lasts. Returns what was copied. Throws
 * `EEXIST`.
 */
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

/** Gives a file or folder its final name, in the same folder, so that it lasts. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Whether something has this name. A link that leads nowhere has none; what cannot be looked at throws. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Removes files and folders after a fault, which is what is told: one that cannot be removed stays. Returns those that did. */
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

/** Whether something ended because its disk is full: by the code or the words of the file system, or of the database. */
export function isDiskFull(error: unknown): boolean {
  // Not every runtime has the code among the words.
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") return true;
  return /ENOSPC|SQLITE_FULL|disk is full/.test(errorMessage(error));
}

/** What to throw for an error while a file was written: 507 with `said` when its disk is full, or else the error as it is. */
export function withoutRoom(error: unknown, said: Message): unknown {
  if (!isDiskFull(error) || error instanceof AppError) return error;
  return new AppError("insufficient_storage", 507, said, { cause: error });
}

/** Looks whether files can be made in a folder; throws what the system says. */
export function assertWritableFolder(folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Why a folder that a variable names cannot be used, and what to do; an error of ours stays as it is. */
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
