import { desc, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * Rows inserted before any row to keep. A row is kept when `at` is between `since` and `latest`; later times come from a wrong clock. Times
 * alone do not show it: a row written while the clock was years behind looks old at once but is as young as its neighbors.
 */
export function cameBeforeAllSince(table: SQLiteTable, at: SQLiteColumn, since: number, latest: number): SQL {
  const first = sql`select rowid from ${table} where ${at} >= ${since} and ${at} <= ${latest} order by rowid limit 1`;
  return sql`${table}.rowid < coalesce((${first}), ${Number.MAX_SAFE_INTEGER})`;
}

/** In descending insertion order, whatever the clock showed. */
export function lastFirst(table: SQLiteTable): SQL {
  return desc(sql`${table}.rowid`);
}

/** Rows inserted after the one with this id. */
export function cameAfter(table: SQLiteTable & { id: SQLiteColumn }, id: string): SQL {
  return sql`${table}.rowid > (select rowid from ${table} where ${eq(table.id, id)})`;
}
