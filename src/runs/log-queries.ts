import { and, asc, eq, max } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { run_logs } from "../db/tables.ts";

export type RunLogRow = typeof run_logs.$inferSelect;

/** In the order in which their containers were first seen. */
export async function logsOfRun(read: Reader, runId: string): Promise<RunLogRow[]> {
  return await read.select().from(run_logs).where(eq(run_logs.run_id, runId)).orderBy(asc(run_logs.id));
}

/** When the latest was stored; null if there is none. */
export async function lastLogAt(read: Reader, runId: string): Promise<number | null> {
  const rows = await read
    .select({ at: max(run_logs.at) })
    .from(run_logs)
    .where(eq(run_logs.run_id, runId));
  return rows[0]?.at ?? null;
}

/** The deleted log; null if the run has none of this ID. */
export async function deleteLog(tx: Writer, runId: string, id: string): Promise<RunLogRow | null> {
  const rows = await tx
    .delete(run_logs)
    .where(and(eq(run_logs.run_id, runId), eq(run_logs.id, id)))
    .returning();
  return rows[0] ?? null;
}

/** Stores a log in place of an earlier one about the same container. */
export async function storeLog(tx: Writer, row: typeof run_logs.$inferInsert): Promise<void> {
  const { id: _id, run_id: _run, key: _key, ...changes } = row;
  await tx
    .insert(run_logs)
    .values(row)
    .onConflictDoUpdate({ target: [run_logs.run_id, run_logs.key], set: changes });
}
