import { closeSync, fsyncSync, openSync, readSync, writeFileSync } from "node:fs";
import { AppError, errorMessage } from "./errors.ts";

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

const copiedBytes = 1024 * 1024;

/** Copies a file into a new one with mode 0600, whatever mode it has itself, so that its content lasts. Throws `EEXIST`. */
export function copyToNewFile(from: string, to: string): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "wx", 0o600);
    try {
      const chunk = Buffer.alloc(copiedBytes);
      for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
        writeFileSync(target, chunk.subarray(0, read));
      }
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Whether something ended because its disk is full: by the code or the words of the file system, or of the database. */
export function isDiskFull(error: unknown): boolean {
  // Not every runtime has the code among the words.
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") return true;
  return /ENOSPC|SQLITE_FULL|disk is full/.test(errorMessage(error));
}

/** What to throw for an error while a file was written: 507 when its disk is full, or else the error as it is. */
export function withoutRoom(error: unknown, what: string): unknown {
  if (!isDiskFull(error) || error instanceof AppError) return error;
  return new AppError("insufficient_storage", 507, `There is no room on the disk for ${what}`, { cause: error });
}
