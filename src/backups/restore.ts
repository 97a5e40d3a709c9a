import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client/sqlite3";
import { inspectDatabaseFile, knownMigrations } from "../db/migrate.ts";
import { everySealedValue } from "../db/sealed-columns.ts";
import { copyToNewFile, syncFile } from "../durable-files.ts";
import { AppError, errorMessage } from "../errors.ts";
import { newId } from "../ids.ts";
import { assertKeyOpens } from "../secrets/assert-key-opens.ts";
import { type Keys, keyFilePath, loadKeys } from "../secrets/keys.ts";
import { databaseName, keysName } from "./folder.ts";
import { clearStaged, finishRestore, stagedDatabase, stagedKeys, writeRestoreNote } from "./place-restored.ts";

export interface RestoreOptions {
  /** A backup's folder, or a database file alone. */
  source: string;
  data_dir: string;
  database_file: string;
  /** The migrations that this program knows. */
  migrations_folder: string;
  /** As in the environment: they win over what the backup has. */
  keys_file: string | null;
  session_key: string | null;
  encryption_key: string | null;
  now: number;
}

export interface Restored {
  encryption_key_id: string | null;
  with_keys: boolean;
  /** Where the files are that were replaced. */
  replaced: string;
}

function refuse(message: string, cause?: unknown): AppError {
  return new AppError("restore_refused", 409, message, { cause });
}

function findSource(source: string): { database: string; keys: string | null } {
  const stat = statSync(source, { throwIfNoEntry: false });
  if (stat === undefined) throw refuse(`There is no backup "${source}"`);
  if (stat.isFile()) return { database: source, keys: null };
  const database = join(source, databaseName);
  if (!existsSync(database))
    throw refuse(`The folder "${source}" has no "${databaseName}": it is no backup of Tidemark`);
  const keys = join(source, keysName);
  return { database, keys: existsSync(keys) ? keys : null };
}

async function one(client: Client, sql: string): Promise<unknown> {
  return (await client.execute(sql)).rows[0]?.[0];
}

/** Looks at the copy as a start would, before anything is replaced. Returns the id of the key that it is encrypted with. */
async function judgeDatabase(client: Client, source: string, migrationsFolder: string): Promise<string | null> {
  const integrity = await one(client, "PRAGMA integrity_check(1)");
  if (integrity !== "ok") throw refuse(`The backup "${source}" is damaged: ${String(integrity)}`);
  const tables = await one(
    client,
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('migrations', 'installation', 'administrators', 'sessions')",
  );
  if (tables !== 4) throw refuse(`The file "${source}" is not a database of Tidemark`);
  const known = knownMigrations(migrationsFolder);
  const applied = (await client.execute("SELECT tag FROM migrations ORDER BY idx")).rows.map((row) => String(row[0]));
  if (applied.length > known.length || applied.some((tag, index) => tag !== known[index]?.tag)) {
    throw refuse(
      `The backup "${source}" has ${applied.length} migrations and this version of Tidemark knows ${known.length}: it was written by a newer version; restore it with that one`,
    );
  }
  const knownAdministrators = await one(
    client,
    "SELECT count(*) FROM administrators a JOIN installation i ON i.key = 'administrator_id' AND i.value = a.id",
  );
  if (knownAdministrators !== 1) throw refuse(`The backup "${source}" has no administrator; choose another one`);
  const administrators = await one(client, "SELECT count(*) FROM administrators");
  if (administrators !== 1) {
    throw refuse(
      `The backup "${source}" has ${String(administrators)} administrators, it must have 1; choose another one`,
    );
  }
  const id = await one(client, "SELECT value FROM installation WHERE key = 'encryption_key_id'");
  return typeof id === "string" ? id : null;
}

/** The keys that the next start would find. Throws when they are not there. */
function judgeKeys(options: RestoreOptions, keyFile: string): Keys {
  const { session_key, encryption_key } = options;
  const needsFile = session_key === null || encryption_key === null;
  if (needsFile && !existsSync(keyFile)) {
    throw refuse(
      `There are no keys for this backup: it has none, and there is no key file "${keyFile}"; put the "keys.json" that belongs to it beside its database, or set ENCRYPTION_KEY and SESSION_KEY`,
    );
  }
  return loadKeys({
    ...{ data_dir: options.data_dir, keys_file: keyFile, session_key, encryption_key },
    has_encrypted_rows: true,
  });
}

/** Whether the next start would find that they open the copy. */
async function judgeFit(keys: Keys, staged: string, storedKeyId: string | null): Promise<void> {
  const client = createClient({ url: `file:${staged}` });
  try {
    await assertKeyOpens(keys.encryption, storedKeyId, everySealedValue(client));
  } finally {
    client.close();
  }
}

/** What ended after the backup was made must not begin again with it: sign-ins and API tokens that were revoked since. */
async function endSessions(client: Client, now: number): Promise<void> {
  await client.batch(
    [
      "DELETE FROM sessions",
      "UPDATE administrators SET session_epoch = session_epoch + 1",
      {
        sql: "INSERT INTO audit_entries (id, event, outcome, actor, detail, at) VALUES (?, 'database_restored', 'ok', 'command line', '{}', ?)",
        args: [newId(now), now],
      },
    ],
    "write",
  );
}

async function stageDatabase(options: RestoreOptions, database: string): Promise<string | null> {
  const staged = stagedDatabase(options.database_file);
  copyToNewFile(database, staged);
  // A cold copy of a data directory may have its newest rows there.
  if (existsSync(`${database}-wal`)) copyToNewFile(`${database}-wal`, `${staged}-wal`);
  const client = createClient({ url: `file:${staged}` });
  try {
    const id = await judgeDatabase(client, database, options.migrations_folder);
    await endSessions(client, options.now);
    // All in one file again.
    await client.execute("PRAGMA journal_mode = DELETE");
    return id;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw refuse(`The backup "${database}" cannot be read (${errorMessage(error)})`, error);
  } finally {
    client.close();
  }
}

/** Nothing of a restore that was interrupted gets lost: it is finished, and what it brought is put aside as well. */
function finishFormer(dataDir: string): void {
  try {
    finishRestore(dataDir);
  } catch (error) {
    // Its note will be replaced; what it put aside and what it was made from are still there.
    if (!(error instanceof AppError) || error.code !== "damaged_restore") throw error;
  }
}

/**
 * Replaces database and keys by those of a backup. Hold the data directory's lock: nobody may have the files open. All of it is judged
 * first, and nothing is touched when it is refused; then everything is replaced, or after a crash the next start does the rest.
 * What was replaced is kept. Every sign-in and API token ends.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { data_dir, database_file } = options;
  const source = findSource(options.source);
  const isSame = (path: string) => existsSync(path) && realpathSync(path) === realpathSync(source.database);
  if (isSame(database_file)) throw refuse(`"${source.database}" is the database in use itself; name a backup`);
  finishFormer(data_dir);
  clearStaged(data_dir, database_file);
  const withKeys = source.keys !== null && options.keys_file === null;
  const stage = async (): Promise<string | null> => {
    inspectDatabaseFile(source.database, { keys: null, was_used: false });
    const id = await stageDatabase(options, source.database);
    const keys = judgeKeys(options, options.keys_file ?? source.keys ?? keyFilePath(data_dir));
    await judgeFit(keys, stagedDatabase(database_file), id);
    syncFile(stagedDatabase(database_file));
    if (withKeys && source.keys !== null) copyToNewFile(source.keys, stagedKeys(data_dir));
    return id;
  };
  const storedKeyId = await stage().catch((error: unknown) => {
    clearStaged(data_dir, database_file);
    throw error;
  });
  writeRestoreNote(data_dir, { format: 1, at: options.now, database_file, with_keys: withKeys });
  const replaced = finishRestore(data_dir) ?? "";
  return { encryption_key_id: storedKeyId, with_keys: withKeys, replaced };
}
