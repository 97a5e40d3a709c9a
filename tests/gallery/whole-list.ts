import type { ListProps } from "../../templates/components/list-page.tsx";
import type { PageContext } from "../../templates/page.ts";

/** A list without filters, all of it on one page. */
export function wholeList<Item>(ctx: PageContext, items: readonly Item[]): ListProps<Item> {
  return {
    ctx,
    items,
    next_cursor: null,
    is_first_page: true,
    asked: { q: "", sort: "name", filters: {} },
    counts: {},
  };
}
