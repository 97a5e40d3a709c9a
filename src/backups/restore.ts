import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Client, createClient } from "@libsql/client/sqlite3";
import type { AuditEvent } from "../auth/audit-schema.ts";
import { toIso } from "../clock.ts";
import { inspectDatabaseFile } from "../db/migrate.ts";
import {
  copyToNewFile,
  fileFacts,
  isDiskFull,
  isThere,
  removeLeft,
  syncFile,
  syncFolder,
  withoutRoom,
} from "../durable-files.ts";
import { AppError, saidBy } from "../errors.ts";
import { newId } from "../ids.ts";
import { type Message, say } from "../messages/message.ts";
import { databaseName, keysName, makeBackup, walName } from "./folder.ts";
import { judgeDatabase, judgeSecrets, type Secrets } from "./judge.ts";
import { manifestName, writeManifest } from "./manifest.ts";
import {
  completeRestore,
  logFiles,
  placeFiles,
  type RestoredPlaces,
  type RestoreNote,
  restoredPlaces,
  stagedPath,
  unfinishedRestore,
  withdrawRestore,
  writeRestoreNote,
} from "./place-restored.ts";
import { type BackupSource, checkInSource, copyFromSource, findSource, refusal, walOf } from "./source.ts";

export interface RestoreOptions {
  /** A backup's folder, or a single database file. */
  source: string;
  data_dir: string;
  database_file: string;
  /** The migrations of this version. */
  migrations_folder: string;
  /** From the environment; they override the backup's keys. */
  keys_file: string | null;
  session_key: string | null;
  encryption_key: string | null;
  /** Accepts a backup with secrets that no key opens. */
  accepts_unreadable: boolean;
  now: number;
}

export interface JudgedBackup {
  secrets: Secrets;
  with_keys: boolean;
  has_checksums: boolean;
}

export interface Restored extends JudgedBackup {
  /** The backup of what was replaced; null when there was nothing. */
  replaced: string | null;
}

const restored: AuditEvent = "database_restored";

/** Sign-ins and API tokens revoked after the backup must not come back with it. */
async function endSessions(client: Client, now: number): Promise<void> {
  await client.batch(
    [
      "DELETE FROM sessions",
      "UPDATE administrators SET session_epoch = session_epoch + 1",
      {
        sql: "INSERT INTO audit_entries (id, event, outcome, actor, detail, at) VALUES (?, ?, 'ok', 'command line', '{}', ?)",
        args: [newId(now), restored, now],
      },
    ],
    "write",
  );
}

interface Staging {
  database: string;
  /** Null for a check only: plain keys are not copied for that. */
  keys: string | null;
}

/** Copies a backup and checks the copy, which a start could then use. */
async function stage(options: RestoreOptions, source: BackupSource, to: Staging, keysInUse: string) {
  const { accepts_unreadable } = options;
  copyFromSource(source, source.database, to.database);
  if (source.wal !== null) copyFromSource(source, source.wal, `${to.database}-wal`);
  const isTaken = source.keys !== null && options.keys_file === null;
  if (source.keys !== null && isTaken && to.keys !== null) copyFromSource(source, source.keys, to.keys);
  else if (source.keys !== null) checkInSource(source, source.keys);
  inspectDatabaseFile(source.database, { keys: null, was_used: false });
  const client = createClient({ url: `file:${to.database}` });
  try {
    await judgeDatabase(client, source.database, options.migrations_folder);
    const key_file = options.keys_file ?? source.keys ?? keysInUse;
    const secrets = await judgeSecrets(client, { source: source.path, key_file, given: options, accepts_unreadable });
    await endSessions(client, options.now);
    // Merges the log into the file again.
    await client.execute("PRAGMA journal_mode = DELETE");
    return { secrets, with_keys: isTaken, has_checksums: source.manifest !== null };
  } catch (error) {
    if (error instanceof AppError || isDiskFull(error)) throw error;
    throw refusal(say("backups.unreadable", { source: source.database, cause: saidBy(error) }), error);
  } finally {
    client.close();
  }
}

/** A backup of what will be replaced, unchecked: it may be damaged itself. */
async function keepFormer({ data_dir, now }: RestoreOptions, places: RestoredPlaces): Promise<string | null> {
  const former = [
    { name: databaseName, path: places.database },
    { name: walName, path: walOf(places.database) ?? "" },
    { name: keysName, path: places.keys },
  ].filter(({ path }) => path !== "" && isThere(path));
  if (former.length === 0) return null;
  const fill = (folder: string, created_at: number) => {
    const files = former.map(({ name, path }) => ({ name, ...copyToNewFile(path, join(folder, name)) }));
    writeManifest(join(folder, manifestName), { created_at, migrations: null, files });
  };
  const kept = await makeBackup(data_dir, "replaced", now, { fill });
  return realpathSync(kept.path);
}

/** Does everything that can fail without changing anything in use. Leaves nothing behind when it throws. */
async function prepare(options: RestoreOptions): Promise<{ note: RestoreNote; judged: JudgedBackup }> {
  const { now } = options;
  const places = restoredPlaces(options.data_dir, options.database_file);
  const source = findSource(options.source);
  if (isThere(places.database) && realpathSync(source.database) === places.database) {
    throw refusal(say("backups.database_in_use", { source: source.database }));
  }
  const staged = { database: stagedPath(places.database, now), keys: stagedPath(places.keys, now) };
  try {
    const judged = await stage(options, source, staged, places.keys);
    syncFile(staged.database);
    const moves = [
      ...(judged.with_keys ? [{ staged: staged.keys, place: places.keys }] : []),
      { staged: staged.database, place: places.database },
    ];
    for (const { place } of moves) syncFolder(dirname(place));
    const files = moves.map((move) => ({ ...move, ...fileFacts(move.staged) }));
    const replaced = await keepFormer(options, places);
    const obsolete = logFiles(places.database);
    return { note: { format: 2, at: now, source: options.source, replaced, files, obsolete }, judged };
  } catch (error) {
    removeLeft([staged.keys, staged.database, ...logFiles(staged.database)]);
    throw error;
  }
}

/**
 * Writes the note and places the files. Throws `restore_unfinished` when the next start must finish; any other error leaves everything
 * unchanged.
 */
function place(dataDir: string, note: RestoreNote, mayWithdraw: boolean): void {
  try {
    writeRestoreNote(dataDir, note);
    placeFiles(dataDir, note);
  } catch (error) {
    if (!mayWithdraw || !withdrawRestore(dataDir, note)) throw unfinishedRestore(note, error);
    removeLeft(note.files.map(({ staged }) => staged));
    if (note.replaced !== null) removeLeft([note.replaced]);
    throw error;
  }
}

function sentence(error: unknown): Message {
  if (error instanceof AppError) return error.said;
  if (isDiskFull(error)) return say("backups.no_room_to_restore");
  return say("backups.correct_and_repeat", { cause: saidBy(error) });
}

/** The error of a refused restore, with the resulting state, including that of an earlier restore. */
function notRestored(error: unknown, source: string, former: RestoreNote | AppError | null): AppError {
  const cause = sentence(error);
  if (former === null)
    return new AppError("not_restored", 409, say("backups.nothing_restored", { cause }), { cause: error });
  const said =
    former instanceof AppError
      ? say("backups.not_restored_former_unfinished", { source, cause, former: former.said })
      : say("backups.not_restored_former_complete", { source, cause, former: former.source, at: toIso(former.at) });
  return new AppError("restore_unfinished", 409, said, { cause: error });
}

/** The state of an earlier restore: none, its note when it is now complete, or why it is not. */
function completeFormer(dataDir: string): RestoreNote | AppError | null {
  try {
    return completeRestore(dataDir);
  } catch (error) {
    if (error instanceof AppError && error.code === "restore_unfinished") return error;
    throw notRestored(error, "", null);
  }
}

/**
 * Replaces database and keys with those of a backup. Hold the data directory's lock: nobody may have the files open. Everything is checked
 * and prepared first, and nothing has changed when it throws `not_restored`; after `restore_unfinished` the next start or restore does the
 * rest. The replaced files are kept. Every session and API token ends.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { data_dir, source } = options;
  const former = completeFormer(data_dir);
  try {
    const { note, judged } = await prepare(options);
    place(data_dir, note, !(former instanceof AppError));
    return { ...judged, replaced: note.replaced };
  } catch (error) {
    if (error instanceof AppError && error.code === "restore_unfinished") throw error;
    throw notRestored(error, source, former);
  }
}

/** Checks a backup like a restore, beside the running service; changes nothing. */
export async function verifyBackup(options: RestoreOptions): Promise<JudgedBackup> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-verify-"));
  try {
    const places = restoredPlaces(options.data_dir, options.database_file);
    const staged = { database: join(folder, databaseName), keys: null };
    return await stage(options, findSource(options.source), staged, places.keys);
  } catch (error) {
    throw withoutRoom(error, say("files.no_room_to_verify", { path: tmpdir() }));
  } finally {
    removeLeft([folder]);
  }
}
