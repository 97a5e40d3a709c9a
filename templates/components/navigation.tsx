import { formatNumber } from "../format.ts";
import { type PageContext, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

export interface TabItem {
  title: string;
  /** A local path with its query. */
  href: string;
  current: boolean;
}

/** Views of one thing, as links: each has its own address. */
export function Tabs({ ctx, label, items }: { ctx: PageContext; label: string; items: readonly TabItem[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((item) => (
        <a href={url(ctx, item.href)} aria-current={item.current ? "page" : undefined}>
          {item.title}
        </a>
      ))}
    </nav>
  );
}

interface PaginationProps {
  ctx: PageContext;
  /** Cursors of the neighbouring pages, "" for the first page; null when there is none. Other query parameters are kept. */
  newer: string | null;
  older: string | null;
}

export function Pagination({ ctx, newer, older }: PaginationProps) {
  const t = texts(ctx).common;
  if (newer === null && older === null) return null;
  return (
    <nav class="pagination" aria-label={t.pages}>
      <span />
      {newer === null ? null : (
        <a class="btn" rel="prev" href={url(ctx, withQuery(ctx.path, { cursor: newer }))}>
          <Icon name="chevron-left" />
          <span>{t.newer}</span>
        </a>
      )}
      {older === null ? null : (
        <a class="btn" rel="next" href={url(ctx, withQuery(ctx.path, { cursor: older }))}>
          <span>{t.older}</span>
          <Icon name="chevron-right" />
        </a>
      )}
    </nav>
  );
}

export interface FilterOption {
  title: string;
  /** The value in the query string; null for no filter. */
  value: string | null;
  count?: number | undefined;
}

export interface FilterGroup {
  /** The parameter in the query string. */
  name: string;
  title: string;
  /** The option without a filter, which comes first; "All" when left out. */
  all?: string | undefined;
  /** Entries without a filter. */
  total?: number | undefined;
  options: readonly FilterOption[];
  /** The current value. */
  current: string | null;
}

interface FiltersProps {
  ctx: PageContext;
  groups: readonly FilterGroup[];
  /** A text filter: a GET form that keeps the other parameters; with htmx it filters while typing into `target`. */
  search?: { name: string; value: string; label: string; target?: string | undefined } | undefined;
}

/** Filters as links: a filtered list has an address to share. */
export function Filters({ ctx, groups, search }: FiltersProps) {
  return (
    <nav class="filters" aria-label={texts(ctx).common.filters}>
      {search === undefined ? null : <FilterSearch ctx={ctx} {...search} />}
      {groups.map((group) => (
        <ul class="segments" aria-label={group.title}>
          {[{ title: group.all ?? texts(ctx).common.all, value: null, count: group.total }, ...group.options].map(
            (option: FilterOption) => (
              <li>
                <a
                  href={url(ctx, withQuery(ctx.path, { [group.name]: option.value, cursor: null }))}
                  aria-current={option.value === group.current ? "true" : undefined}
                >
                  {option.title}
                  {option.count === undefined ? null : (
                    <span class="amount">{formatNumber(ctx.language, option.count)}</span>
                  )}
                </a>
              </li>
            ),
          )}
        </ul>
      ))}
    </nav>
  );
}

function FilterSearch({ ctx, name, value, label, target }: { ctx: PageContext } & NonNullable<FiltersProps["search"]>) {
  const [path = "", query = ""] = ctx.path.split("?", 2);
  const kept = [...new URLSearchParams(query)].filter(([key]) => key !== name && key !== "cursor");
  const htmx =
    target === undefined
      ? {}
      : {
          "hx-get": url(ctx, path),
          "hx-trigger": "submit, input changed delay:250ms",
          "hx-target": target,
          "hx-select": target,
          "hx-swap": "outerMorph",
          "hx-push-url": "true",
        };
  return (
    <form class="field-search" method="get" action={url(ctx, path)} {...htmx}>
      <Icon name="list-filter" />
      {kept.map(([key, entry]) => (
        <input type="hidden" name={key} value={entry} />
      ))}
      <input type="search" name={name} value={value} placeholder={label} aria-label={label} autocomplete="off" />
    </form>
  );
}
