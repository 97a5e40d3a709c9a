import type { Client } from "@libsql/client/sqlite3";
import { schemaDifference } from "../db/expected-schema.ts";
import { knownMigrations } from "../db/migrate.ts";
import { everySealedValue } from "../db/sealed-columns.ts";
import { isThere } from "../durable-files.ts";
import { say } from "../messages/message.ts";
import { assertKeyOpens, opener } from "../secrets/assert-key-opens.ts";
import { type Keys, loadKeys } from "../secrets/keys.ts";
import { damagedBackup } from "./manifest.ts";
import { refusal } from "./source.ts";

async function one(client: Client, sql: string): Promise<unknown> {
  return (await client.execute(sql)).rows[0]?.[0];
}

async function assertWhole(client: Client, source: string): Promise<void> {
  const integrity = await one(client, "PRAGMA integrity_check(1)");
  if (integrity !== "ok") throw damagedBackup(say("backups.database_damaged", { source, problem: String(integrity) }));
}

async function assertSchema(client: Client, source: string, migrationsFolder: string): Promise<void> {
  const tables = await one(
    client,
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('migrations', 'installation', 'administrators', 'sessions')",
  );
  if (tables !== 4) throw refusal(say("backups.not_a_tidemark_database", { source }));
  const known = knownMigrations(migrationsFolder);
  const applied = (await client.execute("SELECT tag FROM migrations ORDER BY idx")).rows.map((row) => String(row[0]));
  if (applied.length > known.length || applied.some((tag, index) => tag !== known[index]?.tag)) {
    throw refusal(say("backups.of_newer_version", { source, applied: applied.length, known: known.length }));
  }
  const difference = await schemaDifference(client, migrationsFolder, applied.length);
  if (difference === null) return;
  throw damagedBackup(say("backups.schema_wrong", { source, difference }));
}

async function assertReferences(client: Client, source: string): Promise<void> {
  const [dangling] = (await client.execute("PRAGMA foreign_key_check")).rows;
  if (dangling === undefined) return;
  throw damagedBackup(
    say("backups.reference_missing", { source, table: String(dangling[0]), parent: String(dangling[2]) }),
  );
}

async function assertAdministrator(client: Client, source: string): Promise<void> {
  const known = await one(
    client,
    "SELECT count(*) FROM administrators a JOIN installation i ON i.key = 'administrator_id' AND i.value = a.id",
  );
  if (known !== 1) throw damagedBackup(say("backups.without_administrator", { source }));
}

/** Checks a copy of a backup's database like a start, and more thoroughly. Changes nothing. */
export async function judgeDatabase(client: Client, source: string, migrationsFolder: string): Promise<void> {
  await assertWhole(client, source);
  await assertSchema(client, source, migrationsFolder);
  await assertReferences(client, source);
  await assertAdministrator(client, source);
}

export interface GivenKeys {
  data_dir: string;
  session_key: string | null;
  encryption_key: string | null;
}

/** The keys that the next start would use. Throws when they are missing. */
function keysInForce(given: GivenKeys, keyFile: string): Keys {
  const needsFile = given.session_key === null || given.encryption_key === null;
  if (needsFile && !isThere(keyFile)) {
    throw refusal(say("backups.without_keys", { path: keyFile }));
  }
  return loadKeys({ ...given, keys_file: keyFile, has_encrypted_rows: true });
}

export interface Secrets {
  /** The id of the key that seals them; null when the database names none. */
  encryption_key_id: string | null;
  /** How many no key opens; more than none only where the caller accepts that. */
  unreadable: number;
}

/** Tries the next start's keys on every secret of the copy. */
export async function judgeSecrets(
  client: Client,
  {
    source,
    key_file,
    given,
    accepts_unreadable,
  }: { source: string; key_file: string; given: GivenKeys; accepts_unreadable: boolean },
): Promise<Secrets> {
  const { encryption } = keysInForce(given, key_file);
  const stored = await one(client, "SELECT value FROM installation WHERE key = 'encryption_key_id'");
  const id = typeof stored === "string" ? stored : null;
  await assertKeyOpens(encryption, id, everySealedValue(client));
  const opens = opener(encryption);
  let unreadable = 0;
  for await (const { table, column, rowid, value } of everySealedValue(client)) {
    if (opens(value)) continue;
    unreadable += 1;
    if (accepts_unreadable) continue;
    throw refusal(say("backups.secret_unreadable", { source, table, row: Number(rowid), column }));
  }
  return { encryption_key_id: id, unreadable };
}
