import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { eventually } from "./eventually.ts";

export interface TemporaryDatabase {
  db: Database;
  dir: string;
  close(): Promise<void>;
}

const folder = join(import.meta.dir, "../../migrations");

/** A migrated database that nobody has used, made once in a process: migrating takes longer than most tests. */
async function makeTemplate(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-template-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  const db = await openDatabase({ url: `file:${dir}/tidemark.db` });
  await migrate({ client: db.client, folder, now: 0, backup: null });
  await db.client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  await db.close();
  return join(dir, "tidemark.db");
}

let template: Promise<string> | null = null;

/**
 * Closes a database of a folder that is used on. The library lets the file go when what was prepared on it is collected, and takes
 * the files beside it away then: under the hands of whoever copies the folder or starts a server on it.
 */
export async function closeWholly({ db, dir }: Pick<TemporaryDatabase, "db" | "dir">): Promise<void> {
  await db.close();
  await eventually("the database to be closed", () => {
    Bun.gc(true);
    return !existsSync(join(dir, "tidemark.db-shm"));
  });
}

/** A migrated database in a file of its own: `:memory:` loses its data across transactions. */
export async function temporaryDatabase(): Promise<TemporaryDatabase> {
  template ??= makeTemplate();
  const dir = mkdtempSync(join(tmpdir(), "tidemark-test-"));
  copyFileSync(await template, join(dir, "tidemark.db"));
  const db = await openDatabase({ url: `file:${dir}/tidemark.db` });
  return {
    db,
    dir,
    close: async () => {
      await db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
