import { and, eq, gt, isNotNull, isNull } from "drizzle-orm";
import type { Writer } from "../db/client.ts";
import { runs } from "../db/tables.ts";
import { isFree, type RunRow, takeRun } from "./queries.ts";

/** Claims a pending run that awaits approval or was approved, to end it; null if it is leased or no longer pending. */
export function holdWaiting(tx: Writer, id: string, lease: Parameters<typeof takeRun>[2]): Promise<RunRow | null> {
  return takeRun(tx, id, lease, and(eq(runs.state, "pending"), isNotNull(runs.approval)));
}

/** Approves by compare-and-set; false if the run no longer awaits approval of this plan. */
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

/** Changes when a pending, unleased run is due, and the approval that it needs. */
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
