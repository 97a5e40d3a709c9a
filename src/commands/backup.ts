import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { databaseName, keysName } from "../backups/folder.ts";
import { manifestName } from "../backups/manifest.ts";
import { assertNoRestore } from "../backups/place-restored.ts";
import { writeBackup } from "../backups/write-backup.ts";
import { systemClock } from "../clock.ts";
import { readProcessConfig } from "../config.ts";
import { databaseFile } from "../db/client.ts";
import { inspectDatabaseFile } from "../db/migrate.ts";
import { errorMessage, TerminalError } from "../errors.ts";
import { hasKeyFile, keyFilePath, securePrivateFolder } from "../secrets/keys.ts";

const usage = `Usage: bun run backup FOLDER [--without-keys]

Writes a consistent copy of the database and the key file to FOLDER; the service can keep running. FOLDER is created with mode 0700.
Protect it like the data directory, because it contains the keys. With --without-keys it does not: keep the key file elsewhere then,
because the secrets in the backup cannot be decrypted without it.

Uses the same DATA_DIR and DATABASE_URL as the server.`;

interface Arguments {
  folder: string;
  with_keys: boolean;
}

function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { "without-keys": { type: "boolean" } },
      allowPositionals: true,
    });
    const [folder, ...rest] = positionals;
    if (folder === undefined || folder === "" || rest.length > 0) return null;
    return { folder: resolve(folder), with_keys: values["without-keys"] !== true };
  } catch {
    return null;
  }
}

/** Copies database and keys into `folder`; refuses to overwrite an older backup. */
async function backup({ folder, with_keys }: Arguments): Promise<readonly string[]> {
  const config = readProcessConfig();
  assertNoRestore(config.data_dir);
  const file = databaseFile(config.database_url);
  if (file === null) {
    throw new TerminalError("The database is on a libSQL server; use that server's own backup");
  }
  if (!existsSync(file)) throw new TerminalError(`There is no database "${file}"; is DATA_DIR right?`);
  // An empty database is never worth a copy, wherever its keys are.
  inspectDatabaseFile(file, { keys: hasKeyFile(config.data_dir) ? "key_file" : "given", was_used: true });
  const existing = [databaseName, keysName, manifestName]
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  if (existing !== undefined) {
    throw new TerminalError(`"${existing}" already exists; name an empty or new folder`);
  }
  securePrivateFolder(folder);
  const isOurs = with_keys && config.keys_file === null;
  const keys = isOurs ? { file: keyFilePath(config.data_dir), opens_data: config.encryption_key === null } : null;
  return await writeBackup({ database: file, keys, folder, created_at: systemClock.now() });
}

process.umask(0o077);
const given = readArguments(process.argv.slice(2));
if (given === null) {
  console.error(usage);
  process.exit(2);
}
try {
  const files = await backup(given);
  for (const file of files) console.log(`Wrote ${file}`);
  if (!files.some((file) => basename(file) === keysName)) {
    const reason = given.with_keys ? "they come from the environment" : "as you asked";
    console.log(`The keys are not in ${given.folder}: ${reason}`);
  }
} catch (error) {
  console.error(`No backup was made. ${errorMessage(error)}`);
  process.exit(1);
}
