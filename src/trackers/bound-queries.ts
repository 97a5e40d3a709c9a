import { and, asc, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { preparedFor } from "../db/prepared.ts";
import { events, executor_bindings, executors, snapshots } from "../db/tables.ts";

export interface BoundExecutor {
  id: string;
  name: string;
  service: string;
  tracker_id: string;
  source_id: string;
  /** The channel's name. */
  channel: string;
  observed: Readonly<Record<string, unknown>> | null;
}

function boundExecutors(read: Reader, condition: SQL) {
  return read
    .select({
      id: executors.id,
      name: executors.name,
      service: executor_bindings.service,
      tracker_id: executor_bindings.tracker_id,
      source_id: executor_bindings.source_id,
      channel: executor_bindings.channel,
      observed: executors.observed,
    })
    .from(executor_bindings)
    .innerJoin(executors, eq(executors.id, executor_bindings.executor_id))
    .where(condition)
    .orderBy(asc(executors.name), asc(executor_bindings.service));
}

export async function executorsOfTrackers(read: Reader, trackerIds: readonly string[]): Promise<BoundExecutor[]> {
  if (trackerIds.length === 0) return [];
  return await boundExecutors(read, inArray(executor_bindings.tracker_id, [...trackerIds]));
}

const boundToSource = preparedFor((read: Reader) =>
  boundExecutors(read, eq(executor_bindings.source_id, sql.placeholder("source_id"))).prepare(),
);

export async function executorsOfSource(read: Reader, sourceId: string): Promise<BoundExecutor[]> {
  return await boundToSource(read).all({ source_id: sourceId });
}

/** More than the executors of one source keep. */
const maxSnapshotsRead = 100_000;

/** What the snapshots of the executors that are bound to a source name. */
export async function snapshotsOnSource(
  read: Reader,
  sourceId: string,
): Promise<{ reference: string; digest: string | null }[]> {
  return await read
    .selectDistinct({ reference: snapshots.reference, digest: snapshots.digest })
    .from(snapshots)
    .innerJoin(executor_bindings, eq(executor_bindings.executor_id, snapshots.executor_id))
    .where(eq(executor_bindings.source_id, sourceId))
    .limit(maxSnapshotsRead);
}

/** Their triggers are evaluated at the next tick. */
export async function wakeExecutors(
  tx: Writer,
  sourceId: string,
  channels: readonly string[],
  now: number,
): Promise<void> {
  if (channels.length === 0) return;
  const bound = tx
    .select({ id: executor_bindings.executor_id })
    .from(executor_bindings)
    .where(and(eq(executor_bindings.source_id, sourceId), inArray(executor_bindings.channel, [...channels])));
  await tx.update(executors).set({ next_evaluation_at: now }).where(inArray(executors.id, bound));
}

/** The event that announced a version in a channel of a tracker. */
export async function findReleaseEvent(
  read: Reader,
  trackerId: string,
  fact: { channel: string; version: string },
): Promise<{ id: string; facts: Readonly<Record<string, unknown>> } | null> {
  const rows = await read
    .select({ id: events.id, facts: events.facts })
    .from(events)
    .where(
      and(
        eq(events.tracker_id, trackerId),
        eq(events.kind, "new_release"),
        sql`json_extract(${events.facts}, '$.channel') = ${fact.channel}`,
        sql`json_extract(${events.facts}, '$.version') = ${fact.version}`,
      ),
    )
    .orderBy(desc(events.created_at))
    .limit(1);
  return rows[0] ?? null;
}

export async function updateEventFacts(
  tx: Writer,
  id: string,
  facts: Readonly<Record<string, unknown>>,
): Promise<void> {
  await tx.update(events).set({ facts }).where(eq(events.id, id));
}
