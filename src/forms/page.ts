import * as v from "valibot";
import { issue } from "../messages/message.ts";
import { parseInput } from "./issues.ts";

const maxPageSize = 100;

/** The query of every list: `cursor` is the previous page's `next_cursor`. */
export const PageQuery = v.object({
  cursor: v.optional(v.pipe(v.string(), v.maxLength(512), v.description("`next_cursor` of the previous page"))),
  limit: v.optional(
    v.pipe(
      v.union([
        v.number(),
        v.pipe(v.string(), v.regex(/^\d{1,3}$/, issue("fields.whole_number")), v.transform(Number)),
      ]),
      v.integer(),
      v.minValue(1),
      v.maxValue(maxPageSize),
      v.description("Number of entries to return, 1 to 100; 50 if omitted"),
    ),
  ),
});
export type PageQuery = v.InferOutput<typeof PageQuery>;

export interface Page<T> {
  items: readonly T[];
  /** Null on the last page. */
  next_cursor: string | null;
}

/** The key after which the page begins; null for the first page and for an invalid cursor. */
export function cursorKey(query: PageQuery): string | null {
  if (query.cursor === undefined) return null;
  const text = Buffer.from(query.cursor, "base64url").toString("utf8");
  return text === "" ? null : text;
}

export function pageSize(query: PageQuery): number {
  return query.limit ?? 50;
}

/** What a list can be sorted and filtered by, for its query, its page and its rows. */
export interface ListShape {
  /** Columns; `-` before one sorts it in descending order. The first is the default order of a list. */
  sorts: readonly [string, ...string[]];
  /** Filters and their options. */
  filters: Readonly<Record<string, readonly string[]>>;
  /** Filters by text, such as an id. */
  texts?: Readonly<Record<string, v.GenericSchema<string>>>;
  /** What a search finds entries by. */
  searched: string;
}

export interface ListAsk {
  after: string | null;
  limit: number;
  search: string | null;
  sort: string;
  is_descending: boolean;
  filters: Readonly<Record<string, string>>;
}

const maxSearch = 200;

/** Every value of `sort`. */
function sortsOf({ sorts }: ListShape): string[] {
  const columns = sorts.map((sort) => sort.replace(/^-/, ""));
  return [...columns, ...columns.map((column) => `-${column}`)];
}

/** A filter by any text. */
export const anyText = v.pipe(v.string(), v.maxLength(100));

/** The filters of a list with this shape. */
export function filterQuery(shape: ListShape) {
  const options = Object.entries(shape.filters).map(
    ([name, values]) => [name, v.optional(v.picklist(values))] as const,
  );
  const texts = Object.entries(shape.texts ?? {}).map(([name, text]) => [name, v.optional(text)] as const);
  return v.object({
    ...Object.fromEntries<v.GenericSchema>([...texts, ...options]),
    search: v.optional(v.pipe(v.string(), v.maxLength(maxSearch), v.description(shape.searched))),
  });
}

/** The query of a list with this shape. */
export function listQuery(shape: ListShape) {
  const [first] = shape.sorts;
  return v.object({
    ...PageQuery.entries,
    ...filterQuery(shape).entries,
    sort: v.optional(
      v.pipe(
        v.picklist(sortsOf(shape)),
        v.description(`A column, with \`-\` in descending order; \`${first}\` if omitted`),
      ),
    ),
  });
}

/** What a query asks for. Throws 422. */
export function listAsk(shape: ListShape, query: unknown): ListAsk {
  const parsed: Record<string, unknown> & PageQuery = parseInput(listQuery(shape), query);
  const names = [...Object.keys(shape.filters), ...Object.keys(shape.texts ?? {})];
  const sort = String(parsed.sort ?? shape.sorts[0]);
  return {
    after: cursorKey(parsed),
    limit: pageSize(parsed),
    search: String(parsed.search ?? "").trim() || null,
    sort: sort.replace(/^-/, ""),
    is_descending: sort.startsWith("-"),
    filters: Object.fromEntries(
      names.flatMap((name) => (typeof parsed[name] === "string" ? [[name, parsed[name]]] : [])),
    ),
  };
}

/** The query of an address, without values that the shape does not have: they mean the default, not an error. */
export function knownQuery(shape: ListShape, sent: Readonly<Record<string, string>>): Record<string, string> {
  const { sort = "", search = "", cursor } = sent;
  const options = Object.entries(shape.filters).filter(([name, values]) => values.includes(sent[name] ?? ""));
  const texts = Object.entries(shape.texts ?? {}).filter(([name, text]) => sent[name] !== "" && v.is(text, sent[name]));
  return {
    ...(search.trim() === "" ? {} : { search: search.slice(0, maxSearch) }),
    ...(sortsOf(shape).includes(sort) ? { sort } : {}),
    ...(cursor === undefined || cursor.length > 512 ? {} : { cursor }),
    ...Object.fromEntries([...options, ...texts].map(([name]) => [name, sent[name] ?? ""])),
  };
}

/** The entries of each option of each filter, and of all of them under "". */
export type ListCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Lists<Row, View> {
  shape: ListShape;
  page: (ask: ListAsk) => Promise<{ rows: readonly Row[]; key: string | null }>;
  counts: (ask: ListAsk) => Promise<ListCounts>;
  views: (rows: readonly Row[]) => Promise<readonly View[]>;
}

/** The two questions about a list: a page of it, and how many entries each filter leaves. */
export function listOperations<Row, View>({ shape, page, counts, views }: Lists<Row, View>) {
  return {
    list_shape: shape,
    list: async (query: unknown): Promise<Page<View>> => {
      const { rows, key } = await page(listAsk(shape, query));
      return { items: await views(rows), next_cursor: key === null ? null : cursorOf(key) };
    },
    /** How many entries each option of a filter leaves. */
    counts: async (query: unknown): Promise<ListCounts> => await counts(listAsk(shape, query)),
  };
}

function cursorOf(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

/** Cuts `rows`, which has one more than the page if there is a next one, and makes the cursor from the last one kept. */
export function toPage<R, T>(
  rows: readonly R[],
  query: PageQuery,
  key: (row: R) => string,
  view: (row: R) => T,
): Page<T> {
  const kept = rows.slice(0, pageSize(query));
  const last = kept.at(-1);
  const hasMore = rows.length > kept.length && last !== undefined;
  return { items: kept.map(view), next_cursor: hasMore ? cursorOf(key(last)) : null };
}
