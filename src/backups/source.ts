import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { copyToNewFile, fileFacts, isThere } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { databaseName, keysName, walName } from "./folder.ts";
import { assertAsWritten, damagedBackup, type Manifest, manifestName, readManifest } from "./manifest.ts";

/** What a restore reads. */
export interface BackupSource {
  /** The given path: a folder, or a single database file. */
  path: string;
  database: string;
  /** A cold copy of a data directory may have its newest rows there. */
  wal: string | null;
  keys: string | null;
  /** Null without checksums. */
  manifest: Manifest | null;
}

export function refusal(said: Message, cause?: unknown): AppError {
  return new AppError("restore_refused", 409, said, { cause });
}

/** The log beside a database; null for an empty one, which appears whenever the database is opened. */
export function walOf(database: string): string | null {
  const path = `${database}-wal`;
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 ? path : null;
}

/** Finds the parts of a backup; throws when one is missing, or one was not written with it. */
export function findSource(path: string): BackupSource {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw refusal(say("backups.not_found", { source: path }));
  const isFolder = !stat.isFile();
  const database = isFolder ? join(path, databaseName) : path;
  if (!isThere(database)) {
    throw refusal(say("backups.folder_without_database", { source: path, name: databaseName }));
  }
  const folder = dirname(database);
  const manifest = basename(database) === databaseName ? readManifest(folder) : null;
  const wal = walOf(database);
  const keys = isFolder && isThere(join(folder, keysName)) ? join(folder, keysName) : null;
  const isListed = (name: string) => manifest?.files.some((file) => file.name === name) ?? false;
  const missing = (isFolder ? [databaseName, walName, keysName] : [databaseName, walName]).find(
    (name) => isListed(name) && !isThere(join(folder, name)),
  );
  if (missing !== undefined) throw damagedBackup(say("backups.incomplete", { source: path, name: missing }));
  if (manifest !== null && !isListed(databaseName)) {
    throw damagedBackup(say("backups.manifest_incomplete", { path: join(folder, manifestName), name: databaseName }));
  }
  if (manifest !== null && wal !== null && !isListed(walName)) {
    throw damagedBackup(say("backups.surplus_file", { source: path, path: wal }));
  }
  return { path, database, wal, keys, manifest };
}

/** Copies one file of a backup and verifies the copy against the manifest. */
export function copyFromSource({ manifest }: BackupSource, from: string, to: string): void {
  const facts = copyToNewFile(from, to);
  if (manifest !== null) assertAsWritten(manifest, basename(from), from, facts);
}

/** The same check for a file that is not copied. */
export function checkInSource({ manifest }: BackupSource, path: string): void {
  if (manifest !== null) assertAsWritten(manifest, basename(path), path, fileFacts(path));
}
