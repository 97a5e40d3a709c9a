import { and, eq, getTableColumns, inArray, isNotNull, notInArray, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { lastFirst } from "../db/insertion-order.ts";
import { rowWrites } from "../db/rows.ts";
import { executor_bindings, executors, runs, seen_versions } from "../db/tables.ts";

export type SeenVersionRow = typeof seen_versions.$inferSelect;
export const seenVersionWrites = rowWrites(seen_versions);

/** In the order in which they were stored, whatever the clock showed; the newest first. */
export async function seenVersionsOf(read: Reader, executorId: string, limit: number): Promise<SeenVersionRow[]> {
  return await read
    .select()
    .from(seen_versions)
    .where(eq(seen_versions.executor_id, executorId))
    .orderBy(lastFirst(seen_versions))
    .limit(limit);
}

/** The same of the services that follow a tracker, with their executors' names. */
export async function seenVersionsUnder(read: Reader, trackerId: string, limit: number) {
  return await read
    .select({ ...getTableColumns(seen_versions), executor: executors.name })
    .from(seen_versions)
    .innerJoin(
      executor_bindings,
      and(
        eq(executor_bindings.executor_id, seen_versions.executor_id),
        eq(executor_bindings.service, seen_versions.service),
      ),
    )
    .innerJoin(executors, eq(executors.id, seen_versions.executor_id))
    .where(eq(executor_bindings.tracker_id, trackerId))
    .orderBy(lastFirst(seen_versions))
    .limit(limit);
}

/** The last one of each service. */
export async function lastSeenVersions(read: Reader, executorId: string): Promise<SeenVersionRow[]> {
  const last = read
    .select({ rowid: sql`max(rowid)` })
    .from(seen_versions)
    .where(eq(seen_versions.executor_id, executorId))
    .groupBy(seen_versions.service);
  return await read.select().from(seen_versions).where(inArray(sql`rowid`, last));
}

/** Removes all but the newest `keep` of a service. */
export async function trimSeenVersions(tx: Writer, executorId: string, service: string, keep: number): Promise<void> {
  const own = and(eq(seen_versions.executor_id, executorId), eq(seen_versions.service, service));
  const kept = tx
    .select({ id: seen_versions.id })
    .from(seen_versions)
    .where(own)
    .orderBy(lastFirst(seen_versions))
    .limit(keep);
  await tx.delete(seen_versions).where(and(own, notInArray(seen_versions.id, kept)));
}

const runColumns = { id: runs.id, kind: runs.kind, plan: runs.plan, ended_at: runs.ended_at, serving: runs.serving };
export type RunOfVersion = Pick<typeof runs.$inferSelect, keyof typeof runColumns>;

/** The last run that has begun to change the target; null if there is none. */
export async function lastChangingRun(read: Reader, executorId: string): Promise<RunOfVersion | null> {
  const hasBegun = and(eq(runs.executor_id, executorId), isNotNull(runs.started_at), sql`${runs.state} <> 'skipped'`);
  const rows = await read.select(runColumns).from(runs).where(hasBegun).orderBy(lastFirst(runs)).limit(1);
  return rows[0] ?? null;
}

/** Runs that installed what they planned, the newest first. */
export async function completedRuns(read: Reader, executorId: string, limit: number): Promise<RunOfVersion[]> {
  return await read
    .select(runColumns)
    .from(runs)
    .where(and(eq(runs.executor_id, executorId), inArray(runs.state, ["succeeded", "degraded"])))
    .orderBy(lastFirst(runs))
    .limit(limit);
}
