import { eq, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Writer } from "./client.ts";

/** Plain writes of a table whose rows have an id. */
export function rowWrites<T extends SQLiteTable & { id: SQLiteColumn }>(table: T) {
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
