import { copyFileSync, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createClient } from "@libsql/client";
import { readProcessConfig } from "../config.ts";
import { databaseFile } from "../db/client.ts";
import { backupDatabase, inspectDatabaseFile } from "../db/migrate.ts";
import { AppError, errorMessage } from "../errors.ts";
import { hasKeyFile, securePrivateFolder } from "../secrets/keys.ts";

const usage = `Usage: bun run backup FOLDER

Writes a consistent copy of the database and the key file into FOLDER, while the service runs. FOLDER is made with mode 0700;
keep it as safe as the data directory, because it holds the keys.`;

/** Copies database and keys into `folder`; refuses to overwrite an older backup. */
async function backup(folder: string): Promise<readonly string[]> {
  const config = readProcessConfig();
  const file = databaseFile(config.database_url);
  if (file === null) {
    throw new AppError("remote_database", 500, "The database is on a libSQL server; use that server's own backup");
  }
  if (!existsSync(file)) throw new AppError("no_database", 500, `There is no database "${file}"; is DATA_DIR right?`);
  inspectDatabaseFile(file, hasKeyFile(config.data_dir));
  const target = join(folder, "tidemark.db");
  if (existsSync(target)) {
    throw new AppError("backup_exists", 500, `"${target}" exists already; name an empty or a new folder`);
  }
  securePrivateFolder(folder);
  const client = createClient({ url: `file:${file}` });
  try {
    await backupDatabase(client, target, (url) => createClient({ url }));
  } finally {
    client.close();
  }
  if (!hasKeyFile(config.data_dir)) return [target];
  const keys = join(folder, "keys.json");
  copyFileSync(join(config.data_dir, "keys.json"), keys);
  return [target, keys];
}

process.umask(0o077);
const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0 || folder.startsWith("-")) {
  console.error(usage);
  process.exit(2);
}
try {
  const files = await backup(resolve(folder));
  for (const file of files) console.log(`Wrote ${file}`);
  if (files.length === 1) console.log(`The keys are not in ${dirname(files[0] ?? "")}: they come from the environment`);
} catch (error) {
  console.error(`No backup was made. ${errorMessage(error)}`);
  process.exit(1);
}
