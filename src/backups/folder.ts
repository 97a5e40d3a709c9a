import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BackupKind, type BackupView, backupKinds } from "./schema.ts";

/** What a backup's folder holds: the same names as in a data directory. */
export const databaseName = "tidemark.db";
export const keysName = "keys.json";

/** Where the service keeps its own backups. */
export function backupsFolder(dataDir: string): string {
  return join(dataDir, "backups");
}

/** `manual-1700000000000`: why and when, in milliseconds UTC. */
export function backupName(kind: BackupKind, at: number): string {
  return `${kind}-${at}`;
}

const pattern = new RegExp(`^(${backupKinds.join("|")})-(\\d{1,15})(\\.db)?$`);

/** Null for whatever is not a name of ours: nothing else is ever joined to a path. */
export function parseBackupName(name: string): { kind: BackupKind; at: number } | null {
  const [, kindText, at, file] = pattern.exec(name) ?? [];
  const kind = backupKinds.find((known) => known === kindText);
  // Those before an upgrade are a file each: they never have keys.
  if (kind === undefined || (file !== undefined) !== (kind === "before-upgrade")) return null;
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
  if (stat === undefined) return null;
  const view = { name, kind: parsed.kind, created_at: parsed.at, path };
  if (stat.isFile()) return { ...view, size_bytes: stat.size, has_keys: false };
  const files = [databaseName, `${databaseName}-wal`, keysName].map((file) => sizeOf(join(path, file)));
  return {
    ...view,
    size_bytes: files.reduce((sum, size) => sum + size, 0),
    has_keys: existsSync(join(path, keysName)),
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
