import { and, asc, Column, count, desc, eq, getTableColumns, is, SQL, Subquery, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ListAsk, ListCounts } from "../forms/page.ts";
import type { Reader } from "./client.ts";

/** What one list of a table can be sorted, filtered and searched by. */
export interface Listing {
  /** By the name of the sort: an expression with qualified column names that is never null. */
  sorts: Readonly<Record<string, string | SQL>>;
  /** By the name of the filter. */
  filters: Readonly<Record<string, ListingFilter>>;
  /** Expressions that a text may be part of. */
  searched: readonly (SQL | SQLiteColumn | ((contains: (text: SQL | SQLiteColumn) => SQL) => SQL))[];
  /** Which rows the list is of; all of them when left out. */
  scope?: SQL | undefined;
}

/** What the options are values of, also where only the one asked for is counted; the options of each entry; conditions, for each or any. */
type ListingFilter = OneOf | SQLiteColumn | SQL | Subquery | Options | ((text: string) => SQL);

/** Conditions, or `idsIn`; as a function for an option that is counted only when it is asked for. */
type Options = Readonly<Record<string, SQL | Subquery | undefined | (() => SQL | undefined)>>;

class OneOf {
  constructor(readonly column: SQLiteColumn) {}
}

/** For a filter: the column has too many values to count each. */
export function oneOf(column: SQLiteColumn): OneOf {
  return new OneOf(column);
}

/** For a filter: `query` has one row for each option of each entry, `id` and `option`. */
export function optionsIn(query: SQL): Subquery {
  return new Subquery(query, {}, "options");
}

/** For an option: `query` has the `id` of each entry that it is true of, once. Counting them takes no look at the entries. */
export function idsIn(query: SQL): Subquery {
  return new Subquery(query, {}, "ids");
}

function isValue(filter: ListingFilter): filter is SQLiteColumn | SQL {
  return is(filter, Column) || is(filter, SQL);
}

function conditionOf(filter: ListingFilter | undefined, option: string, { id }: Entries): SQL | undefined {
  if (filter === undefined) return undefined;
  if (typeof filter === "function") return filter(option);
  if (filter instanceof OneOf) return eq(filter.column, option);
  if (is(filter, Subquery)) return sql`${id} in (select id from ${filter} where option = ${option})`;
  if (isValue(filter)) return sql`${filter} = ${option}`;
  const chosen = filter[option];
  return typeof chosen === "function" ? chosen() : isOf(chosen, id);
}

/** Whether an option is true of an entry. */
function isOf(option: SQL | Subquery | undefined, id: Entries["id"]): SQL | undefined {
  return is(option, Subquery) ? sql`${id} in (select id from ${option})` : option;
}

/** The value that the list is sorted by and the id of the last row of a page; null for anything else. */
function positionOf(key: string | null): { at: string | number; id: string } | null {
  if (key === null) return null;
  try {
    const parsed: unknown = JSON.parse(key);
    if (!Array.isArray(parsed)) return null;
    const [at, id]: unknown[] = parsed;
    const isPlace = typeof at === "string" || (typeof at === "number" && Number.isFinite(at));
    return isPlace && typeof id === "string" ? { at, id } : null;
  } catch {
    return null;
  }
}

/** Whether a text is part of a value, in any case; not by `like`, where `%` and `_` stand for others. */
export function isPartOf(text: string, value: SQL | SQLiteColumn): SQL {
  return sql`instr(lower(${value}), lower(${text})) > 0`;
}

/** The conditions of a query, except those of one filter. */
function conditionsOf(
  listing: Listing,
  ask: ListAsk,
  { entries, without = null }: { entries: Entries; without?: string | null },
): (SQL | undefined)[] {
  const filters = Object.entries(ask.filters)
    .filter(([name]) => name !== without)
    .map(([name, option]) => conditionOf(listing.filters[name], option, entries));
  if (ask.search === null) return [listing.scope, ...filters];
  const { search } = ask;
  const contains = (value: SQL | SQLiteColumn) => isPartOf(search, value);
  const found = listing.searched.map((value) => (typeof value === "function" ? value(contains) : contains(value)));
  return [listing.scope, ...filters, sql`(${sql.join(found, sql` or `)})`];
}

/** Where the entries are. */
interface Entries {
  from: SQLiteTable | SQL;
  id: SQLiteColumn | SQL;
}

/** What a list reads. */
interface Rows<Row> extends Entries {
  columns: Readonly<Record<string, SQLiteColumn>> | SQL;
  rowOf(read: unknown): Row;
}

/** Pages and counts of a list; `listingFor` gives its columns for a request. */
function lists<Row, Context>(
  rowsFor: (context: Context) => Rows<Row>,
  listingFor: (read: Reader, context: Context) => Listing,
) {
  return {
    /** In a stable order: equal entries follow each other by id. `key` is null on the last page. */
    page: async (read: Reader, context: Context, ask: ListAsk): Promise<{ rows: Row[]; key: string | null }> => {
      const entries = rowsFor(context);
      const { from, id, columns, rowOf } = entries;
      const listing = listingFor(read, context);
      const sort = listing.sorts[ask.sort] ?? "";
      const at = sql<string | number>`${typeof sort === "string" ? sql.raw(sort) : sort}`;
      const position = positionOf(ask.after);
      const order = ask.is_descending ? desc : asc;
      const isAfter =
        position === null
          ? undefined
          : sql`(${at}, ${id}) ${sql.raw(ask.is_descending ? "<" : ">")} (${position.at}, ${position.id})`;
      const found = await read
        .select({ row: columns as SQL, at, id: id as SQL })
        .from(from as SQL)
        .where(and(...conditionsOf(listing, ask, { entries }), isAfter))
        .orderBy(order(at), order(id))
        .limit(ask.limit + 1);
      const kept = found.slice(0, ask.limit);
      const last = kept.at(-1);
      const key = last === undefined || kept.length === found.length ? null : JSON.stringify([last.at, last.id]);
      return { rows: kept.map(({ row }) => rowOf(row)), key };
    },

    /** How many entries each option would leave, with the other filters as they are. */
    counts: async (read: Reader, context: Context, ask: ListAsk): Promise<ListCounts> => {
      const entries = rowsFor(context);
      const listing = listingFor(read, context);
      const counted: Record<string, Record<string, number>> = {};
      for (const [name, filter] of Object.entries(listing.filters)) {
        if (typeof filter === "function") continue;
        const conditions = and(...conditionsOf(listing, ask, { entries, without: name }));
        if (filter instanceof OneOf) {
          const { [name]: asked } = ask.filters;
          if (asked !== undefined) {
            counted[name] = await countEach(read, entries, { [asked]: eq(filter.column, asked) }, { conditions });
          }
          continue;
        }
        counted[name] = isValue(filter)
          ? await countValues(read, entries, filter, conditions)
          : is(filter, Subquery)
            ? await countOptions(read, entries, filter, conditions)
            : await countEach(read, entries, filter, { conditions, asked: ask.filters[name] });
      }
      return counted;
    },
  };
}

type Counted = Record<string, number>;

/** One group for each value, however many there are. */
async function countValues(
  read: Reader,
  { from }: Entries,
  value: SQLiteColumn | SQL,
  conditions: SQL | undefined,
): Promise<Counted> {
  const option = sql<string>`${value}`;
  const groups = await read
    .select({ option, n: count() })
    .from(from as SQL)
    .where(conditions)
    .groupBy(option);
  const all = groups.reduce((sum, { n }) => sum + n, 0);
  return { ...Object.fromEntries(groups.map(({ option, n }) => [option, n])), "": all };
}

/** One group for each option, in the same pass as all of the entries. */
async function countOptions(
  read: Reader,
  { from, id }: Entries,
  options: Subquery,
  conditions: SQL | undefined,
): Promise<Counted> {
  // Looking every entry up takes longer than the counting.
  const matching = sql`with matching as materialized (select ${id} as id from ${from} where ${conditions})`;
  const [all, isMatching] =
    conditions === undefined ? [from, sql`true`] : [sql`matching`, sql`id in (select id from matching)`];
  const groups = await read.select({ option: sql<string>`option`, n: sql<number>`n` }).from(sql`(
    ${conditions === undefined ? undefined : matching}
    select '' as option, count(*) as n from ${all}
    union all select option, count(*) from ${options} where ${isMatching} group by option
  )`);
  return Object.fromEntries(groups.map(({ option, n }) => [option, n]));
}

/** Each by itself: few entries are of most options, and the database finds those without a look at every entry. */
async function countEach(
  read: Reader,
  { from, id }: Entries,
  options: Options,
  { conditions, asked }: { conditions: SQL | undefined; asked?: string | undefined },
): Promise<Counted> {
  const countOf = (option?: SQL | Subquery) =>
    is(option, Subquery) && conditions === undefined
      ? sql<number>`(select count(*) from ${option})`
      : sql<number>`(select count(*) from ${from} where ${and(isOf(option, id), conditions) ?? sql`true`})`;
  const counts = Object.entries(options).flatMap(([name, option]) => {
    if (typeof option !== "function") return [[name, countOf(option)] as const];
    return name === asked ? [[name, countOf(option())] as const] : [];
  });
  const [row = {}] = await read.select({ "": countOf(), ...Object.fromEntries(counts) }).from(sql`(select 1)`);
  return { ...row };
}

/** The lists of a table; `without` are columns that no row of a list needs. */
export function listsOver<T extends SQLiteTable & { id: SQLiteColumn }, Context, Without extends string = never>(
  table: T,
  listingFor: (read: Reader, context: Context) => Listing,
  without: readonly Without[] = [],
) {
  const columns = Object.entries<SQLiteColumn>(getTableColumns(table as SQLiteTable));
  const rows: Rows<Omit<T["$inferSelect"], Without>> = {
    from: table,
    id: table.id,
    columns: Object.fromEntries(columns.filter(([name]) => !without.some((each) => each === name))),
    rowOf: (row) => row as Omit<T["$inferSelect"], Without>,
  };
  return lists((_context: Context) => rows, listingFor);
}

/** The lists of what no table has; `listed` in the listing. Each needs an `id`. */
export function listsOfValues<Value extends { id: string }>(listing: Listing) {
  return lists(
    (values: readonly Value[]): Rows<Value> => ({
      from: sql`(select value, value ->> 'id' as id from json_each(${JSON.stringify(values)})) as listed`,
      id: sql`listed.id`,
      columns: sql`listed.value`,
      rowOf: (row) => JSON.parse(String(row)) as Value,
    }),
    () => listing,
  );
}
