import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { copyDatabase } from "../db/copy-database.ts";
import type { CopyFacts } from "../db/copy-here.ts";
import { syncFolder, writeNewFile } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { storedKeyIds } from "../secrets/keys.ts";
import { backupName, backupsFolder, databaseName, keysName } from "./folder.ts";

export interface BackupKeys {
  /** Our own key file. */
  file: string;
  /** False when the environment holds the encryption key: then what the file has of it says nothing. */
  opens_data: boolean;
}

export interface WriteBackupOptions {
  database: string;
  /** The key file to go with it; null to leave the keys out. */
  keys: BackupKeys | null;
  /** An existing folder without a backup in it. */
  folder: string;
}

// A rotation that runs at the same moment replaces the key file at most three times.
const attempts = 5;

/** Whether a copy of a key file opens a copy of a database. */
function belongTogether(keyFile: string, facts: CopyFacts): boolean {
  const ids = storedKeyIds(keyFile);
  return facts.encryption_key_id === null || ids === null || ids.includes(facts.encryption_key_id);
}

/**
 * Writes a consistent backup while the service runs; a file has its name only once it is complete. Database and keys belong together,
 * also when a rotation of the keys goes on meanwhile. Leaves nothing behind when it throws.
 */
export async function writeBackup({ database, keys, folder }: WriteBackupOptions): Promise<readonly string[]> {
  const files = [databaseName, keysName].map((name) => join(folder, name));
  const [databaseCopy = "", keysCopy = ""] = files;
  const [temporaryDatabase, temporaryKeys] = [`${databaseCopy}.tmp`, `${keysCopy}.tmp`];
  const clear = () => {
    for (const path of [temporaryDatabase, temporaryKeys, `${temporaryDatabase}-journal`])
      rmSync(path, { force: true });
  };
  try {
    for (let attempt = 1; ; attempt += 1) {
      clear();
      const facts = await copyDatabase(database, temporaryDatabase);
      if (keys === null || !existsSync(keys.file)) break;
      // After the database: the file of a rotation that went on meanwhile still has the key before.
      writeNewFile(temporaryKeys, readFileSync(keys.file));
      if (!keys.opens_data || belongTogether(temporaryKeys, facts)) break;
      if (attempt === attempts) {
        throw new AppError(
          "backup_failed",
          500,
          "The keys were changed each time that the database was copied; try again",
        );
      }
    }
    renameSync(temporaryDatabase, databaseCopy);
    if (!existsSync(temporaryKeys)) return [databaseCopy];
    renameSync(temporaryKeys, keysCopy);
    return [databaseCopy, keysCopy];
  } finally {
    clear();
    syncFolder(folder);
  }
}

/** A copy of the database alone, before migrations change it. One that was made at the same instant is kept as it is. */
export async function backupBeforeUpgrade(database: string, dataDir: string, now: number): Promise<void> {
  const folder = backupsFolder(dataDir);
  const path = join(folder, `${backupName("before-upgrade", now)}.db`);
  if (existsSync(path)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.tmp`;
  rmSync(temporary, { force: true });
  try {
    await copyDatabase(database, temporary);
    renameSync(temporary, path);
    syncFolder(folder);
  } finally {
    rmSync(temporary, { force: true });
  }
}
