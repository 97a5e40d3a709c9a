import { and, asc, eq, inArray, isNull, lte, or, type Placeholder, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { type DueTime, leaseTime } from "../db/due-times.ts";
import { listsOfValues, listsOver } from "../db/listing.ts";
import { lookColumns } from "../db/look-columns.ts";
import { rowsOfPrepared } from "../db/prepared.ts";
import { namedRowsOf } from "../db/rows.ts";
import { alikeConnections } from "../db/same-engine.ts";
import { connections, credentials, executors, snapshots } from "../db/tables.ts";
import type { UnusedImageView } from "./images-schema.ts";
import { connectionStates } from "./reach.ts";

export type ConnectionRow = typeof connections.$inferSelect;

export const connectionRows = namedRowsOf(connections, "connection");

interface ConnectionListContext {
  /** The ids of the connections in each state. */
  inState: ReadonlyMap<string, readonly string[]>;
}

export const connectionLists = listsOver(connections, (_read, { inState }: ConnectionListContext) => ({
  sorts: {
    name: "connections.name",
    kind: "connections.kind",
    seen: "coalesce(connections.seen_at, 0)",
  },
  filters: {
    state: Object.fromEntries(
      connectionStates.map((state) => {
        const ids = JSON.stringify(inState.get(state) ?? []);
        return [state, sql`${connections.id} in (select value from json_each(${ids}))`];
      }),
    ),
    kind: connections.kind,
  },
  searched: [connections.name, connections.description, connections.config],
}));

/** What the state of every connection depends on. */
export async function connectionsChecked(read: Reader) {
  const { id, last_check } = connections;
  return await read.select({ id, last_check, ...lookColumns }).from(connections);
}

/** Where every connection leads. */
export async function connectionPlaces(read: Reader) {
  const { id, name, kind, config, place, place_id } = connections;
  return await read
    .select({ id, name, kind, config, place, place_id })
    .from(connections)
    .orderBy(asc(connections.name));
}

/** Names by id. */
export async function namesOfCredentials(read: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await read
    .select({ id: credentials.id, name: credentials.name })
    .from(credentials)
    .where(inArray(credentials.id, [...ids]));
  return new Map(rows.map((row) => [row.id, row.name]));
}

const usersOf = async (read: Reader, ids: string[] | ReturnType<typeof alikeConnections>) =>
  await read
    .select({
      connection_id: executors.connection_id,
      id: executors.id,
      name: executors.name,
      target_kind: executors.target_kind,
      target_id: executors.target_id,
    })
    .from(executors)
    .where(inArray(executors.connection_id, ids))
    .orderBy(asc(executors.name));

/** The executors of connections, by name. */
export async function usersOfConnections(read: Reader, ids: readonly string[]) {
  return ids.length === 0 ? [] : await usersOf(read, [...ids]);
}

/** The executors of a connection and of those that lead to the same place, by name. */
export async function usersOfPlace(read: Reader, id: string) {
  return await usersOf(read, alikeConnections(read, id));
}

/** The names of those that a lost connection keeps from being updated. */
export async function enabledExecutors(read: Reader, connectionId: string): Promise<readonly string[]> {
  const rows = await read
    .select({ name: executors.name })
    .from(executors)
    .where(and(eq(executors.connection_id, connectionId), eq(executors.is_enabled, true)))
    .orderBy(asc(executors.name));
  return rows.map(({ name }) => name);
}

/** Executors that waited for a connection are evaluated at once; `is_lost`: only those that could not be evaluated. */
export async function makeExecutorsDue(tx: Writer, connectionId: string, now: number, is_lost = false): Promise<void> {
  const hasProblem = sql`json_extract(${executors.observed}, '$.problem') is not null`;
  await tx
    .update(executors)
    .set({ next_evaluation_at: now })
    .where(and(eq(executors.connection_id, connectionId), is_lost ? hasProblem : undefined));
}

const isLookDue = (now: number | Placeholder) =>
  and(
    eq(connections.is_enabled, true),
    or(isNull(connections.next_look_at), lte(connections.next_look_at, now)),
    or(isNull(connections.lease_until), lte(connections.lease_until, now)),
  );

/** Enabled connections that have not been checked recently, the longest due first. */
export const dueLooks = rowsOfPrepared((read) =>
  read
    .select({ id: connections.id })
    .from(connections)
    .where(isLookDue(sql.placeholder("now")))
    .orderBy(asc(connections.next_look_at))
    .limit(sql.placeholder("limit")),
);

/** Null if another process was faster, or it is no longer due. After a crash the look is due when the lease expires. */
export async function claimLook(
  tx: Writer,
  id: string,
  lease: { owner: string; now: number; until: number },
): Promise<ConnectionRow | null> {
  const claimed = await tx
    .update(connections)
    .set({ lease_owner: lease.owner, lease_until: lease.until, next_look_at: lease.until })
    .where(and(eq(connections.id, id), isLookDue(lease.now)))
    .returning();
  return claimed[0] ?? null;
}

export function lookDueTimes(longest: { pause_ms: number; lease_ms: number }): readonly DueTime[] {
  return [
    {
      table: connections,
      column: connections.next_look_at,
      longest_ms: longest.lease_ms,
      instead_ms: longest.pause_ms,
    },
    leaseTime(connections, longest.lease_ms),
  ];
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

/** An image, with its place among all of them when they are sorted by reason, and what it is called and found by. */
interface ListedImage extends UnusedImageView {
  place: number;
  name: string;
  words: string;
}

export const imageLists = listsOfValues<ListedImage>({
  sorts: {
    reason: "listed.value ->> 'place'",
    reference: "listed.value ->> 'name'",
    time: "coalesce(listed.value ->> 'created_at', 0)",
    size: "listed.value ->> 'size_bytes'",
  },
  filters: { reason: sql`listed.value ->> 'reason'` },
  searched: [sql`listed.value ->> 'words'`],
});
