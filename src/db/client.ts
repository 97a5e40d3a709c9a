import { type Client, LibsqlError } from "@libsql/client/sqlite3";
import { DrizzleQueryError } from "drizzle-orm";
import type { LibSQLDatabase } from "drizzle-orm/libsql";
import { drizzle } from "drizzle-orm/libsql/sqlite3";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { databaseFetch } from "../net/database-fetch.ts";
import { writeInScope } from "../request-scope.ts";
import { openLocal } from "./local-client.ts";
import { createWriteQueue } from "./write-queue.ts";

type Drizzle = LibSQLDatabase<Record<string, never>>;
type Transaction = Parameters<Parameters<Drizzle["transaction"]>[0]>[0];

/** What a read-only query takes: the database or an open transaction. */
export type Reader = Pick<Drizzle, "select" | "selectDistinct" | "$count">;
/** An open write transaction; only `write` hands it out. */
export type Writer = Pick<Transaction, "select" | "selectDistinct" | "$count" | "insert" | "update" | "delete">;

export interface Database {
  read: Reader;
  /**
   * Runs `work` in a write transaction, one at a time in this process, because a local libSQL client that meets a lock blocks the event
   * loop. Never await network, timers or a plug-in inside. Rolls back when `work` throws.
   */
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>;
  /**
   * Passes every text written from now on through `rewrite` as it is written; null for a remote server, whose transactions we cannot see
   * into. For the rotation of the encryption key: what was sealed before it and is written after it must not be lost.
   */
  rewriteTexts: ((rewrite: (text: string) => string) => void) | null;
  /** Only for migrations, backups and the checks at start. */
  client: Client;
  close(): Promise<void>;
}

interface OpenOptions {
  url: string;
  auth_token?: string | null;
  /** Remote servers only: the deadline of one response. */
  answer_limit_ms?: number;
}

/** The file of a `file:` database; null for a remote one. */
export function databaseFile(url: string): string | null {
  return url.startsWith("file:") ? url.slice("file:".length).replace(/^\/\/(?=\/)/, "") : null;
}

/** Two seconds in all. */
const busyRetries = 20;
/** Ten seconds: another process may be about to end, and nothing is served yet. */
const openRetries = 45;

/**
 * The database's own errors only. Our refusals quote what people entered, and a failed query repeats its values: a tracker named
 * "SQLITE_BUSY" must not look like a lock.
 */
function databaseErrors(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return [];
    if (!(cause instanceof DrizzleQueryError)) found.push(cause);
  }
  return found;
}

export function isBusy(error: unknown): boolean {
  return databaseErrors(error).some(
    (cause) =>
      (cause instanceof LibsqlError && cause.code.startsWith("SQLITE_BUSY")) ||
      // How a remote server reports a lost or contended transaction stream.
      /SQLITE_BUSY|database is locked|TRANSACTION_CLOSED|STREAM_EXPIRED/.test(cause.message),
  );
}

function isFull(error: unknown): boolean {
  return databaseErrors(error).some(({ message }) =>
    /SQLITE_FULL|database or disk is full|SQLITE_IOERR_WRITE|ENOSPC/.test(message),
  );
}

/** The remote client's error when the server did not respond; the query builder wraps it. */
function unreachableIn(error: unknown): AppError | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return cause.code === "database_unreachable" ? cause : null;
  }
  return null;
}

/** True when a write failed because a unique index already has such a row. */
export function isUniqueViolation(error: unknown): boolean {
  return databaseErrors(error).some(({ message }) =>
    /SQLITE_CONSTRAINT_UNIQUE|SQLITE_CONSTRAINT_PRIMARYKEY|UNIQUE constraint failed/.test(message),
  );
}

/** Opens a `file:` database or a remote libSQL server. `checkDatabase` of `migrate.ts` asserts the pragmas. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const isLocal = options.url.startsWith("file:");
  // Loaded for remote servers only: it costs 2 MB.
  const { createClient } = await (isLocal ? import("@libsql/client/sqlite3") : import("@libsql/client"));
  const client = createClient({
    url: options.url,
    ...(options.auth_token ? { authToken: options.auth_token } : {}),
    // Allows so many open requests that none waits for another's deadline when a server is frozen.
    ...(isLocal ? {} : { fetch: databaseFetch(options.answer_limit_ms), concurrency: 1000 }),
  });
  try {
    return isLocal ? await retryBusy(() => openFile(client), openRetries) : overClient(client);
  } catch (error) {
    client.close();
    throw error;
  }
}

async function openFile(client: Client): Promise<Database> {
  await client.execute("PRAGMA journal_mode = WAL");
  await client.execute("PRAGMA foreign_keys = ON");
  await client.execute("PRAGMA synchronous = FULL");
  const file = (await client.execute("PRAGMA database_list")).rows[0]?.file;
  return typeof file === "string" && file !== "" ? overFile(client, file) : overClient(client);
}

/** Retries while another process holds the lock, without blocking the event loop; reports a full disk. */
export async function retryBusy<T>(transaction: () => Promise<T>, retries = busyRetries): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (isFull(error)) {
        const message = say("files.no_room_for_database");
        throw new AppError("insufficient_storage", 507, message, { cause: error });
      }
      if (!isBusy(error) || attempt > retries) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 * attempt));
    }
  }
}

function overFile(client: Client, file: string): Database {
  const store = openLocal(client, file);
  const writer: Drizzle = drizzle({ client: store.writing });
  const queue = createWriteQueue<Writer>({ store, writer, retry: retryBusy });
  return {
    read: drizzle({ client: store.reading }),
    write: (work) => writeInScope(queue.write, work),
    rewriteTexts: store.rewriteTexts,
    client,
    close: async () => {
      await queue.idle();
      store.close();
      // Leaves the whole database in the file alone, for whoever copies or replaces it. Without disk space, all stays in the log beside it.
      await client.execute("PRAGMA wal_checkpoint(TRUNCATE)").catch(() => undefined);
      client.close();
    },
  };
}

function overClient(client: Client): Database {
  const database: Drizzle = drizzle({ client });
  let tail: Promise<unknown> = Promise.resolve();
  let asked = 0;
  /** When the server last failed to respond: whoever waited then does not wait again. */
  let lost = { until: 0, error: new Error("Nothing was lost") };
  const transaction = async <T>(turn: number, work: (tx: Writer) => Promise<T>): Promise<T> => {
    if (turn <= lost.until) throw lost.error;
    try {
      return await retryBusy(() => database.transaction((tx) => work(tx), { behavior: "immediate" }));
    } catch (error) {
      const refusal = unreachableIn(error);
      if (refusal === null) throw error;
      lost = { until: asked, error: refusal };
      throw refusal;
    }
  };
  const write = <T>(work: (tx: Writer) => Promise<T>): Promise<T> => {
    asked += 1;
    const turn = asked;
    const result = tail.then(() => transaction(turn, work));
    tail = result.catch(() => undefined);
    return result;
  };
  return {
    read: database,
    write: (work) => writeInScope(write, work),
    rewriteTexts: null,
    client,
    close: async () => {
      await tail;
      client.close();
    },
  };
}
