import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type JudgedBackup, type RestoreOptions, restore, verifyBackup } from "../backups/restore.ts";
import { systemClock } from "../clock.ts";
import { readProcessConfig } from "../config.ts";
import { databaseFile } from "../db/client.ts";
import { lockDataDir } from "../db/lock.ts";
import { AppError, errorMessage, isWithoutRoom, TerminalError } from "../errors.ts";
import { securePrivateFolder } from "../secrets/keys.ts";

const usage = `Usage: bun run restore FOLDER [--verify] [--accept-unreadable-secrets]

Replaces the database, and the key file if FOLDER has one, with those from a backup. The service must be stopped. FOLDER is a folder
written by "bun run backup", one in the backups folder of the data directory, or just a database file. Nothing changes if the backup
is damaged, newer than this version, or encrypted with another key. The replaced files are kept; all sessions end and all API tokens
are revoked.

  --verify                      only checks whether FOLDER can be restored; the service may be running
  --accept-unreadable-secrets   restores a backup even if some of its secrets cannot be decrypted; enter those again

Uses the same DATA_DIR, DATABASE_URL and keys in the environment as the server.`;

interface Arguments {
  source: string;
  verifies: boolean;
  accepts_unreadable: boolean;
}

/** Null when invalid. */
function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { verify: { type: "boolean" }, "accept-unreadable-secrets": { type: "boolean" } },
      allowPositionals: true,
    });
    const [source, ...rest] = positionals;
    if (source === undefined || source === "" || rest.length > 0) return null;
    return {
      source: resolve(source),
      verifies: values.verify === true,
      accepts_unreadable: values["accept-unreadable-secrets"] === true,
    };
  } catch {
    return null;
  }
}

function readOptions({ source, accepts_unreadable }: Arguments): RestoreOptions {
  const config = readProcessConfig();
  const file = databaseFile(config.database_url);
  if (file === null) {
    throw new TerminalError("The database is on a libSQL server; use that server's own restore");
  }
  const { keys_file, session_key, encryption_key, data_dir } = config;
  return {
    source,
    data_dir,
    database_file: resolve(file),
    migrations_folder: fileURLToPath(new URL("../../migrations", import.meta.url)),
    ...{ keys_file, session_key, encryption_key, accepts_unreadable },
    now: systemClock.now(),
  };
}

/** Findings about a backup that can be restored. */
function remarks({ secrets, has_checksums }: JudgedBackup): string[] {
  const { encryption_key_id, unreadable } = secrets;
  return [
    ...(encryption_key_id === null ? [] : [`Its secrets are encrypted with the key ${encryption_key_id}.`]),
    ...(has_checksums ? [] : ["It has no checksums because an earlier version made it; everything else was checked."]),
    ...(unreadable === 0 ? [] : [`Secrets that cannot be decrypted: ${unreadable}. Enter them again.`]),
  ];
}

async function verify(given: Arguments): Promise<string[]> {
  const judged = await verifyBackup(readOptions(given));
  return [`"${given.source}" can be restored${judged.with_keys ? " with its keys" : ""}.`, ...remarks(judged)];
}

async function run(given: Arguments): Promise<string[]> {
  const options = readOptions(given);
  securePrivateFolder(options.data_dir);
  const lock = await lockDataDir(options.data_dir);
  try {
    const done = await restore(options);
    return [
      `Restored "${given.source}"${done.with_keys ? " with its keys" : "; the current keys are kept"}.`,
      ...remarks(done),
      ...(done.replaced === null ? [] : [`The replaced files are in "${done.replaced}".`]),
      "All sessions have ended and all API tokens are revoked. Start Tidemark now.",
    ];
  } finally {
    lock.release();
  }
}

/** The error after a failure: a restore says what the next start will do; before it began, nothing has changed. */
function failureOf({ verifies }: Arguments, error: unknown): string {
  const text = error instanceof AppError ? error.message : errorMessage(error);
  if (verifies && isWithoutRoom(error)) return text;
  if (verifies) return `This backup cannot be restored. ${text}`;
  const isComplete = error instanceof AppError && ["not_restored", "restore_unfinished"].includes(error.code);
  return isComplete ? text : `Nothing was restored. ${text}`;
}

process.umask(0o077);
const given = readArguments(process.argv.slice(2));
if (given === null) {
  console.error(usage);
  process.exit(process.argv[2] === "--help" ? 0 : 2);
}
try {
  for (const line of await (given.verifies ? verify(given) : run(given))) console.log(line);
} catch (error) {
  console.error(failureOf(given, error));
  process.exit(1);
}
