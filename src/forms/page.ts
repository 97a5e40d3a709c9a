import * as v from "valibot";
import { issue } from "../messages/message.ts";

export const maxPageSize = 100;

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
  return { items: kept.map(view), next_cursor: hasMore ? Buffer.from(key(last), "utf8").toString("base64url") : null };
}

/** Like `toPage`, for views of all rows made together. */
export async function toPageOfViews<R, T>(
  rows: readonly R[],
  query: PageQuery,
  key: (row: R) => string,
  views: (kept: readonly R[]) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const { items, next_cursor } = toPage(rows, query, key, (row) => row);
  return { items: await views(items), next_cursor };
}
