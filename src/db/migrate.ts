import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Client, LibsqlError } from "@libsql/client/sqlite3";
import * as v from "valibot";
import { assertWritableFolder, isDiskFull, unusableFolder } from "../durable-files.ts";
import { AppError, saidBy } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { isBusy, retryBusy } from "./client.ts";

const Journal = v.object({ entries: v.array(v.object({ idx: v.number(), tag: v.string() })) });

function startError(message: Message, cause?: unknown): AppError {
  return new AppError("database_unusable", 500, message, { cause });
}

/** Evidence that a database existed before. */
export interface FormerUse {
  /** Where the keys come from: our key file, or the environment. */
  keys: "key_file" | "given" | null;
  /** A previous start found an installation. A start creates the key file, but keys from the environment prove nothing. */
  was_used: boolean;
}

/**
 * Checks a database file before it is opened, without changing it. Garbage, a truncated file, and a missing or empty file of an
 * installation stop the start.
 */
export function inspectDatabaseFile(path: string, former: FormerUse): void {
  const folder = dirname(resolve(path));
  try {
    assertWritableFolder(folder);
  } catch (error) {
    throw unusableFolder(say("files.database_folder", { path: folder }), "DATABASE_URL", error);
  }
  if (!existsSync(path)) {
    if (former.keys === null || !former.was_used) return;
    throw startError(say("database.missing", { path, keys: former.keys }));
  }
  const stat = statSync(path);
  if (!stat.isFile()) throw startError(say("database.not_a_file", { path }));
  const { size } = stat;
  if (size === 0) {
    if (former.keys === null) return;
    throw startError(say("database.blank_file", { path, keys: former.keys }));
  }
  const header = Buffer.alloc(100);
  const file = openSync(path, "r");
  const length = readSync(file, header, 0, 100, 0);
  closeSync(file);
  if (length < 100 || header.toString("latin1", 0, 16) !== "SQLite format 3\0") {
    throw startError(say("database.not_a_database", { path }));
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  if (!existsSync(`${path}-wal`) && pages * pageSize > size) {
    throw startError(say("database.cut_off", { path, found: size, wanted: pages * pageSize }));
  }
}

/** The error for a database that looked intact from outside but cannot be used; the engine's error is the cause. */
export function unreadableDatabase(path: string | null, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  if (path === null) {
    return startError(say("database.server_unusable", { cause: saidBy(cause) }), cause);
  }
  if (isBusy(cause)) {
    return startError(say("database.locked", { path }), cause);
  }
  if (isDiskFull(cause)) {
    return startError(say("database.disk_full", { path }), cause);
  }
  if (cause instanceof LibsqlError && cause.code.startsWith("URL_")) {
    return startError(say("database.url_unusable", { cause: saidBy(cause) }), cause);
  }
  return startError(say("database.unreadable", { path, cause: saidBy(cause) }), cause);
}

/** Asserts what the code relies on, on connections as the client provides them. */
export async function checkDatabase(client: Client, path: string | null): Promise<void> {
  try {
    const foreignKeys = await client.execute("PRAGMA foreign_keys");
    if (foreignKeys.rows[0]?.[0] !== 1) throw startError(say("database.without_foreign_keys"));
    if (path === null) return;
    const check = await retryBusy(() => client.execute("PRAGMA quick_check(1)"));
    const verdict = String(check.rows[0]?.[0]);
    if (verdict !== "ok") throw startError(say("database.damaged", { path, problem: verdict }));
    const mode = await client.execute("PRAGMA journal_mode");
    if (mode.rows[0]?.[0] !== "wal") throw startError(say("database.without_wal", { path }));
    // 2 is FULL: a commit waits until it is on disk.
    const synchronous = await client.execute("PRAGMA synchronous");
    if (synchronous.rows[0]?.[0] !== 2) throw startError(say("database.without_synchronous", { path }));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unreadableDatabase(path, error);
  }
}

/** Refuses a file without tables where an installation had data. */
export async function refuseEmptied(client: Client, path: string, former: FormerUse): Promise<void> {
  if (former.keys === null || !former.was_used) return;
  const found = await client.execute("SELECT count(*) FROM sqlite_master");
  if (found.rows[0]?.[0] !== 0) return;
  throw startError(say("database.emptied", { path, keys: former.keys }));
}

interface MigrateOptions {
  client: Client;
  folder: string;
  now: number;
  /** Called once before the first migration of a database that has data. */
  backup: (() => Promise<void>) | null;
}

export interface Migration {
  readonly idx: number;
  readonly tag: string;
}

/** The migrations of this version, in order. */
export function knownMigrations(folder: string): readonly Migration[] {
  const journal = v.parse(Journal, JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")));
  return journal.entries.toSorted((a, b) => a.idx - b.idx);
}

/** Creates the table of migrations, which exists before the first of them. */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS migrations (idx INTEGER PRIMARY KEY, tag TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL)";

export function readMigration(folder: string, { tag }: Migration): { statements: readonly string[]; hash: string } {
  const text = readFileSync(join(folder, `${tag}.sql`), "utf8");
  const statements = text.split("--> statement-breakpoint").map((part) => part.trim());
  return {
    statements: statements.filter((statement) => statement !== ""),
    hash: createHash("sha256").update(text).digest("hex"),
  };
}

async function isApplied(client: Client, index: number): Promise<boolean> {
  const found = await client.execute({ sql: "SELECT 1 FROM migrations WHERE idx = ?", args: [index] });
  return found.rows.length > 0;
}

/** Applies missing migrations, one transaction each; refuses a database written by a newer Tidemark. */
export async function migrate(options: MigrateOptions): Promise<number> {
  const { client, folder } = options;
  await client.execute(migrationsTable);
  const applied = (await client.execute("SELECT idx, tag FROM migrations ORDER BY idx")).rows;
  const known = knownMigrations(folder);
  if (applied.length > known.length) {
    throw startError(say("database.of_newer_version", { applied: applied.length, known: known.length }));
  }
  const missing = known.slice(applied.length);
  if (missing.length === 0) return 0;
  if (applied.length > 0) await options.backup?.();
  for (const entry of missing) {
    const { statements, hash } = readMigration(folder, entry);
    const transaction = [
      ...statements.filter((statement) => statement !== ""),
      {
        sql: "INSERT INTO migrations (idx, tag, hash, applied_at) VALUES (?, ?, ?, ?)",
        args: [entry.idx, entry.tag, hash, options.now],
      },
    ];
    await retryBusy(() => client.migrate(transaction)).catch(async (error: unknown) => {
      // When several processes start on one empty server, only one applies each migration.
      if (!(await isApplied(client, entry.idx))) throw error;
    });
  }
  return missing.length;
}
