import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, lte, notInArray, or, type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import type { LookFacts } from "../connections/schema.ts";
import type { Reader, Writer } from "../db/client.ts";
import { type DueTime, leaseTime } from "../db/due-times.ts";
import { lastFirst } from "../db/insertion-order.ts";
import { listsOver } from "../db/listing.ts";
import { lookColumns } from "../db/look-columns.ts";
import { rowsAmong, rowsOfPrepared } from "../db/prepared.ts";
import { namedRowsOf } from "../db/rows.ts";
import { alikeConnections } from "../db/same-engine.ts";
import {
  connections,
  executor_bindings,
  executors,
  releases,
  runs,
  tracker_channels,
  tracker_sources,
  trackers,
} from "../db/tables.ts";
import { storedOutage } from "./outage-schema.ts";

/** The part of an observation that names digests. */
const Named = v.nullable(v.object({ digest: v.nullable(v.string()), tag: v.nullable(v.string()) }));
const RememberedTags = v.object({ services: v.array(v.object({ service: v.string(), found: Named, desired: Named })) });

export type ExecutorRow = typeof executors.$inferSelect;

/** Literals, not parameters: only then can the planner use the partial index over active runs. */
const isActive = sql`${runs.state} in ('pending', 'capturing', 'updating', 'verifying')`;

export const {
  find: findExecutor,
  byIds: executorsByIds,
  findByName: findExecutorByName,
  insert: insertExecutor,
  update: updateExecutorRow,
  remove: deleteExecutorRow,
} = namedRowsOf(executors, "executor");

export async function findExecutorByTarget(
  read: Reader,
  connectionId: string,
  kind: string,
  targetId: string,
): Promise<ExecutorRow | null> {
  const rows = await read
    .select()
    .from(executors)
    .where(
      and(
        inArray(executors.connection_id, alikeConnections(read, connectionId)),
        eq(executors.target_kind, kind),
        eq(executors.target_id, targetId),
      ),
    )
    .limit(1);
  return rows[0] ?? null;
}

/** Every executor on a connection's engine, by name. */
export async function executorsOfConnection(read: Reader, connectionId: string): Promise<ExecutorRow[]> {
  return await read
    .select()
    .from(executors)
    .where(inArray(executors.connection_id, alikeConnections(read, connectionId)))
    .orderBy(asc(executors.name));
}

interface ExecutorListContext {
  /** The ids of the executors in each state. */
  inState: ReadonlyMap<string, readonly string[]>;
  states: readonly string[];
}

/** What needs attention first. */
const byUrgency = ["failed", "unknown", "update", "waiting", "running", "held", "snoozed", "skipped", "dismissed"];

/** The place of an executor's state among those. */
function urgencyIn(inState: ExecutorListContext["inState"]): SQL {
  const places = byUrgency.map((state, place) => {
    const ids = JSON.stringify(inState.get(state) ?? []);
    return sql`when executors.id in (select value from json_each(${ids})) then ${place}`;
  });
  return sql`case ${sql.join(places, sql` `)} else ${byUrgency.length} end`;
}

export const executorLists = listsOver(executors, (read, { inState, states }: ExecutorListContext) => ({
  sorts: {
    name: "executors.name",
    target: "executors.target_id",
    state: urgencyIn(inState),
    run: "(select coalesce(max(r.ended_at), 0) from runs r where r.executor_id = executors.id)",
  },
  filters: {
    state: Object.fromEntries(
      states.map((state) => {
        const ids = JSON.stringify(inState.get(state) ?? []);
        return [state, sql`${executors.id} in (select value from json_each(${ids}))`];
      }),
    ),
    trigger: executors.trigger,
    connection_id: (id: string) => eq(executors.connection_id, id),
    tracker: (name: string) =>
      inArray(
        executors.id,
        read
          .select({ id: executor_bindings.executor_id })
          .from(executor_bindings)
          .innerJoin(trackers, eq(trackers.id, executor_bindings.tracker_id))
          .where(eq(trackers.name, name)),
      ),
  },
  searched: [executors.name, executors.description, executors.target_id],
}));

export interface BindingRow {
  executor_id: string;
  service: string;
  tracker_id: string;
  tracker: string;
  source_id: string;
  source: string;
  source_kind: string;
  credential_id: string | null;
  /** The channel's name. */
  channel: string;
}

const boundSource = {
  tracker_id: trackers.id,
  tracker: trackers.name,
  source_id: tracker_sources.id,
  source: tracker_sources.key,
  source_kind: tracker_sources.kind,
  credential_id: tracker_sources.credential_id,
};

export const bindingsOfExecutors = rowsAmong<BindingRow>((read, isAmong) =>
  read
    .select({
      executor_id: executor_bindings.executor_id,
      service: executor_bindings.service,
      ...boundSource,
      channel: executor_bindings.channel,
    })
    .from(executor_bindings)
    .innerJoin(trackers, eq(trackers.id, executor_bindings.tracker_id))
    .innerJoin(tracker_sources, eq(tracker_sources.id, executor_bindings.source_id))
    .where(isAmong(executor_bindings.executor_id))
    .orderBy(asc(executor_bindings.service)),
);

/** A tracker's source, by the names that people use; null if there is none. */
export async function findBindable(
  read: Reader,
  tracker: string,
  source: string,
): Promise<Omit<BindingRow, "executor_id" | "service" | "channel"> | null> {
  const rows = await read
    .select(boundSource)
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(and(eq(trackers.name, tracker), eq(tracker_sources.key, source)))
    .limit(1);
  return rows[0] ?? null;
}

export async function channelsOfSource(read: Reader, sourceId: string): Promise<string[]> {
  const rows = await read
    .select({ name: tracker_channels.name })
    .from(tracker_channels)
    .where(eq(tracker_channels.source_id, sourceId))
    .orderBy(asc(tracker_channels.position));
  return rows.map((row) => row.name);
}

export async function trackerExists(read: Reader, name: string): Promise<boolean> {
  return (await read.select({ id: trackers.id }).from(trackers).where(eq(trackers.name, name)).limit(1)).length > 0;
}

/** Tags of a source with this digest, newest first: names for a reference by digest. */
export async function tagsOfDigest(read: Reader, sourceId: string, digest: string): Promise<string[]> {
  const rows = await read
    .select({ tag: releases.tag })
    .from(releases)
    .where(and(eq(releases.source_id, sourceId), eq(releases.revision, digest)))
    .orderBy(desc(releases.first_observed_at))
    .limit(20);
  return rows.map((row) => row.tag);
}

/** Tags of a source that contain a text; the caller judges what they are. */
export async function tagsWith(read: Reader, sourceId: string, text: string): Promise<string[]> {
  const rows = await read
    .select({ tag: releases.tag })
    .from(releases)
    .where(and(eq(releases.source_id, sourceId), sql`instr(${releases.tag}, ${text}) > 0`))
    .limit(200);
  return rows.map((row) => row.tag);
}

/** The tag that an executor's last observation, or its runs, recorded for a digest; null if there is none. */
export async function rememberedTag(
  read: Reader,
  executorId: string,
  service: string,
  digest: string,
): Promise<string | null> {
  const observed = v.safeParse(RememberedTags, (await findExecutor(read, executorId))?.observed);
  const known = (observed.success ? observed.output.services : [])
    .filter((each) => each.service === service)
    .flatMap(({ found, desired }) => [found, desired])
    .find((each) => each?.digest === digest && each.tag !== null);
  if (known?.tag != null) return known.tag;
  const rows = await read
    .select({ from: runs.from_tag, from_digest: runs.from_digest, to: runs.to_tag })
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), or(eq(runs.from_digest, digest), eq(runs.to_digest, digest))))
    .orderBy(desc(runs.created_at))
    .limit(20);
  const tags = rows.map((row) => (row.from_digest === digest ? row.from : row.to));
  return tags.find((tag) => tag !== null) ?? null;
}

export const connectionFacts = rowsAmong<{ id: string; name: string; kind: string } & LookFacts>((read, isAmong) =>
  read
    .select({ id: connections.id, name: connections.name, kind: connections.kind, ...lookColumns })
    .from(connections)
    .where(isAmong(connections.id)),
);

/** The run that keeps others of the same executor from starting. */
export async function activeRunOf(read: Reader, executorId: string): Promise<string | null> {
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), isActive))
    .limit(1);
  return rows[0]?.id ?? null;
}

/** An ended run that still has to start its target or remove backups, on an enabled connection. */
export async function owingRunOf(read: Reader, executorId: string): Promise<{ id: string; is_down: boolean } | null> {
  const rows = await read
    .select({ id: runs.id, outage_due_at: runs.outage_due_at })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(
      and(
        eq(runs.executor_id, executorId),
        or(isNotNull(runs.cleanup_due_at), isNotNull(runs.outage_due_at)),
        eq(connections.is_enabled, true),
      ),
    )
    .orderBy(desc(runs.outage_due_at))
    .limit(1);
  const [row] = rows;
  return row === undefined ? null : { id: row.id, is_down: row.outage_due_at !== null };
}

/**
 * The plan of the last run that changed the target, if it left parts down that should run. For an automatic run only while attempts to
 * bring them up continue: after that they may have been stopped on purpose.
 */
export async function owingPlan(
  read: Reader,
  executorId: string,
  isAutomatic: boolean,
): Promise<Readonly<Record<string, unknown>> | null> {
  const isServing = inArray(runs.serving, ["desired", "previous", "mixed"]);
  const [last] = await read
    .select({ plan: runs.plan, outage: runs.outage })
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), or(isNotNull(runs.outage), isServing)))
    .orderBy(lastFirst(runs))
    .limit(1);
  const outage = storedOutage(last?.outage);
  if (outage === null) return null;
  const { outcome } = outage;
  const isOwed = outcome === null || (!isAutomatic && (outcome === "given_up" || outcome === "disabled"));
  return isOwed ? (last?.plan ?? null) : null;
}

/** Disabling an executor ends its outage now, not at the next attempt. */
export async function makeOutageDue(tx: Writer, executorId: string, now: number): Promise<void> {
  await tx
    .update(runs)
    .set({ outage_due_at: now })
    .where(and(eq(runs.executor_id, executorId), isNotNull(runs.outage_due_at)));
}

export type RunSummary = Pick<
  typeof runs.$inferSelect,
  | "id"
  | "kind"
  | "state"
  | "trigger"
  | "attempt"
  | "reason_code"
  | "reason"
  | "serving"
  | "outage"
  | "outage_due_at"
  | "downtime_ms"
  | "desired_revision"
  | "from_tag"
  | "to_tag"
  | "approval"
  | "approval_until"
  | "due_at"
  | "started_at"
  | "ended_at"
>;

const runSummary = {
  id: runs.id,
  kind: runs.kind,
  state: runs.state,
  trigger: runs.trigger,
  attempt: runs.attempt,
  reason_code: runs.reason_code,
  reason: runs.reason,
  serving: runs.serving,
  outage: runs.outage,
  outage_due_at: runs.outage_due_at,
  downtime_ms: runs.downtime_ms,
  desired_revision: runs.desired_revision,
  from_tag: runs.from_tag,
  to_tag: runs.to_tag,
  approval: runs.approval,
  approval_until: runs.approval_until,
  due_at: runs.due_at,
  started_at: runs.started_at,
  ended_at: runs.ended_at,
};

/** The latest runs of an executor, newest first. */
export async function recentRunsOf(read: Reader, executorId: string, limit: number): Promise<RunSummary[]> {
  return await read
    .select(runSummary)
    .from(runs)
    .where(eq(runs.executor_id, executorId))
    .orderBy(lastFirst(runs))
    .limit(limit);
}

/** The last run that ended and was not skipped; null if there is none. */
export async function lastSettledRun(read: Reader, executorId: string): Promise<RunSummary | null> {
  const rows = await read
    .select(runSummary)
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), inArray(runs.state, ["succeeded", "degraded", "failed"])))
    .orderBy(lastFirst(runs))
    .limit(1);
  return rows[0] ?? null;
}

const lastRun = (condition: SQL) =>
  sql`(select r.rowid from runs r where r.executor_id = ${executors.id} and ${condition} order by r.rowid desc limit 1)`;
/** The active run where there is one. */
const lastNotSkipped = lastRun(sql`r.state <> 'skipped'`);
const lastEnded = lastRun(sql`r.state in ('succeeded', 'degraded', 'failed', 'skipped')`);

const decisiveRunsOf = rowsAmong((read, isAmong) =>
  read
    .select({ executor_id: executors.id, run: runSummary })
    .from(executors)
    .innerJoin(runs, sql`${runs}.rowid in (${lastNotSkipped}, ${lastEnded})`)
    .where(isAmong(executors.id))
    .orderBy(lastFirst(runs)),
);

/** The runs that decide what is shown of executors, newest first: the last run of each that was not skipped, and the last that ended. */
export async function decisiveRuns(
  read: Reader,
  executorIds: readonly string[],
): Promise<ReadonlyMap<string, readonly RunSummary[]>> {
  const rows = await decisiveRunsOf(read, executorIds);
  const found = new Map<string, RunSummary[]>();
  for (const { executor_id, run } of rows) found.set(executor_id, [...(found.get(executor_id) ?? []), run]);
  return found;
}

/** The last run of each executor that was not skipped, unless it completed its update: such a run decides no state. */
export const unsuccessfulRuns = rowsOfPrepared((read) =>
  read
    .select({ executor_id: executors.id, run: runSummary })
    .from(executors)
    .innerJoin(runs, sql`${runs}.rowid = ${lastNotSkipped}`)
    .where(notInArray(runs.state, ["succeeded", "degraded"])),
);

/** What is known of every executor's target. */
export const executorsObserved = rowsOfPrepared((read) => {
  const { id, connection_id, observed, held_since, snoozed_until, skipped_versions, dismissed_run_id } = executors;
  return read
    .select({ id, connection_id, observed, held_since, snoozed_until, skipped_versions, dismissed_run_id })
    .from(executors);
});

/** Downtimes of an executor's latest runs that installed another version, in ascending order. */
export async function recentDowntimes(read: Reader, executorId: string, limit: number): Promise<number[]> {
  const rows = await read
    .select({ downtime_ms: runs.downtime_ms })
    .from(runs)
    .where(
      and(
        eq(runs.executor_id, executorId),
        inArray(runs.state, ["succeeded", "degraded"]),
        isNotNull(runs.downtime_ms),
      ),
    )
    .orderBy(lastFirst(runs))
    .limit(limit);
  return rows.flatMap((row) => row.downtime_ms ?? []).toSorted((a, b) => a - b);
}

/** The highest attempt of automatic runs at a revision; 0 if there was none. */
export async function highestAttempt(read: Reader, executorId: string, revision: string): Promise<number> {
  const rows = await read
    .select({ attempt: runs.attempt, trigger: runs.trigger })
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), eq(runs.desired_revision, revision), eq(runs.kind, "update")))
    .orderBy(desc(runs.attempt))
    .limit(50);
  return Math.max(0, ...rows.filter((row) => row.trigger !== "manual").map((row) => row.attempt));
}

export async function replaceBindings(
  tx: Writer,
  executorId: string,
  rows: readonly (typeof executor_bindings.$inferInsert)[],
): Promise<void> {
  await tx.delete(executor_bindings).where(eq(executor_bindings.executor_id, executorId));
  await tx.insert(executor_bindings).values([...rows]);
}

export function evaluationDueTimes(longest: { pause_ms: number; lease_ms: number }): readonly DueTime[] {
  return [
    { table: executors, column: executors.next_evaluation_at, longest_ms: longest.pause_ms },
    // A wrong clock must neither end a snooze nor leave it for years.
    {
      table: executors,
      column: executors.snoozed_until,
      longest_ms: sql`${executors.snoozed_ms}`,
      instead_ms: sql`${executors.snoozed_ms}`,
      is_end: true,
    },
    leaseTime(executors, longest.lease_ms),
  ];
}

/** Executors that are due for evaluation and not leased, the longest due first. */
export const dueExecutors = rowsOfPrepared((read) => {
  const now = sql.placeholder("now");
  const isFree = or(isNull(executors.lease_until), lt(executors.lease_until, now));
  return read
    .select({ id: executors.id })
    .from(executors)
    .where(and(lte(executors.next_evaluation_at, now), isFree))
    .orderBy(asc(executors.next_evaluation_at))
    .limit(sql.placeholder("limit"));
});

/** Moves the due time forward, so that a crash cannot cause a tight loop; false if another instance was faster. */
export async function claimExecutor(
  tx: Writer,
  id: string,
  lease: { owner: string; now: number; until: number; next_evaluation_at: number },
): Promise<boolean> {
  const claimed = await tx
    .update(executors)
    .set({ lease_owner: lease.owner, lease_until: lease.until, next_evaluation_at: lease.next_evaluation_at })
    .where(
      and(
        eq(executors.id, id),
        lte(executors.next_evaluation_at, lease.now),
        or(isNull(executors.lease_until), lt(executors.lease_until, lease.now)),
      ),
    )
    .returning({ id: executors.id });
  return claimed.length > 0;
}

/** Makes every executor in window mode due now, because the time zone has changed. */
export async function makeWindowsDue(tx: Writer, now: number): Promise<void> {
  await tx.update(executors).set({ next_evaluation_at: now }).where(eq(executors.trigger, "window"));
}
