import type { Child } from "hono/jsx";
import { formatNumber } from "../format.ts";
import { type PageContext, partsOf, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
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

/** A filter with a field of its own: many options, or a day. */
export type FilterField = { name: string; title: string; value: string } & (
  | { kind: "date" }
  | { kind: "options"; all: string; options: readonly { value: string; title: string; count: number }[] }
);

interface FiltersProps {
  ctx: PageContext;
  groups: readonly FilterGroup[];
  search?: { name: string; value: string; label: string } | undefined;
  fields?: readonly FilterField[] | undefined;
  /** What filtering replaces, with htmx: while typing, and when a field changes. */
  target?: string | undefined;
  /** The form whose entries are sent along, as a selector: its rows are filtered, and the answer keeps what was entered. */
  keeps?: string | undefined;
  /** At the end. */
  children?: Child;
}

/** Filters as links and fields: a filtered list has an address to share. */
export function Filters({ ctx, groups, search, fields = [], target, keeps, children }: FiltersProps) {
  return (
    <nav class="filters" aria-label={texts(ctx).common.filters}>
      {search === undefined ? null : (
        <FilterForm
          ctx={ctx}
          class="field-search"
          names={[search.name]}
          target={target}
          keeps={keeps}
          trigger="input changed delay:250ms"
        >
          <Icon name="list-filter" />
          <input
            type="search"
            name={search.name}
            value={search.value}
            placeholder={search.label}
            aria-label={search.label}
            autocomplete="off"
          />
        </FilterForm>
      )}
      {groups.map((group) => (
        <ul class="segments" aria-label={group.title}>
          {[{ title: group.all ?? texts(ctx).common.all, value: null, count: group.total }, ...group.options].map(
            (option: FilterOption) => (
              <li>
                <a
                  {...optionLink(ctx, withQuery(ctx.path, { [group.name]: option.value, cursor: null }), {
                    target,
                    keeps,
                  })}
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
      {fields.length === 0 ? null : (
        <FilterForm
          ctx={ctx}
          class="filter-fields"
          names={fields.map(({ name }) => name)}
          target={target}
          trigger="change"
        >
          {fields.map((field) =>
            field.kind === "date" ? <DateFilter field={field} /> : <OptionsFilter ctx={ctx} field={field} />,
          )}
          <span class="unscripted">
            <Button type="submit" small>
              {texts(ctx).common.filter}
            </Button>
          </span>
        </FilterForm>
      )}
      {children}
    </nav>
  );
}

function optionLink(ctx: PageContext, path: string, { target, keeps }: Pick<FiltersProps, "target" | "keeps">) {
  const href = url(ctx, path);
  return {
    href,
    ...(target === undefined || keeps === undefined ? {} : { ...sentAlong(href, keeps), ...into(target) }),
  };
}

/** Sends the entries of a form to the address of a filter, whose answer keeps them. */
function sentAlong(address: string, keeps: string) {
  return { "hx-post": address, "hx-include": keeps, "hx-vals": '{"_action":"show"}' };
}

function into(target: string) {
  return { "hx-target": target, "hx-select": target, "hx-swap": "outerMorph", "hx-push-url": "true" };
}

function DateFilter({ field }: { field: FilterField }) {
  return (
    <label>
      <span>{field.title}</span>
      <input class="input" type="date" name={field.name} value={field.value} autocomplete="off" />
    </label>
  );
}

function OptionsFilter({ ctx, field }: { ctx: PageContext; field: FilterField & { kind: "options" } }) {
  return (
    <label>
      <span>{field.title}</span>
      <select class="input" name={field.name} autocomplete="off">
        <option value="">{field.all}</option>
        {field.options.map(({ value, title, count }) => (
          <option value={value} selected={value === field.value}>
            {`${title} (${formatNumber(ctx.language, count)})`}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FilterFormProps {
  ctx: PageContext;
  class: string;
  /** Of its fields; the other parameters are kept. */
  names: readonly string[];
  target: string | undefined;
  keeps?: string | undefined;
  /** When htmx sends it, besides submitting. */
  trigger: string;
  children: Child;
}

function FilterForm({ ctx, names, target, keeps, trigger, children, ...props }: FilterFormProps) {
  // Keeps the focus when its list is replaced.
  const id = target === undefined ? undefined : `${target.slice(1)}-${props.class}`;
  const { bare, query, fragment } = partsOf(ctx.path);
  const kept = [...query].filter(([key, entry]) => entry !== "" && !names.includes(key) && key !== "cursor");
  const htmx =
    target === undefined
      ? {}
      : {
          ...(keeps === undefined ? { "hx-get": url(ctx, bare) } : sentAlong(url(ctx, bare), keeps)),
          ...into(target),
          "hx-trigger": `submit, ${trigger}`,
        };
  return (
    <form class={props.class} id={id} method="get" action={url(ctx, bare + fragment)} {...htmx}>
      {kept.map(([key, entry]) => (
        <input type="hidden" name={key} value={entry} />
      ))}
      {children}
    </form>
  );
}
