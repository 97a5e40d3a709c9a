import { and, desc, eq, or, sql } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { executors, snapshots } from "../db/tables.ts";

/** What a snapshot belongs to and is taken back on. */
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

/** More than all snapshots that a settings' limits allow on one engine. */
const maxUsers = 10_000;

/**
 * Which snapshots name which images, the newest first. Of every connection: two of them can lead to one engine. `sha256:` before an id
 * has no meaning.
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
