import type { Client } from "@libsql/client";
import { asc, eq, getTableName, gt, is, sql } from "drizzle-orm";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Reader, Writer } from "./client.ts";
import * as tables from "./tables.ts";

/** A column of secrets, found in the schema so that it need not be listed. */
export interface SealedColumn {
  readonly table: SQLiteTable;
  readonly table_name: string;
  readonly column: SQLiteColumn;
  /** Identifies the row to people. */
  readonly key: SQLiteColumn;
  /** What people call it, if they do. */
  readonly name: SQLiteColumn | null;
  /** What it is a part of, if it is. */
  readonly owner: SQLiteColumn | null;
}

export interface SealedValue {
  /** The row's position in its table, for paging and writing back. */
  readonly rowid: number;
  /** The row's key, for people. */
  readonly id: string;
  readonly name: string | null;
  readonly owner: string | null;
  readonly value: string;
}

const nameColumns = ["name", "display_name", "reference", "container"];
const ownerColumns = ["executor_id", "run_id"];

const rowid = sql<number>`rowid`;

function sealedColumnsOf(table: SQLiteTable): SealedColumn[] {
  const { name, columns } = getTableConfig(table);
  const sealed = columns.filter((column) => column.name.startsWith("sealed_"));
  const key = columns.find((column) => column.primary);
  const oneOf = (names: readonly string[]) =>
    names.map((name) => columns.find((column) => column.name === name)).find((found) => found !== undefined) ?? null;
  const [title, owner] = [oneOf(nameColumns), oneOf(ownerColumns)];
  if (sealed.length === 0) return [];
  if (key === undefined)
    throw new Error(`The table "${name}" has secrets and no key of one column to name its rows by`);
  return sealed.map((column) => ({ table, table_name: name, column, key, name: title, owner }));
}

/** Every column of `tables.ts` whose name begins with `sealed_`, which all columns of `sealed()` do. */
export const sealedColumns: readonly SealedColumn[] = Object.values(tables)
  .filter((member) => is(member, SQLiteTable))
  .toSorted((a, b) => getTableName(a).localeCompare(getTableName(b)))
  .flatMap(sealedColumnsOf);

/** The next secrets of a column in row order; fewer than `limit` means the end. */
export async function listSealedValues(
  read: Reader,
  { table, column, key, name, owner }: SealedColumn,
  after: number,
  limit: number,
): Promise<SealedValue[]> {
  return await read
    .select({
      rowid,
      id: sql<string>`cast(${key} as text)`,
      name: sql<string | null>`${name}`,
      owner: sql<string | null>`${owner}`,
      value: sql<string>`${column}`,
    })
    .from(table)
    .where(gt(rowid, after))
    .orderBy(asc(rowid))
    .limit(limit);
}

export async function storeSealedValue(
  tx: Writer,
  { table, column }: SealedColumn,
  at: number,
  value: string,
): Promise<void> {
  await tx
    .update(table)
    .set({ [column.name]: value })
    .where(eq(rowid, at));
}

export async function hasSealedValues(read: Reader): Promise<boolean> {
  for (const { table } of sealedColumns) {
    const found = await read.select({ rowid }).from(table).limit(1);
    if (found.length > 0) return true;
  }
  return false;
}

/** Values per batch: snapshots can have a megabyte each. */
const valuesAtOnce = 16;

export interface StoredSecret {
  readonly table: string;
  readonly column: string;
  readonly rowid: number;
  readonly value: string;
}

/**
 * Every stored secret in turn. Reads the columns from the database's own schema, so that it also works on older versions and on servers.
 */
export async function* everySealedValue(client: Client): AsyncGenerator<StoredSecret> {
  const tables = await client.execute("select name, sql from sqlite_master where type = 'table'");
  for (const { name, sql: definition } of tables.rows) {
    const table = String(name);
    for (const column of new Set(String(definition).match(/\bsealed_\w+/g))) {
      const page = `select rowid, "${column}" from "${table}" where rowid > ? and "${column}" is not null order by rowid limit ${valuesAtOnce}`;
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const { rows } = await client.execute({ sql: page, args: [after] });
        for (const row of rows) yield { table, column, rowid: Number(row[0]), value: String(row[1]) };
        if (rows.length < valuesAtOnce) break;
        after = Number(rows.at(-1)?.[0]);
      }
    }
  }
}
