import { createClient } from "@libsql/client/sqlite3";
import { AppError, errorMessage } from "../errors.ts";

export interface DataDirLock {
  release(): void;
}

/**
 * Holds the data directory for this process. The lock is SQLite's own write lock on a small file beside the database: the
 * operating system drops it when the process dies, however it dies, so there is no stale lock to judge by process ids.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const client = createClient({ url: `file:${dataDir}/tidemark.lock` });
  try {
    // In an empty file the lock would begin with writing its first page, and a full disk would keep the service from starting again.
    const marked = await client.execute("PRAGMA user_version");
    if (marked.rows[0]?.[0] !== 1) await client.execute("PRAGMA user_version = 1");
    const transaction = await client.transaction("write");
    return {
      release: () => {
        transaction.close();
        client.close();
      },
    };
  } catch (error) {
    client.close();
    if (!/BUSY|locked/i.test(errorMessage(error))) throw error;
    throw new AppError(
      "data_dir_in_use",
      500,
      `Another Tidemark already runs on the data directory "${dataDir}"; stop it first, or give this one another DATA_DIR`,
      { cause: error },
    );
  }
}
