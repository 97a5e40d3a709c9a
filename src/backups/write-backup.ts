import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { copyDatabase } from "../db/copy-database.ts";
import type { CopyFacts } from "../db/copy-here.ts";
import { fileFacts, removeLeft, syncFolder, writeNewFile } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { storedKeyIds } from "../secrets/keys.ts";
import { databaseName, keysName, makeBackup } from "./folder.ts";
import { type ManifestFile, manifestName, writeManifest } from "./manifest.ts";

export interface BackupKeys {
  /** Our key file. */
  file: string;
  /** False when the environment provides the encryption key: then the file's key is irrelevant. */
  opens_data: boolean;
}

export interface WriteBackupOptions {
  database: string;
  /** The key file to include; null to leave the keys out. */
  keys: BackupKeys | null;
  /** An existing folder without a backup in it. */
  folder: string;
  created_at: number;
}

// A concurrent rotation replaces the key file at most three times.
const attempts = 5;

/** Whether a copy of a key file opens a copy of a database. */
function belongTogether(keyFile: string, facts: CopyFacts): boolean {
  const ids = storedKeyIds(keyFile);
  return facts.encryption_key_id === null || ids === null || ids.includes(facts.encryption_key_id);
}

/**
 * Writes a consistent backup of the running service, with checksums. The database gets its name last; without it the folder is no backup.
 * Database and keys match, even during a rotation. Leaves nothing behind when it throws.
 */
export async function writeBackup({ database, keys, folder, created_at }: WriteBackupOptions): Promise<string[]> {
  const names = [keysName, manifestName, databaseName];
  const place = (name: string) => join(folder, name);
  const temporary = (name: string) => `${place(name)}.tmp`;
  const clear = () => {
    for (const name of names) rmSync(temporary(name), { force: true });
    rmSync(`${temporary(databaseName)}-journal`, { force: true });
  };
  const placed: string[] = [];
  try {
    let files: readonly ManifestFile[] = [];
    let migrations = 0;
    for (let attempt = 1; ; attempt += 1) {
      clear();
      const facts = await copyDatabase(database, temporary(databaseName));
      migrations = facts.migrations;
      files = [{ name: databaseName, size: facts.size, sha256: facts.sha256 }];
      if (keys === null || !existsSync(keys.file)) break;
      // After the database: during a rotation the file still has the previous key.
      writeNewFile(temporary(keysName), readFileSync(keys.file));
      files = [...files, { name: keysName, ...fileFacts(temporary(keysName)) }];
      if (!keys.opens_data || belongTogether(temporary(keysName), facts)) break;
      if (attempt === attempts) {
        throw new AppError("backup_failed", 500, say("backups.keys_kept_changing"));
      }
    }
    writeManifest(temporary(manifestName), { created_at, migrations, files });
    for (const name of names.filter((each) => existsSync(temporary(each)))) {
      renameSync(temporary(name), place(name));
      placed.push(place(name));
    }
    syncFolder(folder);
    return placed;
  } catch (error) {
    removeLeft(placed);
    throw error;
  } finally {
    clear();
  }
}

/** A backup of only the database, before migrations change it. */
export async function backupBeforeUpgrade(database: string, dataDir: string, now: number): Promise<void> {
  await makeBackup(dataDir, "before-upgrade", now, {
    fill: async (folder, created_at) => {
      await writeBackup({ database, keys: null, folder, created_at });
    },
  });
}
