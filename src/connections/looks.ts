import type { Writer } from "../db/client.ts";
import { AppError, PluginError, saidBy } from "../errors.ts";
import { leaseMs } from "../held-lease.ts";
import { newId } from "../ids.ts";
import { inEnglish, type Message, say, toldAs } from "../messages/message.ts";
import { namedMembers, type OutageNotices } from "../notifications/outage-schema.ts";
import type { Parts } from "../parts.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import { observedSession } from "./observed-session.ts";
import { afterIdentity, identityOf, isIdentityDue } from "./places.ts";
import {
  type ConnectionRow,
  claimLook,
  connectionRows,
  dueLooks,
  enabledExecutors,
  lookDueTimes,
  makeExecutorsDue,
} from "./queries.ts";
import { afterAnswer, afterMiss, isNews, lookIntervalMs, lookTimeoutMs, reachOf } from "./reach.ts";

export type SessionOptions = Pick<RuntimeContext, "reads_once">;

interface LooksOptions extends Pick<Parts, "db" | "clock" | "log"> {
  /** The owner of this process's leases. */
  instance_id: string;
  open: (row: ConnectionRow, signal: AbortSignal, options?: SessionOptions) => Promise<RuntimeSession>;
  outages: OutageNotices;
}

interface Fault {
  code: string;
  message: Message;
}

interface Looked {
  fault: Fault | null;
  /** The identity that the runtime reported; absent unless it was requested and received. */
  identity?: string | null | undefined;
}

/** More than anybody has engines: an unresponsive one occupies its slot for eight seconds. */
const looksAtOnce = 16;

/**
 * Checks which runtimes respond, with one small request for each connection and interval, which all executors of a connection share:
 * 1. Find the enabled connections whose check is due.
 * 2. Claim one in the database, by lease.
 * 3. Ping its runtime.
 * 4. Store the response or the failure, unless the connection was edited meanwhile.
 * 5. After a silence, make its executors due in the same transaction, and note how long it has lasted.
 */
export function connectionLooks(options: LooksOptions) {
  const { db, clock, log, outages } = options;

  const outageOf = ({ id }: Pick<ConnectionRow, "id">) => ({ cause: "connection", subject: id }) as const;
  const noteLost = async (tx: Writer, row: ConnectionRow, { code, message }: Fault): Promise<void> => {
    const { id: connection_id, name: connection, missed_since: since } = row;
    // One that has never responded was not lost.
    if (row.seen_at === null || since === null) return;
    await outages.failing(tx, outageOf(row), async () => {
      const executors = await enabledExecutors(tx, connection_id);
      return {
        ...{ cause: "connection", connection, connection_id, since, code, ...toldAs("reason", message) },
        ...{ executor_count: executors.length, executors: executors.slice(0, namedMembers) },
      };
    });
  };

  const store = async (tx: Writer, row: ConnectionRow, fault: Fault | null, look: Looked | null): Promise<void> => {
    const now = clock.now();
    const changes = fault === null ? afterAnswer(now) : afterMiss(row, fault, now);
    await connectionRows.update(tx, row.id, {
      ...changes,
      // Another runtime may respond after a silence.
      ...(fault === null ? {} : { identified_at: null }),
      ...(look === null ? {} : { lease_owner: null, lease_until: null }),
    });
    if (look?.identity !== undefined) await storeIdentity(tx, row, look.identity);
    const before = reachOf({ ...row, next_look_at: null }, now).state;
    const after = reachOf({ ...row, ...changes }, now).state;
    if (after === "unreachable" && before !== after) {
      log.warning("Connection lost", { connection: row.name, error: fault === null ? "" : inEnglish(fault.message) });
    }
    if (fault !== null && after === "unreachable") await noteLost(tx, { ...row, ...changes }, fault);
    // A response after a silence, or the first one since an edit.
    if (fault === null && (row.missed_looks > 0 || row.seen_at === null)) await outages.over(tx, outageOf(row));
    if (fault !== null || row.missed_looks === 0) return;
    if (before === "unreachable") log.info("Connection responds again", { connection: row.name });
    await makeExecutorsDue(tx, row.id, now, before !== "unreachable");
  };

  const storeIdentity = async (tx: Writer, row: ConnectionRow, identity: string | null): Promise<void> => {
    const changes = afterIdentity(row, identity, clock.now());
    await connectionRows.update(tx, row.id, changes);
    if (row.has_moved || !changes.has_moved) return;
    log.warning("Connection leads elsewhere now", { connection: row.name });
    await makeExecutorsDue(tx, row.id, clock.now());
  };

  /** Of another request than a look; it must not fail for what is noted about it. */
  const note = async (id: string, fault: Fault | null): Promise<void> => {
    try {
      await db.write(async (tx) => {
        const row = await connectionRows.find(tx, id);
        if (row !== null && (fault !== null || isNews(row, clock.now()))) await store(tx, row, fault, null);
      });
    } catch (error) {
      log.warning("The state of a connection was not stored", { connection: id, error });
    }
  };

  const inTime = async <T>(stopping: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const late = new AbortController();
    const ended = new AbortController();
    clock.sleep(lookTimeoutMs, ended.signal).then(
      () => late.abort(),
      () => "the look ended in time",
    );
    try {
      return await work(AbortSignal.any([stopping, late.signal]));
    } catch (cause) {
      if (stopping.aborted || !late.signal.aborted) throw cause;
      throw new PluginError("unreachable", say("connections.silent", { seconds: lookTimeoutMs / 1000 }), { cause });
    } finally {
      ended.abort();
    }
  };

  const ping = async (row: ConnectionRow, stopping: AbortSignal): Promise<Looked> => {
    try {
      return await inTime(stopping, async (signal) => {
        await using session = await options.open(row, signal);
        await session.ping();
        if (!isIdentityDue(row, clock.now())) return { fault: null };
        return { fault: null, identity: await identityOf(session, signal) };
      });
    } catch (error) {
      if (stopping.aborted) throw error;
      if (error instanceof PluginError || error instanceof AppError)
        return { fault: { code: error.code, message: saidBy(error) } };
      log.error("Connection could not be checked", { connection: row.name, error });
      return { fault: { code: "internal", message: say("connections.look_failed") } };
    }
  };

  const look = async (id: string, signal: AbortSignal): Promise<void> => {
    const now = clock.now();
    const owner = `${options.instance_id}:${newId(now)}`;
    const claimed = await db.write((tx) => claimLook(tx, id, { owner, now, until: now + leaseMs }));
    if (claimed === null) return;
    const looked = await ping(claimed, signal);
    await db.write(async (tx) => {
      const row = await connectionRows.find(tx, id);
      if (row?.lease_owner === owner) await store(tx, row, looked.fault, looked);
    });
  };

  return {
    inTime,
    storeIdentity,
    /** A session whose responses count as looks, and so do its failures to reach the runtime. */
    open: async (row: ConnectionRow, signal: AbortSignal, session?: SessionOptions): Promise<RuntimeSession> => {
      const noted = async (fault: unknown): Promise<unknown> => {
        if (fault instanceof PluginError && fault.code === "unreachable" && !signal.aborted) {
          await note(row.id, { code: fault.code, message: fault.said });
        }
        return fault;
      };
      let hasNews = isNews(row, clock.now());
      const onAnswer = async () => {
        if (!hasNews) return;
        hasNews = false;
        await note(row.id, null);
      };
      try {
        return observedSession(await options.open(row, signal, session), { onAnswer, onFault: noted });
      } catch (fault) {
        throw await noted(fault);
      }
    },
    work: {
      name: "looks",
      due_times: lookDueTimes({ pause_ms: lookIntervalMs, lease_ms: leaseMs }),
      concurrency: looksAtOnce,
      per_key: 1,
      on_stop: "abort" as const,
      due: async (now: number, limit: number): Promise<{ id: string }[]> => await dueLooks(db.read, { now, limit }),
      keyOf: (item: { id: string }): string => item.id,
      perform: (item: { id: string }, signal: AbortSignal): Promise<void> => look(item.id, signal),
    },
  };
}
