import { type Client, createClient } from "@libsql/client/sqlite3";
import { isDiskFull } from "../durable-files.ts";
import { AppError, errorMessage, saidBy } from "../errors.ts";
import { say } from "../messages/message.ts";

export interface DataDirLock {
  /** Whether a previous start found an installation here, as recorded by `noteUse`. */
  readonly was_used: boolean;
  /**
   * Records, once, that an installation is here, so that a database missing later counts as lost. If the disk is full or the file is busy,
   * the next start does it.
   */
  noteUse(): Promise<void>;
  release(): void;
}

/** `PRAGMA user_version` of the lock file: set once it has its first page, and again once an installation exists. */
const made = 1;
const used = 2;

/**
 * Locks the data directory for this process. The lock is SQLite's write lock on a small file beside the database: the operating system
 * releases it however the process dies, so there are no stale locks.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const client = open(dataDir);
  const take = async () => {
    try {
      return await client.transaction("write");
    } catch (error) {
      client.close();
      throw lockFailure(dataDir, error);
    }
  };
  const version = await prepare(client).catch((error: unknown) => {
    client.close();
    throw lockFailure(dataDir, error);
  });
  let transaction = await take();
  return {
    was_used: version === used,
    noteUse: async () => {
      if (version === used) return;
      try {
        await transaction.execute(`PRAGMA user_version = ${used}`);
        await transaction.commit();
      } catch (error) {
        // Busy means that another process, which will be refused, is just reading it.
        if (!isDiskFull(error) && !isBusy(error)) throw error;
      }
      transaction.close();
      transaction = await take();
    },
    release: () => {
      transaction.close();
      client.close();
    },
  };
}

function open(dataDir: string): Client {
  try {
    return createClient({ url: `file:${dataDir}/tidemark.lock` });
  } catch (error) {
    throw lockFailure(dataDir, error);
  }
}

/** In an empty file, taking the lock would write its first page, so a full disk would prevent a restart. */
async function prepare(client: Client): Promise<number> {
  const found = Number((await client.execute("PRAGMA user_version")).rows[0]?.[0]);
  if (found !== made && found !== used) await client.execute(`PRAGMA user_version = ${made}`);
  return found;
}

function isBusy(error: unknown): boolean {
  return /BUSY|locked/i.test(errorMessage(error));
}

/** The error to throw when taking the lock failed. */
function lockFailure(dataDir: string, error: unknown): unknown {
  if (isDiskFull(error)) return error;
  if (!isBusy(error)) {
    const said = say("database.lock_unusable", { path: `${dataDir}/tidemark.lock`, cause: saidBy(error) });
    return new AppError("lock_unusable", 500, said, { cause: error });
  }
  return new AppError("data_dir_in_use", 500, say("database.data_directory_in_use", { path: dataDir }), {
    cause: error,
  });
}
