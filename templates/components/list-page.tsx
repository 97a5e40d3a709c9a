import type { Child } from "hono/jsx";
import { Layout, type Section } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { LinkButton } from "./button.tsx";
import { Empty, NothingMatches } from "./empty.tsx";
import type { IconName } from "./icons.ts";
import { type FilterGroup, Filters, Pagination } from "./navigation.tsx";
import { PageHeader } from "./page-header.tsx";
import { SelectionBar, type SelectionBarProps } from "./selection.tsx";
import { Table, type TableProps } from "./table.tsx";

/** One page of a list, as its address asks for it. */
export interface ListProps<Item> {
  ctx: PageContext;
  items: readonly Item[];
  next_cursor: string | null;
  is_first_page: boolean;
  asked: {
    q: string;
    /** A column; `-` before it means descending. */
    sort: string;
    filters: Readonly<Record<string, string>>;
  };
  /** The entries of each option of each filter, and of all of them under "". */
  counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A filter by a closed set of values; those without entries are left out. */
export interface ListFilter {
  name: string;
  title: string;
  all?: string | undefined;
  options: readonly (readonly [value: string, title: string])[];
}

interface ListFrameProps {
  ctx: PageContext;
  section: Section;
  icon: IconName;
  texts: { title: string; empty_title: string; empty_text: string; empty_example: string };
  /** The list is empty: the page explains its purpose, and `action` adds the first entry. */
  is_empty: boolean;
  action: Child;
  lead?: string | undefined;
  /** In the header, unless the list is empty. */
  actions?: Child;
  children: Child;
}

/** A page around a list: an introduction while it is empty, otherwise the rows. */
function ListFrame({ ctx, section, texts: t, ...props }: ListFrameProps) {
  return (
    <Layout ctx={ctx} title={t.title} section={section}>
      {props.is_empty ? (
        <>
          <PageHeader ctx={ctx} title={t.title} />
          <Empty ctx={ctx} icon={props.icon} title={t.empty_title} action={props.action} example={t.empty_example}>
            {t.empty_text}
          </Empty>
        </>
      ) : (
        <>
          <PageHeader ctx={ctx} title={t.title} lead={props.lead} actions={props.actions} />
          {props.children}
        </>
      )}
    </Layout>
  );
}

export interface ListBodyProps extends ListProps<unknown> {
  section: Section;
  /** Replaced by filtering and by what reloads the list. */
  id: string;
  caption: string;
  filters: readonly ListFilter[];
  /** What the text filter looks at. */
  search_label?: string | undefined;
  table: Pick<TableProps, "columns" | "rows">;
  /** What can be done with several rows at once. */
  selection?: Omit<SelectionBarProps, "ctx" | "form"> | undefined;
  /** Below the table. */
  children?: Child;
}

function isFiltered({ asked }: Pick<ListProps<unknown>, "asked">): boolean {
  return asked.q !== "" || Object.keys(asked.filters).length > 0;
}

/** Every entry is on this page. */
export function isWhole(list: ListProps<unknown>): boolean {
  return list.is_first_page && list.next_cursor === null && !isFiltered(list);
}

/** Filters, rows and pages of a list. */
export function ListBody({
  ctx,
  section,
  id,
  caption,
  filters,
  search_label,
  table,
  selection,
  children,
  ...list
}: ListBodyProps) {
  const { items, next_cursor, is_first_page, asked, counts } = list;
  const groups = filters.flatMap(({ name, title, all, options }): FilterGroup[] => {
    const count = (value: string) => counts[name]?.[value] ?? 0;
    const current = asked.filters[name] ?? null;
    const shown = options.filter(([value]) => value === current || count(value) > 0);
    // A single option that all entries have is no choice.
    if (current === null && !shown.some(([value]) => count(value) < count(""))) return [];
    return [
      {
        ...{ name, title, all, current, total: count("") },
        options: shown.map(([value, word]) => ({ value, title: word, count: count(value) })),
      },
    ];
  });
  const label = search_label ?? texts(ctx).common.filter_text;
  const shown = { ctx, caption, ...table, sort: asked.sort, is_list: true };
  return (
    <div id={id} class="choices">
      <Filters ctx={ctx} groups={groups} search={{ name: "q", value: asked.q, label, target: `#${id}` }} />
      {items.length === 0 ? (
        <NothingMatches ctx={ctx} href={`/${section}`} />
      ) : selection === undefined ? (
        <Table {...shown} />
      ) : (
        <div class="choosing">
          <Table {...shown} choices_form={`${section}-selection`} />
          <SelectionBar ctx={ctx} form={`${section}-selection`} {...selection} />
        </div>
      )}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
      {children}
    </div>
  );
}

interface ListPageProps
  extends Omit<ListBodyProps, "id" | "caption">,
    Pick<ListFrameProps, "section" | "icon" | "texts" | "lead"> {
  /** The button for adding an entry, or what to do while there is none. */
  action: Child;
  /** In the header; `action` when left out. */
  actions?: Child;
  id?: string;
  caption?: string;
  /** Below the list. */
  after?: Child;
}

/** A list's page; what it is for while it is empty. */
export function ListPage({ action, actions = action, icon, texts: t, lead, after, ...body }: ListPageProps) {
  const { ctx, section } = body;
  const isEmpty = body.items.length === 0 && body.is_first_page && !isFiltered(body);
  return (
    <ListFrame {...{ ctx, section, icon, lead, actions, action }} texts={t} is_empty={isEmpty}>
      <ListBody id={`${section}-list`} caption={t.title} {...body} />
      {after}
    </ListFrame>
  );
}

/** The button of a list whose entries an administrator adds. */
export function AddButton({ ctx, section, children }: Pick<ListFrameProps, "ctx" | "section" | "children">) {
  return (
    <LinkButton ctx={ctx} href={`/${section}/new`} kind="main" icon="plus">
      {children}
    </LinkButton>
  );
}
