import { desc, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * Which rows came before any that is to stay by its time: `at` from `since` on, and not beyond `latest`, which a wrong clock wrote. Times
 * say how old a row looks; one that a clock years back wrote looks old from the first moment and is as young as its neighbours.
 */
export function cameBeforeAllSince(table: SQLiteTable, at: SQLiteColumn, since: number, latest: number): SQL {
  const first = sql`select rowid from ${table} where ${at} >= ${since} and ${at} <= ${latest} order by rowid limit 1`;
  return sql`${table}.rowid < coalesce((${first}), ${Number.MAX_SAFE_INTEGER})`;
}

/** In the order in which the rows came, the last one first, whatever the clock showed. */
export function lastFirst(table: SQLiteTable): SQL {
  return desc(sql`${table}.rowid`);
}

/** Which rows came after the one with this id. */
export function cameAfter(table: SQLiteTable & { id: SQLiteColumn }, id: string): SQL {
  return sql`${table}.rowid > (select rowid from ${table} where ${eq(table.id, id)})`;
}
