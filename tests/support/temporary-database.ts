import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";

export interface TemporaryDatabase {
  db: Database;
  dir: string;
  close(): Promise<void>;
}

/** A migrated database in a file of its own: `:memory:` loses its data across transactions. */
export async function temporaryDatabase(): Promise<TemporaryDatabase> {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-test-"));
  const db = await openDatabase({ url: `file:${dir}/tidemark.db` });
  await migrate({ client: db.client, folder: join(import.meta.dir, "../../migrations"), now: 0, backup: null });
  return {
    db,
    dir,
    close: async () => {
      await db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
