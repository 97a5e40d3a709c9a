import { eq } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { executors, snapshots } from "../db/tables.ts";

/** What was last observed behind each executor of a connection. */
export async function observationsOf(read: Reader, connectionId: string): Promise<readonly unknown[]> {
  const rows = await read
    .select({ observed: executors.observed })
    .from(executors)
    .where(eq(executors.connection_id, connectionId));
  return rows.map((row) => row.observed);
}

/** The references that snapshots of a connection's executors are of, each once. */
export async function referencesOfSnapshots(read: Reader, connectionId: string): Promise<readonly string[]> {
  const rows = await read
    .selectDistinct({ reference: snapshots.reference })
    .from(snapshots)
    .innerJoin(executors, eq(executors.id, snapshots.executor_id))
    .where(eq(executors.connection_id, connectionId));
  return rows.map((row) => row.reference);
}
