import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader } from "./client.ts";

/**
 * Builds a query once per database, for the queries of every check and every list: building takes longer than running. Values that vary are
 * `sql.placeholder`s, given in stored form.
 *
 * Reader and writer of a file database live as long as it is open; a remote server's transaction is new each time, and so are its queries.
 */
export function preparedFor<D extends object, Q>(build: (db: D) => Q): (db: D) => Q {
  const known = new WeakMap<D, Q>();
  return (db) => {
    const found = known.get(db);
    if (found !== undefined) return found;
    const query = build(db);
    known.set(db, query);
    return query;
  };
}

/** Reads the rows with one of several values in the column passed to `isAmong`, with one statement for any number of values. */
export function rowsAmong<Row>(
  build: (
    read: Reader,
    isAmong: (column: SQLiteColumn) => SQL,
  ) => { prepare(): { all(values: Record<string, unknown>): Promise<Row[]> } },
) {
  const isAmong = (column: SQLiteColumn) =>
    sql`${column} in (select value from json_each(${sql.placeholder("values")}))`;
  const prepared = preparedFor((read: Reader) => build(read, isAmong).prepare());
  return async (read: Reader, values: readonly string[]): Promise<Row[]> =>
    values.length === 0 ? [] : await prepared(read).all({ values: JSON.stringify(values) });
}
