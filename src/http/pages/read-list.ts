import type { Page } from "../../forms/page.ts";

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

interface Selection<T> {
  list: List<T>;
  cursor: string | undefined;
  limit: number;
  /** Pages that may be read for one. */
  max_looks: number;
  select(items: readonly T[]): readonly T[] | Promise<readonly T[]>;
}

/** A page of the selected entries of a list, for what is not a column. */
export async function listSelected<T>(selection: Selection<T>): Promise<Page<T>> {
  const { list, limit, max_looks, select } = selection;
  const selected: T[] = [];
  let { cursor } = selection;
  for (let looks = 0; looks < max_looks; looks += 1) {
    const found = await list({ cursor, limit });
    selected.push(...(await select(found.items)));
    cursor = found.next_cursor ?? undefined;
    if (cursor === undefined || selected.length >= limit) break;
  }
  return { items: selected, next_cursor: cursor ?? null };
}
