import { type Client, createClient } from "@libsql/client/sqlite3";
import { isDiskFull } from "../durable-files.ts";
import { AppError, errorMessage, saidBy } from "../errors.ts";
import { say } from "../messages/message.ts";

export interface DataDirLock {
  /** Whether a start has found an installation here before, as `noteUse` wrote it down. */
  readonly was_used: boolean;
  /**
   * Writes down, once, that an installation is here: then a database that is missing later is a loss. Where the disk is full or the
   * file is busy, the next start does it.
   */
  noteUse(): Promise<void>;
  release(): void;
}

/** `PRAGMA user_version` of the lock's file: it has its first page, and then an installation too. */
const made = 1;
const used = 2;

/**
 * Holds the data directory for this process. The lock is SQLite's own write lock on a small file beside the database: the
 * operating system drops it when the process dies, however it dies, so there is no stale lock to judge by process ids.
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
        // Busy is a file that another process, which comes in vain, is just looking at.
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

/** In an empty file the lock would begin with writing its first page, and a full disk would keep the service from starting again. */
async function prepare(client: Client): Promise<number> {
  const found = Number((await client.execute("PRAGMA user_version")).rows[0]?.[0]);
  if (found !== made && found !== used) await client.execute(`PRAGMA user_version = ${made}`);
  return found;
}

function isBusy(error: unknown): boolean {
  return /BUSY|locked/i.test(errorMessage(error));
}

/** What to throw for an error while the lock was taken. */
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
