import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  ne,
  not,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader, Writer } from "../db/client.ts";
import { type DueTime, leaseTime } from "../db/due-times.ts";
import { cameAfter, lastFirst } from "../db/insertion-order.ts";
import { listsOver, oneOf } from "../db/listing.ts";
import { preparedFor, rowsAmong } from "../db/prepared.ts";
import { rowsOf } from "../db/rows.ts";
import { alikeConnections, isSameEngine } from "../db/same-engine.ts";
import { connections, executors, run_steps, runs } from "../db/tables.ts";
import type { Message } from "../messages/message.ts";
import type { RunState } from "./states.ts";

export type RunRow = typeof runs.$inferSelect;
/** Without what only its own page shows. */
export type ListedRun = Omit<RunRow, "plan">;
export type RunStepRow = typeof run_steps.$inferSelect;

/** Literals, not parameters: only then can the planner use the partial indexes over active runs. */
export const isActive = sql`${runs.state} in ('pending', 'capturing', 'updating', 'verifying')`;
/** The states in which a run works on its target; in `pending` it does so only while claimed. */
const workingStates = ["capturing", "updating", "verifying"] as const;

/** More runs than any connection allows at once. */
const maxAhead = 100;

const isNotAwaiting = or(isNull(runs.approval), ne(runs.approval, "awaiting"));

/** Not leased, or the lease has expired. */
export const isFree = (now: number | Placeholder) => or(isNull(runs.lease_until), lt(runs.lease_until, now));

export const { find: findRun, byIds: runsByIds } = rowsOf(runs, "run");

export const runLists = listsOver(
  runs,
  (read) => {
    const name = "(select e.name from executors e where e.id = runs.executor_id)";
    return {
      sorts: { time: "runs.id", executor: name, downtime: "coalesce(runs.downtime_ms, -1)" },
      filters: {
        state: runs.state,
        trigger: runs.trigger,
        executor_id: oneOf(runs.executor_id),
      },
      searched: [
        (contains: (text: SQL | SQLiteColumn) => SQL) =>
          inArray(runs.executor_id, read.select({ id: executors.id }).from(executors).where(contains(executors.name))),
      ],
    };
  },
  ["plan"],
);

const namedExecutors = rowsAmong((read, isAmong) =>
  read.select({ id: executors.id, name: executors.name }).from(executors).where(isAmong(executors.id)),
);

export async function namesOfExecutors(read: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await namedExecutors(read, ids);
  return new Map(rows.map((row) => [row.id, row.name]));
}

export interface ExecutorOfRun {
  id: string;
  name: string;
  connection_id: string;
  connection: string;
  is_connection_enabled: boolean;
  /** How many runs may work on the connection at once. */
  concurrent_runs: number;
}

export async function executorOfRun(read: Reader, executorId: string): Promise<ExecutorOfRun | null> {
  const rows = await read
    .select({
      id: executors.id,
      name: executors.name,
      connection_id: executors.connection_id,
      connection: connections.name,
      is_connection_enabled: connections.is_enabled,
      concurrent_runs: connections.concurrent_runs,
    })
    .from(executors)
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(eq(executors.id, executorId))
    .limit(1);
  return rows[0] ?? null;
}

export async function activeRunOf(read: Reader, executorId: string): Promise<RunRow | null> {
  const rows = await read
    .select()
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), isActive))
    .limit(1);
  return rows[0] ?? null;
}

/** A run that comes before another on its connection. */
export interface RunAhead {
  id: string;
  executor: string;
}

/**
 * The runs ahead of this one on a connection: first those in progress, then those that have waited longer. A run that awaits approval does
 * no work and blocks no other.
 */
export async function runsAhead(
  read: Reader,
  connectionId: string,
  run: Pick<RunRow, "id" | "due_at">,
  now: number,
): Promise<readonly RunAhead[]> {
  const isLeased = and(isNotNull(runs.lease_owner), gt(runs.lease_until, now));
  const isWorking = or(inArray(runs.state, [...workingStates]), and(eq(runs.state, "pending"), isLeased));
  const isOlder = or(lt(runs.due_at, run.due_at), and(eq(runs.due_at, run.due_at), lt(runs.id, run.id)));
  const isWaiting = and(eq(runs.state, "pending"), isFree(now), lte(runs.due_at, now), isOlder, isNotAwaiting);
  const found = await read
    .select({ id: runs.id, executor: executors.name, is_working: sql<number>`${isWorking}`.as("is_working") })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .where(
      and(
        inArray(executors.connection_id, alikeConnections(read, connectionId)),
        ne(runs.id, run.id),
        isActive,
        or(isWorking, isWaiting),
      ),
    )
    .orderBy(desc(sql`is_working`), asc(runs.due_at), asc(runs.id))
    .limit(maxAhead);
  return found.map(({ id, executor }) => ({ id, executor }));
}

/** Runs that work on a connection's engine, or that after their end retry a target or remove backups there, with their plans. */
export async function runsAtWork(
  read: Reader,
  connectionId: string,
  exceptId: string,
  now: number,
): Promise<readonly (RunAhead & { plan: unknown })[]> {
  const isWorking = and(isActive, inArray(runs.state, [...workingStates]));
  const isClearing = and(or(isNotNull(runs.cleanup_due_at), isNotNull(runs.outage_due_at)), gt(runs.lease_until, now));
  return await read
    .select({ id: runs.id, executor: executors.name, plan: runs.plan })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .where(
      and(
        inArray(executors.connection_id, alikeConnections(read, connectionId)),
        ne(runs.id, exceptId),
        or(isWorking, isClearing),
      ),
    );
}

/** Whether an automatic run has already made this attempt for a revision. */
export async function hasAttempt(
  read: Reader,
  executorId: string,
  revision: string,
  attempt: number,
): Promise<boolean> {
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.executor_id, executorId),
        eq(runs.desired_revision, revision),
        eq(runs.attempt, attempt),
        eq(runs.kind, "update"),
        ne(runs.trigger, "manual"),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

export async function insertRun(tx: Writer, row: typeof runs.$inferInsert): Promise<void> {
  await tx.insert(runs).values(row);
}

/** Deletes an automatic run that is no longer wanted; only by its owner, and only before it started. */
export async function deletePendingRun(tx: Writer, id: string, owner: string): Promise<void> {
  await tx.delete(runs).where(and(eq(runs.id, id), eq(runs.lease_owner, owner), eq(runs.state, "pending")));
}

/** Stores why a pending run has not started yet. */
export async function noteWaiting(tx: Writer, id: string, code: string, reason: Message): Promise<void> {
  await tx
    .update(runs)
    .set({ reason_code: code, reason })
    .where(and(eq(runs.id, id), eq(runs.state, "pending"), or(isNull(runs.reason), ne(runs.reason, reason))));
}

/**
 * Unleased runs that are due to start, recover, retry a target they left down, or clean up; the longest due first. A run that waits
 * for its connection is skipped until that is free, so that a long queue there delays no other connection.
 */
export async function dueRuns(read: Reader, now: number, limit: number): Promise<string[]> {
  const due = await Promise.all(dueKinds(read).map((kind) => kind.all({ now, limit })));
  return [...new Set(due.flat().map(({ id }) => id))].slice(0, limit);
}

const dueKinds = preparedFor((read: Reader) => {
  const [now, limit] = [sql.placeholder("now"), sql.placeholder("limit")];
  const [own, twin] = [alias(connections, "own"), alias(connections, "twin")];
  const [other, otherExecutor] = [alias(runs, "other"), alias(executors, "other_executor")];
  // One query for all connections, not one per waiting run.
  const busy = read
    .select({ id: own.id })
    .from(own)
    .innerJoin(twin, isSameEngine(twin, own))
    .innerJoin(otherExecutor, eq(otherExecutor.connection_id, twin.id))
    .innerJoin(other, eq(other.executor_id, otherExecutor.id))
    .where(
      and(
        sql`${other.state} in ('pending', 'capturing', 'updating', 'verifying')`,
        inArray(other.state, [...workingStates]),
      ),
    )
    .groupBy(own.id)
    .having(gte(count(), own.concurrent_runs));
  const isBusy = inArray(connections.id, busy);
  const isTold = and(eq(runs.state, "pending"), eq(runs.reason_code, "waiting_for_connection"));
  const active = read
    .select({ id: runs.id })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(
      and(
        isActive,
        lte(runs.due_at, now),
        isFree(now),
        or(isNull(runs.reason_code), not(and(isTold, isBusy) ?? isBusy)),
      ),
    )
    .orderBy(asc(runs.due_at), asc(runs.id))
    .limit(limit)
    .prepare();
  const dueBy = (at: SQLiteColumn) =>
    read
      .select({ id: runs.id })
      .from(runs)
      .where(and(lte(at, now), isFree(now)))
      .orderBy(asc(at))
      .limit(limit)
      .prepare();
  return [active, dueBy(runs.outage_due_at), dueBy(runs.cleanup_due_at)];
});

interface RunPauses {
  /** Between two attempts of any kind. */
  retry_ms: number;
  /** Between two attempts to start a target that is down. */
  outage_ms: number;
  /** Until a window opens. */
  window_ms: number;
  lease_ms: number;
}

/** A run that awaits approval is due when the approval expires, which a wrong clock must not bring forward. */
export function runDueTimes({ retry_ms, outage_ms, window_ms, lease_ms }: RunPauses): readonly DueTime[] {
  const isAwaiting = and(isActive, eq(runs.approval, "awaiting"));
  const approvalMs = sql`(select ${executors.approval_hours} * 3600000 from ${executors} where ${executors.id} = ${runs.executor_id})`;
  return [
    {
      table: runs,
      column: runs.due_at,
      where: and(isActive, isNotAwaiting),
      longest_ms: sql`case when ${runs.reason_code} = 'waiting_for_window' then ${window_ms} else ${retry_ms} end`,
    },
    { table: runs, column: runs.due_at, where: isAwaiting, longest_ms: approvalMs, is_end: true },
    {
      table: runs,
      column: runs.approval_until,
      where: isAwaiting,
      longest_ms: approvalMs,
      instead_ms: approvalMs,
      is_end: true,
    },
    { table: runs, column: runs.cleanup_due_at, longest_ms: retry_ms },
    { table: runs, column: runs.outage_due_at, longest_ms: outage_ms },
    leaseTime(runs, lease_ms),
  ];
}

interface RunLease {
  owner: string;
  now: number;
  until: number;
}

/** Claims an unleased run if `condition` holds; null if it does not, or no longer. */
export async function takeRun(
  tx: Writer,
  id: string,
  lease: RunLease,
  condition: SQL | undefined,
): Promise<RunRow | null> {
  const rows = await tx
    .update(runs)
    .set({ lease_owner: lease.owner, lease_until: lease.until })
    .where(and(eq(runs.id, id), isFree(lease.now), condition))
    .returning();
  return rows[0] ?? null;
}

/** Claims a due run; null if another process was faster. */
export function leaseRun(tx: Writer, id: string, lease: RunLease): Promise<RunRow | null> {
  const isDue = or(
    and(isActive, lte(runs.due_at, lease.now)),
    lte(runs.cleanup_due_at, lease.now),
    lte(runs.outage_due_at, lease.now),
  );
  return takeRun(tx, id, lease, isDue);
}

type RunChanges = Partial<typeof runs.$inferInsert>;

/** The fence of every write to a run: false, and nothing is written, if another owner holds it or `condition` does not hold. */
async function writeHeld(
  tx: Writer,
  id: string,
  owner: string,
  changes: RunChanges,
  condition?: SQL,
): Promise<boolean> {
  const rows = await tx
    .update(runs)
    .set(changes)
    .where(and(eq(runs.id, id), eq(runs.lease_owner, owner), condition))
    .returning({ id: runs.id });
  return rows.length > 0;
}

export function renewLease(tx: Writer, id: string, owner: string, until: number): Promise<boolean> {
  return writeHeld(tx, id, owner, { lease_until: until });
}

/** Writes columns of a run. Never the state: that is `advance`. */
export function updateHeldRun(
  tx: Writer,
  id: string,
  owner: string,
  changes: Omit<RunChanges, "state" | "id">,
): Promise<boolean> {
  return writeHeld(tx, id, owner, changes);
}

/** Compare-and-set of the state. */
export function moveRun(
  tx: Writer,
  id: string,
  owner: string,
  from: RunState,
  to: RunState,
  changes: Omit<RunChanges, "state" | "id">,
): Promise<boolean> {
  return writeHeld(tx, id, owner, { ...changes, state: to }, eq(runs.state, from));
}

/** For a process that knows it is alone: leases of earlier processes expire now. */
export async function dropLeasesOfOthers(tx: Writer, instanceId: string): Promise<void> {
  await tx
    .update(runs)
    .set({ lease_until: 0 })
    .where(
      and(isNotNull(runs.lease_owner), sql`substr(${runs.lease_owner}, 1, ${instanceId.length}) <> ${instanceId}`),
    );
}

export async function appendStep(tx: Writer, row: Omit<RunStepRow, "seq">): Promise<number> {
  const last = await tx
    .select({ seq: max(run_steps.seq) })
    .from(run_steps)
    .where(eq(run_steps.run_id, row.run_id));
  const seq = (last[0]?.seq ?? 0) + 1;
  await tx.insert(run_steps).values({ ...row, seq });
  return seq;
}

/** Removes the entries between the last `begin` of a step and a later entry. */
export async function deleteStepsBetween(tx: Writer, runId: string, step: string, before: number): Promise<void> {
  const begun = await tx
    .select({ seq: max(run_steps.seq) })
    .from(run_steps)
    .where(and(eq(run_steps.run_id, runId), eq(run_steps.step, step), eq(run_steps.phase, "begin")));
  const after = begun[0]?.seq;
  if (after == null) return;
  await tx
    .delete(run_steps)
    .where(and(eq(run_steps.run_id, runId), gt(run_steps.seq, after), lt(run_steps.seq, before)));
}

/** The run of an executor that was queued last, whatever its outcome; null before the first. */
export async function newestRunOf(read: Reader, executorId: string): Promise<string | null> {
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(eq(runs.executor_id, executorId))
    .orderBy(lastFirst(runs))
    .limit(1);
  return rows[0]?.id ?? null;
}

/** A later run of the same executor that has changed its target, by the given steps; null if there is none. */
export async function newerRunOf(
  read: Reader,
  run: Pick<RunRow, "id" | "executor_id">,
  touching: readonly string[],
): Promise<string | null> {
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .innerJoin(run_steps, and(eq(run_steps.run_id, runs.id), inArray(run_steps.step, [...touching])))
    .where(and(eq(runs.executor_id, run.executor_id), cameAfter(runs, run.id)))
    .limit(1);
  return rows[0]?.id ?? null;
}

/** An ended run has either taken over an outage or changed nothing: find out now, not at the next attempt. */
export async function makeOutagesDue(tx: Writer, { id, executor_id }: RunRow, now: number): Promise<void> {
  const isOther = and(eq(runs.executor_id, executor_id), ne(runs.id, id));
  await tx
    .update(runs)
    .set({ outage_due_at: now })
    .where(and(isOther, isNotNull(runs.outage_due_at)));
}

/** A run of the executor whose target is down and has to be started; null if there is none. */
export async function outageOf(read: Reader, executorId: string): Promise<string | null> {
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), isNotNull(runs.outage_due_at)))
    .limit(1);
  return rows[0]?.id ?? null;
}

export async function stepsAfter(read: Reader, runId: string, seq: number, limit: number): Promise<RunStepRow[]> {
  return await read
    .select()
    .from(run_steps)
    .where(and(eq(run_steps.run_id, runId), gt(run_steps.seq, seq)))
    .orderBy(asc(run_steps.seq))
    .limit(limit);
}

export async function makeExecutorDue(tx: Writer, executorId: string, now: number): Promise<void> {
  await tx.update(executors).set({ next_evaluation_at: now }).where(eq(executors.id, executorId));
}
