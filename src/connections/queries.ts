import { asc, eq, inArray } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { namedRowsOf } from "../db/rows.ts";
import { connections, credentials, executors, snapshots } from "../db/tables.ts";

export type ConnectionRow = typeof connections.$inferSelect;

export const connectionRows = namedRowsOf(connections, "connection");

/** Names by id. */
export async function namesOfCredentials(read: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await read
    .select({ id: credentials.id, name: credentials.name })
    .from(credentials)
    .where(inArray(credentials.id, [...ids]));
  return new Map(rows.map((row) => [row.id, row.name]));
}

/** The executors of connections, by name. */
export async function usersOfConnections(read: Reader, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await read
    .select({
      connection_id: executors.connection_id,
      id: executors.id,
      name: executors.name,
      target_kind: executors.target_kind,
      target_id: executors.target_id,
    })
    .from(executors)
    .where(inArray(executors.connection_id, [...ids]))
    .orderBy(asc(executors.name));
}

/** Executors that waited for a connection are evaluated at once. */
export async function makeExecutorsDue(tx: Writer, connectionId: string, now: number): Promise<void> {
  await tx.update(executors).set({ next_evaluation_at: now }).where(eq(executors.connection_id, connectionId));
}

/** The last observation of each executor of a connection. */
export async function observationsOf(read: Reader, connectionId: string): Promise<readonly unknown[]> {
  const rows = await read
    .select({ observed: executors.observed })
    .from(executors)
    .where(eq(executors.connection_id, connectionId));
  return rows.map((row) => row.observed);
}

/** The references of the snapshots of a connection's executors, each once. */
export async function referencesOfSnapshots(read: Reader, connectionId: string): Promise<readonly string[]> {
  const rows = await read
    .selectDistinct({ reference: snapshots.reference })
    .from(snapshots)
    .innerJoin(executors, eq(executors.id, snapshots.executor_id))
    .where(eq(executors.connection_id, connectionId));
  return rows.map((row) => row.reference);
}
