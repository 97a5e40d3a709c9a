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

/** Reads the rows of a query that is built once, with the values of its placeholders. */
export function rowsOfPrepared<Row>(
  build: (read: Reader) => { prepare(): { all(values: Record<string, unknown>): Promise<Row[]> } },
) {
  const prepared = preparedFor((read: Reader) => build(read).prepare());
  return async (read: Reader, values: Readonly<Record<string, string | number>> = {}): Promise<Row[]> =>
    await prepared(read).all(values);
}

/** Whether a value is among those of a placeholder, which is given as JSON: one statement for any number of them. */
export function isAmongGiven(value: SQL | SQLiteColumn, name: string): SQL {
  return sql`${value} in (select value from json_each(${sql.placeholder(name)}))`;
}

/** Reads the rows with one of several values in the column passed to `isAmong`. */
export function rowsAmong<Row>(
  build: (
    read: Reader,
    isAmong: (column: SQLiteColumn) => SQL,
  ) => { prepare(): { all(values: Record<string, unknown>): Promise<Row[]> } },
) {
  const rows = rowsOfPrepared((read) => build(read, (column) => isAmongGiven(column, "values")));
  return async (read: Reader, values: readonly string[]): Promise<Row[]> =>
    values.length === 0 ? [] : await rows(read, { values: JSON.stringify(values) });
}
