import { and, asc, desc, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ListAsk, ListCounts } from "../forms/page.ts";
import type { Reader } from "./client.ts";

/** What one list of a table can be sorted, filtered and searched by. */
export interface Listing {
  /** By the name of the sort: an expression with qualified column names that is never null. */
  sorts: Readonly<Record<string, string>>;
  /** By the name of the filter: a condition for each option, or one for any text. */
  filters: Readonly<Record<string, Readonly<Record<string, SQL | undefined>> | ((text: string) => SQL)>>;
  /** Expressions that a text may be part of. */
  searched: readonly (SQL | SQLiteColumn | ((contains: (text: SQL | SQLiteColumn) => SQL) => SQL))[];
}

/** The value that the list is sorted by and the id of the last row of a page; null for anything else. */
function positionOf(key: string | null): { at: string | number; id: string } | null {
  if (key === null) return null;
  try {
    const parsed: unknown = JSON.parse(key);
    if (!Array.isArray(parsed)) return null;
    const [at, id]: unknown[] = parsed;
    return (typeof at === "string" || typeof at === "number") && typeof id === "string" ? { at, id } : null;
  } catch {
    return null;
  }
}

/** `%` and `_` in the text are literal. */
function partOf(text: string) {
  const part = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return (value: SQL | SQLiteColumn): SQL => sql`${value} like ${part} escape '\\'`;
}

/** The conditions of a query, except those of one filter. */
function conditionsOf(listing: Listing, ask: ListAsk, without: string | null): (SQL | undefined)[] {
  const filters = Object.entries(ask.filters).map(([name, value]) => {
    const filter = name === without ? undefined : listing.filters[name];
    return typeof filter === "function" ? filter(value) : filter?.[value];
  });
  if (ask.search === null) return filters;
  const contains = partOf(ask.search);
  const found = listing.searched.map((value) => (typeof value === "function" ? value(contains) : contains(value)));
  return [...filters, sql`(${sql.join(found, sql` or `)})`];
}

/** Pages and counts of a table's list; `listingFor` gives its columns for a request. */
export function listsOver<T extends SQLiteTable & { id: SQLiteColumn }, Context>(
  table: T,
  listingFor: (read: Reader, context: Context) => Listing,
) {
  return {
    /** In a stable order: equal entries follow each other by id. `key` is null on the last page. */
    page: async (
      read: Reader,
      context: Context,
      ask: ListAsk,
    ): Promise<{ rows: T["$inferSelect"][]; key: string | null }> => {
      const listing = listingFor(read, context);
      const at = sql<string | number>`${sql.raw(listing.sorts[ask.sort] ?? "")}`;
      const position = positionOf(ask.after);
      const order = ask.is_descending ? desc : asc;
      const isAfter =
        position === null
          ? undefined
          : sql`(${at}, ${table.id}) ${sql.raw(ask.is_descending ? "<" : ">")} (${position.at}, ${position.id})`;
      const found = await read
        .select({ row: table as SQLiteTable, at, id: table.id })
        .from(table as SQLiteTable)
        .where(and(...conditionsOf(listing, ask, null), isAfter))
        .orderBy(order(at), order(table.id))
        .limit(ask.limit + 1);
      const kept = found.slice(0, ask.limit);
      const last = kept.at(-1);
      const key = last === undefined || kept.length === found.length ? null : JSON.stringify([last.at, last.id]);
      return { rows: kept.map(({ row }) => row as T["$inferSelect"]), key };
    },

    /** How many entries each option would leave, with the other filters as they are. */
    counts: async (read: Reader, context: Context, ask: ListAsk): Promise<ListCounts> => {
      const listing = listingFor(read, context);
      const counted: Record<string, Record<string, number>> = {};
      for (const [name, options] of Object.entries(listing.filters)) {
        if (typeof options === "function") continue;
        // Nested: a column of a selection loses its table's name, which subqueries need.
        const sums = Object.entries(options).map(
          ([option, is]) => [option, sql<number>`coalesce(sum(${sql`${is ?? sql`1`}`}), 0)`] as const,
        );
        const [row = {}] = await read
          .select({ "": sql<number>`count(*)`, ...Object.fromEntries(sums) })
          .from(table as SQLiteTable)
          .where(and(...conditionsOf(listing, ask, name)));
        counted[name] = { ...row };
      }
      return counted;
    },
  };
}
