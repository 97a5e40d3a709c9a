import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyDatabase } from "../db/copy-database.ts";
import type { CopyFacts } from "../db/copy-here.ts";
import { AppError } from "../errors.ts";
import { storedKeyIds } from "../secrets/keys.ts";
import { databaseName, keysName, syncFolder } from "./folder.ts";

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

/** Writes whole, synced and 0600, under a name that nobody reads before. */
function copyKeys(from: string, to: string): void {
  const descriptor = openSync(to, "wx", 0o600);
  try {
    writeFileSync(descriptor, readFileSync(from));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

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
      copyKeys(keys.file, temporaryKeys);
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
