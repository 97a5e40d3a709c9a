import { asc, eq } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { executors, ignored_targets } from "../db/tables.ts";

export const ignoredRows = rowsOf(ignored_targets, "ignored_target");
export type IgnoredRow = typeof ignored_targets.$inferSelect;

/** By name. */
export async function ignoredOf(read: Reader, connectionId: string): Promise<IgnoredRow[]> {
  return await read
    .select()
    .from(ignored_targets)
    .where(eq(ignored_targets.connection_id, connectionId))
    .orderBy(asc(ignored_targets.name));
}

export async function executorNames(read: Reader): Promise<readonly string[]> {
  return (await read.select({ name: executors.name }).from(executors)).map(({ name }) => name);
}
