import { eq, type SQL, sql } from "drizzle-orm";
import { type AnySQLiteColumn, alias } from "drizzle-orm/sqlite-core";
import type { Reader } from "./client.ts";
import { connections } from "./tables.ts";

/** The table of connections, under any alias. */
type Place = Readonly<Record<"id" | "place" | "place_id", AnySQLiteColumn>>;

/** Whether two rows are one connection or lead to the same place: one engine under two names. */
export function isSameEngine(one: Place, other: Place): SQL {
  return sql`(${one.id} = ${other.id} or ${one.place} = ${other.place} or ${one.place_id} = ${other.place_id})`;
}

/** The ids of a connection and of those that lead to the same engine. */
export function alikeConnections(read: Reader, id: string) {
  const twin = alias(connections, "twin");
  return read
    .select({ id: twin.id })
    .from(connections)
    .innerJoin(twin, isSameEngine(twin, connections))
    .where(eq(connections.id, id));
}
