import { and, eq, gt, isNotNull, isNull } from "drizzle-orm";
import type { Writer } from "../db/client.ts";
import { runs } from "../db/tables.ts";
import { isFree, type RunRow } from "./queries.ts";

/** Takes a pending run that waits and that nobody holds, to end it or to change its course; null when somebody holds it by now. */
export async function holdWaiting(
  tx: Writer,
  id: string,
  lease: { owner: string; now: number; until: number },
): Promise<RunRow | null> {
  const rows = await tx
    .update(runs)
    .set({ lease_owner: lease.owner, lease_until: lease.until })
    .where(and(eq(runs.id, id), eq(runs.state, "pending"), isNotNull(runs.approval), isFree(lease.now)))
    .returning();
  return rows[0] ?? null;
}

/** The consent itself, by compare-and-set: false when the run does not await it any more, or not to this plan. */
export async function approveRun(tx: Writer, id: string, planHash: string, now: number): Promise<boolean> {
  const rows = await tx
    .update(runs)
    .set({
      approval: "approved",
      expected_plan_hash: planHash,
      due_at: now,
      started_at: null,
      reason_code: null,
      reason: null,
    })
    .where(
      and(
        eq(runs.id, id),
        eq(runs.state, "pending"),
        eq(runs.approval, "awaiting"),
        eq(runs.plan_hash, planHash),
        gt(runs.approval_until, now),
        isFree(now),
      ),
    )
    .returning({ id: runs.id });
  return rows.length > 0;
}

/** Changes when a pending run that nobody holds goes on, and what it needs for it. */
export async function rescheduleWaiting(
  tx: Writer,
  id: string,
  changes: Pick<typeof runs.$inferInsert, "due_at"> &
    Partial<Pick<typeof runs.$inferInsert, "approval" | "approval_until">>,
): Promise<void> {
  await tx
    .update(runs)
    .set(changes)
    .where(and(eq(runs.id, id), eq(runs.state, "pending"), isNull(runs.lease_owner)));
}
