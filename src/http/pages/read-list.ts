import type { ListProps } from "../../../templates/components/list-page.tsx";
import { type PageContext, partsOf } from "../../../templates/page.ts";
import { knownQuery, type ListCounts, type ListShape, type Page } from "../../forms/page.ts";

type List<T> = (query: { cursor: string | undefined; limit: number }) => Promise<Page<T>>;

/** More would be useless in a select. */
const maxEntries = 1_000;

/** A list, page by page. */
export async function* pagesOf<T>(list: List<T>): AsyncGenerator<readonly T[]> {
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await list({ cursor, limit: 100 });
    yield items;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** A whole list, up to a bound. */
export async function listAll<T>(list: List<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const items of pagesOf(list)) {
    all.push(...items);
    if (all.length >= maxEntries) break;
  }
  return all;
}

export interface ListService<View> {
  list_shape: ListShape;
  list(query: unknown): Promise<Page<View>>;
  counts(query: unknown): Promise<ListCounts>;
}

/** Per page: a longer one would be too heavy for a phone. */
const listSize = 50;

/** What an address asks a list for. */
export function listQueryOf(path: string, shape: ListShape): Readonly<Record<string, string>> {
  const { q = "", ...sent } = Object.fromEntries(partsOf(path).query);
  return knownQuery(shape, { ...sent, search: q });
}

/** The page of a list that the path of `ctx` asks for; `given` are filters that the page itself sets. */
export async function readList<View>(
  ctx: PageContext,
  service: ListService<View>,
  given: Readonly<Record<string, string>> = {},
): Promise<ListProps<View>> {
  const asked = listQueryOf(ctx.path, service.list_shape);
  const { cursor, search = "", sort = service.list_shape.sorts[0], ...known } = asked;
  const query = { ...asked, ...given };
  const [page, counts] = await Promise.all([service.list({ ...query, limit: listSize }), service.counts(query)]);
  const filters = Object.fromEntries(Object.entries(known).filter(([name]) => !(name in given)));
  return { ctx, ...page, is_first_page: cursor === undefined, asked: { q: search, sort, filters }, counts };
}

/** Entries that an open page shows, by their ids: beside those of the page, even if its filters no longer find them, or nothing but them. */
export type Shown = { also: readonly string[] } | { only: readonly string[] };

interface OpenListService<View> extends ListService<View> {
  byIds(ids: readonly string[]): Promise<readonly View[]>;
}

/** The same for an open page; with nothing but its entries, counts and all else are left out. */
export async function readShown<View extends { id: string }>(
  ctx: PageContext,
  service: OpenListService<View>,
  shown: Shown = { also: [] },
): Promise<ListProps<View>> {
  if ("only" in shown) {
    const asked = { q: "", sort: "", filters: {} };
    return { ctx, items: await service.byIds(shown.only), next_cursor: null, is_first_page: true, asked, counts: {} };
  }
  const list = await readList(ctx, service);
  const others = shown.also.filter((id) => !list.items.some((item) => item.id === id));
  return others.length === 0 ? list : { ...list, items: [...list.items, ...(await service.byIds(others))] };
}
