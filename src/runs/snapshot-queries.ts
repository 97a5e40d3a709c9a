import { and, desc, eq, inArray, isNotNull, or, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { lastFirst } from "../db/insertion-order.ts";
import { listsOver } from "../db/listing.ts";
import { rowsAmong } from "../db/prepared.ts";
import { executors, runs, snapshots } from "../db/tables.ts";
import { isActive } from "./queries.ts";

/** Runs that may still need their snapshots: in progress, or with a target that has to be started. */
const isNeedy = or(isActive, isNotNull(runs.outage_due_at));

export type SnapshotRow = typeof snapshots.$inferSelect;

export async function findSnapshot(read: Reader, id: string): Promise<SnapshotRow | null> {
  const rows = await read.select().from(snapshots).where(eq(snapshots.id, id)).limit(1);
  return rows[0] ?? null;
}

/** The latest snapshot of each of these executors, by insertion: two can have the same time. */
export const latestSnapshots = rowsAmong((read, isAmong) => {
  const latest = sql`(select max(other.rowid) from snapshots other where other.executor_id = ${snapshots.executor_id})`;
  return read
    .select({ id: snapshots.id, executor_id: snapshots.executor_id })
    .from(snapshots)
    .where(and(isAmong(snapshots.executor_id), sql`${snapshots}.rowid = ${latest}`));
});

/** The snapshot that a run captured before it changed anything. */
export async function findSnapshotOfRun(read: Reader, runId: string): Promise<SnapshotRow | null> {
  const rows = await read.select().from(snapshots).where(eq(snapshots.run_id, runId)).limit(1);
  return rows[0] ?? null;
}

export const snapshotLists = listsOver(
  snapshots,
  () => ({
    sorts: { time: "snapshots.id", reference: "snapshots.reference", size: "snapshots.size_bytes" },
    filters: {
      lock: { locked: eq(snapshots.is_locked, true), unlocked: eq(snapshots.is_locked, false) },
      executor_id: (id: string) => eq(snapshots.executor_id, id),
    },
    searched: [snapshots.reference, snapshots.digest],
  }),
  ["sealed_content"],
);

/**
 * Stores a snapshot and removes its executor's oldest beyond `keep`, but none that is locked or that a run may still need. Returns the IDs
 * of the removed ones.
 */
export async function insertSnapshot(
  tx: Writer,
  row: typeof snapshots.$inferInsert,
  keep: number,
): Promise<readonly string[]> {
  await tx.insert(snapshots).values(row);
  const all = await tx
    .select({ id: snapshots.id, is_locked: snapshots.is_locked })
    .from(snapshots)
    .where(eq(snapshots.executor_id, row.executor_id))
    .orderBy(lastFirst(snapshots));
  const inUse = await tx
    .select({ id: runs.snapshot_id })
    .from(runs)
    .where(and(eq(runs.executor_id, row.executor_id), isNeedy));
  const captured = await tx
    .select({ id: snapshots.id })
    .from(snapshots)
    .innerJoin(runs, eq(runs.id, snapshots.run_id))
    .where(and(eq(snapshots.executor_id, row.executor_id), isNeedy));
  const needed = new Set([...inUse, ...captured].map((used) => used.id));
  const removable = all
    .filter((each) => !each.is_locked && each.id !== row.id && !needed.has(each.id))
    .map((each) => each.id);
  const removed = removable.slice(Math.max(0, keep - 1));
  if (removed.length > 0) await tx.delete(snapshots).where(inArray(snapshots.id, removed));
  return removed;
}

export async function updateSnapshotRow(tx: Writer, id: string, changes: { is_locked: boolean }): Promise<void> {
  await tx.update(snapshots).set(changes).where(eq(snapshots.id, id));
}

export async function deleteSnapshotRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(snapshots).where(eq(snapshots.id, id));
}

/** True while a run may still restore the snapshot: the one it rolls back to, or the one it captured. */
export async function isSnapshotInUse(read: Reader, id: string): Promise<boolean> {
  const captured = read.select({ id: snapshots.run_id }).from(snapshots).where(eq(snapshots.id, id));
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(and(or(eq(runs.snapshot_id, id), inArray(runs.id, captured)), isNeedy))
    .limit(1);
  return rows.length > 0;
}

/** What a snapshot belongs to and is restored on. */
export interface SnapshotOwner {
  executor_id: string;
  executor: string;
  connection_id: string;
  target_kind: string;
  target_id: string;
}

export async function findSnapshotOwner(read: Reader, executorId: string): Promise<SnapshotOwner | null> {
  const rows = await read
    .select({
      executor_id: executors.id,
      executor: executors.name,
      connection_id: executors.connection_id,
      target_kind: executors.target_kind,
      target_id: executors.target_id,
    })
    .from(executors)
    .where(eq(executors.id, executorId))
    .limit(1);
  return rows[0] ?? null;
}

export interface ImageUser {
  image_id: string;
  snapshot_id: string;
  executor_id: string;
  executor: string;
  is_locked: boolean;
  created_at: number;
}

/** More snapshots than the settings allow on one engine. */
const maxUsers = 10_000;

/**
 * Which snapshots need which images, newest first. Across all connections, because two can lead to one engine. A `sha256:` prefix is
 * ignored.
 */
export async function snapshotsOfImages(read: Reader, ids: readonly string[]): Promise<readonly ImageUser[]> {
  if (ids.length === 0) return [];
  const bare = JSON.stringify(ids.map((id) => id.replaceAll("sha256:", "")));
  const isWanted = (column: unknown) =>
    sql`replace(${column}, 'sha256:', '') in (select value from json_each(${bare}))`;
  const named = sql`exists (select 1 from json_each(${snapshots.image_ids}) as named where ${isWanted(sql`named.value`)})`;
  const rows = await read
    .select({
      image_id: snapshots.image_id,
      image_ids: snapshots.image_ids,
      snapshot_id: snapshots.id,
      executor_id: snapshots.executor_id,
      executor: executors.name,
      is_locked: snapshots.is_locked,
      created_at: snapshots.created_at,
    })
    .from(snapshots)
    .innerJoin(executors, eq(executors.id, snapshots.executor_id))
    .where(and(or(isWanted(snapshots.image_id), named)))
    .orderBy(desc(snapshots.id))
    .limit(maxUsers);
  return rows.flatMap(({ image_id, image_ids, ...user }) =>
    [...new Set([image_id, ...image_ids])].filter((id) => id !== "").map((id) => ({ ...user, image_id: id })),
  );
}
