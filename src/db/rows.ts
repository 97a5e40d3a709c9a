import { eq, inArray, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { nameTaken, notFound } from "../errors.ts";
import type { Reader, Writer } from "./client.ts";

type TableWithId = SQLiteTable & { id: SQLiteColumn };
/** The name of a row's kind, for people. */
type Thing = Parameters<typeof notFound>[0];

/** Plain writes of a table whose rows have an id. */
export function rowWrites<T extends TableWithId>(table: T) {
  const isRow = (id: string): SQL => eq(table.id, id);
  return {
    insert: async (tx: Writer, row: SQLiteInsertValue<T>): Promise<void> => {
      await tx.insert(table).values(row);
    },
    update: async (tx: Writer, id: string, changes: SQLiteUpdateSetSource<T>): Promise<void> => {
      await tx.update(table).set(changes).where(isRow(id));
    },
    remove: async (tx: Writer, id: string): Promise<void> => {
      await tx.delete(table).where(isRow(id));
    },
  };
}

async function select<T extends SQLiteTable>(read: Reader, table: T, is: SQL | undefined, limit: number) {
  return (await read.select().from<SQLiteTable>(table).where(is).limit(limit)) as T["$inferSelect"][];
}

/** The same, and single rows by their id. */
export function rowsOf<T extends TableWithId>(table: T, thing: Thing) {
  const find = async (read: Reader, id: string): Promise<T["$inferSelect"] | null> =>
    (await select(read, table, eq(table.id, id), 1))[0] ?? null;
  return {
    ...rowWrites(table),
    find,
    /** Those that are there, in the given order. */
    byIds: async (read: Reader, ids: readonly string[]): Promise<T["$inferSelect"][]> => {
      const rows = ids.length === 0 ? [] : await select(read, table, inArray(table.id, [...ids]), ids.length);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },
    /** Throws 404. */
    get: async (read: Reader, id: string): Promise<T["$inferSelect"]> => {
      const row = await find(read, id);
      if (row === null) throw notFound(thing, id);
      return row;
    },
  };
}

/** The same for rows with unique names. */
export function namedRowsOf<T extends TableWithId & { name: SQLiteColumn }>(table: T, thing: Thing) {
  const findByName = async (read: Reader, name: string): Promise<T["$inferSelect"] | null> =>
    (await select(read, table, eq(table.name, name), 1))[0] ?? null;
  return {
    ...rowsOf(table, thing),
    findByName,
    /** Throws 404. */
    getByName: async (read: Reader, name: string): Promise<T["$inferSelect"]> => {
      const row = await findByName(read, name);
      if (row === null) throw notFound(thing, name);
      return row;
    },
    /** Throws 422 when a row other than `ownId` has the name. */
    refuseTaken: async (read: Reader, name: string, ownId: string | null): Promise<void> => {
      const other = await findByName(read, name);
      if (other !== null && other.id !== ownId) throw nameTaken(thing, name);
    },
  };
}
