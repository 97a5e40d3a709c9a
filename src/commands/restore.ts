import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { restore } from "../backups/restore.ts";
import { systemClock } from "../clock.ts";
import { readProcessConfig } from "../config.ts";
import { databaseFile } from "../db/client.ts";
import { lockDataDir } from "../db/lock.ts";
import { AppError, errorMessage } from "../errors.ts";
import { securePrivateFolder } from "../secrets/keys.ts";

const usage = `Usage: bun run restore FOLDER

Replaces the database, and the key file where FOLDER has one, by those of a backup. The service must be stopped. FOLDER is what
"bun run backup" wrote, one of the backups folder of the data directory, or a database file alone. Nothing is touched when the
backup is damaged, newer than this version, or encrypted with another key. What is replaced is kept, and every sign-in and API
token ends.

DATA_DIR, DATABASE_URL and the keys in the environment are read as by the server.`;

async function run(source: string): Promise<void> {
  const config = readProcessConfig();
  const file = databaseFile(config.database_url);
  if (file === null) {
    throw new AppError("remote_database", 500, "The database is on a libSQL server; use that server's own restore");
  }
  securePrivateFolder(config.data_dir);
  const lock = await lockDataDir(config.data_dir);
  try {
    const { keys_file, session_key, encryption_key, data_dir } = config;
    const done = await restore({
      source,
      data_dir,
      database_file: resolve(file),
      migrations_folder: fileURLToPath(new URL("../../migrations", import.meta.url)),
      ...{ keys_file, session_key, encryption_key },
      now: systemClock.now(),
    });
    console.log(`Restored "${source}"${done.with_keys ? " with its keys" : "; the keys in use stay"}.`);
    if (done.encryption_key_id !== null)
      console.log(`Its secrets are encrypted with the key ${done.encryption_key_id}.`);
    console.log(
      `What it replaced is in "${done.replaced}". All sign-ins and API tokens have ended. Start Tidemark now.`,
    );
  } finally {
    lock.release();
  }
}

process.umask(0o077);
const [source, ...rest] = process.argv.slice(2);
if (source === undefined || source === "" || rest.length > 0 || source.startsWith("-")) {
  console.error(usage);
  process.exit(source === "--help" ? 0 : 2);
}
try {
  await run(resolve(source));
} catch (error) {
  console.error(`Nothing was restored. ${errorMessage(error)}`);
  process.exit(1);
}
