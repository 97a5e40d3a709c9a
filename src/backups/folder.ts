import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isThere, removeLeft, renameDurably, syncFolder, withoutRoom } from "../durable-files.ts";
import { AppError, saidBy } from "../errors.ts";
import { say } from "../messages/message.ts";
import { manifestName } from "./manifest.ts";
import { type BackupKind, type BackupView, backupKinds } from "./schema.ts";

/** The files of a backup, named as in a data directory. */
export const databaseName = "tidemark.db";
export const walName = `${databaseName}-wal`;
export const keysName = "keys.json";

/** Where the service keeps its own backups. */
export function backupsFolder(dataDir: string): string {
  return join(dataDir, "backups");
}

/** `manual-1700000000000`: reason and time, in milliseconds UTC. */
function backupName(kind: BackupKind, at: number): string {
  return `${kind}-${at}`;
}

const pattern = new RegExp(`^(${backupKinds.join("|")})-(\\d{1,15})(\\.db)?$`);

/** Null for any other name, so that no other name is joined to a path. */
function parseBackupName(name: string): { kind: BackupKind; at: number } | null {
  const [, kindText, at, file] = pattern.exec(name) ?? [];
  const kind = backupKinds.find((known) => known === kindText);
  // Earlier versions wrote each pre-upgrade backup as one file.
  if (kind === undefined || (file !== undefined && kind !== "before-upgrade")) return null;
  return { kind, at: Number(at) };
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : 0;
}

/** The backup of this name; null when there is none. */
export function findBackup(dataDir: string, name: string): BackupView | null {
  const parsed = parseBackupName(name);
  if (parsed === null) return null;
  const path = join(backupsFolder(dataDir), name);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile() !== name.endsWith(".db")) return null;
  const view = { name, kind: parsed.kind, created_at: parsed.at, path };
  if (stat.isFile()) return { ...view, size_bytes: stat.size, has_keys: false, has_checksums: false };
  const sizes = [databaseName, walName, keysName].map((file) => sizeOf(join(path, file)));
  return {
    ...view,
    size_bytes: sizes.reduce((sum, size) => sum + size, 0),
    has_keys: existsSync(join(path, keysName)),
    has_checksums: existsSync(join(path, manifestName)),
  };
}

/** Every complete backup, newest first. */
export function findBackups(dataDir: string): BackupView[] {
  const folder = backupsFolder(dataDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => findBackup(dataDir, name))
    .filter((found) => found !== null)
    .toSorted((a, b) => b.created_at - a.created_at || a.name.localeCompare(b.name));
}

/** Removes what a crash left of a backup being made or deleted: a backup counts once its folder has its name. */
export function clearUnfinishedBackups(dataDir: string): void {
  const folder = backupsFolder(dataDir);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    // SQLite names its own files after the database.
    const [, made] = /^(.+)\.tmp(?:-journal)?$/.exec(name) ?? [];
    if (made !== undefined && parseBackupName(made) !== null)
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Creates the folder of our backups, following links. */
function makeBackupsFolder(dataDir: string): string {
  const folder = backupsFolder(dataDir);
  if (isThere(folder)) return folder;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new AppError(
      "backups_folder",
      409,
      say("backups.folder_not_created", { path: folder, cause: saidBy(error) }),
      { cause: error },
    );
  }
  syncFolder(dataDir);
  return folder;
}

interface BackupSteps {
  fill(folder: string, createdAt: number): Promise<void> | void;
  /** Calls `giveName`, any number of times, once the backup may count. */
  complete?(giveName: () => BackupView): Promise<void>;
}

/** Makes a complete backup: its folder gets its name only once everything is written. Leaves nothing behind when a step throws. */
export async function makeBackup(
  dataDir: string,
  kind: BackupKind,
  now: number,
  { fill, complete }: BackupSteps,
): Promise<BackupView> {
  const folder = makeBackupsFolder(dataDir);
  clearUnfinishedBackups(dataDir);
  let at = now;
  while (isThere(join(folder, backupName(kind, at)))) at += 1;
  const path = join(folder, backupName(kind, at));
  const unfinished = `${path}.tmp`;
  const giveName = (): BackupView => {
    if (isThere(unfinished)) renameDurably(unfinished, path);
    const made = findBackup(dataDir, backupName(kind, at));
    if (made === null) throw new Error(`The backup "${path}" is gone as soon as it was made`);
    return made;
  };
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    await fill(unfinished, at);
    syncFolder(unfinished);
    await complete?.(giveName);
    return giveName();
  } catch (error) {
    removeLeft([unfinished, path]);
    throw withoutRoom(error, say("files.no_room_for_backup"));
  }
}
