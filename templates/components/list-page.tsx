import { createHash } from "node:crypto";
import type { Child } from "hono/jsx";
import { formatNumber } from "../format.ts";
import { Layout, type Section } from "../layout.tsx";
import { type Notice, type PageContext, partsOf } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { LinkButton } from "./button.tsx";
import { Empty, NothingMatches } from "./empty.tsx";
import type { IconName } from "./icons.ts";
import { type FilterField, type FilterGroup, Filters, Pagination } from "./navigation.tsx";
import { Partial, ToastPartial } from "./notice.tsx";
import { ChangedActions, PageHeader } from "./page-header.tsx";
import { SelectionActions, SelectionBar, type SelectionBarProps, SelectionCount } from "./selection.tsx";
import { ChangedRows, type Order, Orders, Table, type TableProps } from "./table.tsx";

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
  /** Too many for links. */
  is_long?: boolean;
}

interface ListFrameProps {
  ctx: PageContext;
  section: Section;
  icon: IconName;
  texts: { title: string; empty_title: string; empty_text: Child; empty_example: string };
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

type ListTable = Pick<TableProps, "columns" | "rows">;

interface ListBaseProps extends ListProps<unknown> {
  /** Replaced by filtering and by what reloads the list. */
  id: string;
  caption: string;
  filters: readonly ListFilter[];
  /** Filters by a day, below those by options. */
  days?: readonly { name: string; title: string; value: string }[] | undefined;
  /** What the text filter looks at. */
  search_label?: string | undefined;
  /** One of several sections of a page, so its links return to it. */
  is_section?: boolean | undefined;
  /** The id of what filtering replaces, if more than the list depends on its address. */
  part?: string | undefined;
  /** What can be done with several rows at once. */
  selection?: Omit<SelectionBarProps, "ctx"> | undefined;
  /** Reloads it. */
  live?: Readonly<Record<`hx-${string}`, string>> | undefined;
  /** At the end of the filters. */
  tools?: Child;
  /** Below the table. */
  children?: Child;
  /** In the page's header, if they depend on the entries. */
  actions?: Child;
}

export interface ListBodyProps extends ListBaseProps {
  table: ListTable;
}

/** Rows of another kind than those of a table. */
interface RowListProps extends ListBaseProps {
  rows: Child;
  /** What they can be sorted by, as the columns of a table. */
  orders: readonly Order[];
}

export function isFiltered({ asked }: Pick<ListProps<unknown>, "asked">): boolean {
  return asked.q !== "" || Object.keys(asked.filters).length > 0;
}

/** Every entry is on this page. */
export function isWhole(list: ListProps<unknown>): boolean {
  return list.is_first_page && list.next_cursor === null && !isFiltered(list);
}

/** There are no entries at all. */
export function isEmpty(list: ListProps<unknown>): boolean {
  return list.items.length === 0 && isWhole(list);
}

/** What the filters of a list depend on. */
interface Filtered extends Pick<ListProps<unknown>, "ctx" | "counts">, Pick<ListBaseProps, "filters" | "days"> {
  asked: Pick<ListProps<unknown>["asked"], "filters">;
}

/** The options that a filter has for these entries; none if it is no choice. */
function optionsOf({ asked, counts }: Filtered, { name, options }: ListFilter) {
  const count = (value: string) => counts[name]?.[value] ?? 0;
  const current = asked.filters[name] ?? null;
  const shown = options.filter(([value]) => value === current || count(value) > 0);
  // A single option that all entries have is no choice.
  if (current === null && !shown.some(([value]) => count(value) < count(""))) return null;
  return {
    current,
    total: count(""),
    options: shown.map(([value, word]) => ({ value, title: word, count: count(value) })),
  };
}

/** The filters of a list that are a choice, as links and as fields. */
export function filtersOf(list: Filtered) {
  const groups: FilterGroup[] = [];
  const fields: FilterField[] = [];
  for (const filter of list.filters) {
    const found = optionsOf(list, filter);
    if (found === null) continue;
    const { name, title, all } = filter;
    const { current, total, options } = found;
    if (filter.is_long !== true) {
      groups.push({ name, title, all, current, total, options });
      continue;
    }
    const every = `${all ?? texts(list.ctx).common.all} (${formatNumber(list.ctx.language, total)})`;
    fields.push({ kind: "options", name, title, value: current ?? "", all: every, options });
  }
  return { groups, fields: [...fields, ...(list.days ?? []).map((day) => ({ kind: "date" as const, ...day }))] };
}

/** Filters, rows and pages of a list. */
export function ListBody(given: ListBodyProps | RowListProps) {
  const { id, items, next_cursor, is_first_page } = given;
  const ctx = given.is_section === true ? { ...given.ctx, path: `${given.ctx.path}#${id}` } : given.ctx;
  const { bare, fragment } = partsOf(ctx.path);
  const props = { ...given, ctx };
  return (
    <div id={id} class="choices" {...props.live}>
      <ListFilters {...props} />
      {items.length === 0 ? <NothingMatches ctx={ctx} href={bare + fragment} /> : <ListRows {...props} />}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
      {"table" in props ? <Shown id={id} rows={props.table.rows} /> : null}
      {props.children}
    </div>
  );
}

interface ListChangesProps extends ListBodyProps {
  changed: readonly string[];
  notice?: Notice | null;
}

/**
 * The response to an action on rows of an open list: those rows, even if its filters no longer match them, the counts of the list, and the
 * result of the action. `changed`: the IDs of the rows.
 */
export function ListChanges({ changed, notice = null, ...list }: ListChangesProps) {
  const { ctx, selection, actions } = list;
  return (
    <>
      {actions === undefined ? null : <ChangedActions actions={actions} />}
      <ChangedRows {...tableOf(list)} ids={changed} />
      <Partial target={`#${list.id} > .filters`}>
        <ListFilters {...list} />
      </Partial>
      {selection === undefined ? null : (
        <>
          <Partial target={`#${selection.form} > .selection-count`}>
            <SelectionCount ctx={ctx} matching={selection.matching} />
          </Partial>
          <Partial target={`#${selection.form} > .choice-actions`}>
            <SelectionActions ctx={ctx} buttons={selection.buttons} more={selection.more} />
          </Partial>
        </>
      )}
      {notice === null ? null : <ToastPartial ctx={ctx} notice={notice} />}
    </>
  );
}

/** What an open page sends about its list when it requests changes. */
export interface OpenList {
  /** As `Shown` wrote it. */
  seen: string;
  /** The ids of its rows. */
  shown: readonly string[];
}

function Shown({ id, rows }: { id: string; rows: TableProps["rows"] }) {
  if (rows.every((row) => row.shows === undefined)) return null;
  return <input type="hidden" id={`${id}-seen`} name="seen" value={fingerprint(rows)} autocomplete="off" />;
}

function fingerprint(rows: TableProps["rows"]): string {
  const shown = rows.map(({ id, shows }) => [id, shows] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 8);
}

function rowsOf({ table }: Pick<ListBodyProps, "table">, { shown }: Pick<OpenList, "shown">) {
  return table.rows.filter(({ id }) => shown.includes(id));
}

/** Whether the rows of an open list are still the same. */
export function isStillShown(list: Pick<ListBodyProps, "table">, open: OpenList): boolean {
  return fingerprint(rowsOf(list, open)) === open.seen;
}

/** The rows of an open list as they are now. */
export function ListNews({ shown, ...list }: ListBodyProps & Pick<OpenList, "shown">) {
  return (
    <>
      <ListChanges {...list} changed={shown} />
      <Partial target={`#${list.id}-seen`}>
        <Shown id={list.id} rows={rowsOf(list, { shown })} />
      </Partial>
    </>
  );
}

function ListFilters(list: ListBaseProps) {
  const { ctx, id, part = id, asked, search_label = texts(ctx).common.filter_text } = list;
  const search = { name: "q", value: asked.q, label: search_label };
  return (
    <Filters ctx={ctx} {...filtersOf(list)} search={search} target={`#${part}`}>
      {list.tools}
    </Filters>
  );
}

function tableOf({ ctx, caption, asked, selection, table }: ListBodyProps): TableProps {
  return { ctx, caption, ...table, sort: asked.sort, is_list: true, choices_form: selection?.form };
}

function ListRows(props: ListBodyProps | RowListProps) {
  if ("rows" in props) {
    return (
      <>
        <Orders ctx={props.ctx} orders={props.orders} sort={props.asked.sort} />
        {props.rows}
      </>
    );
  }
  const { ctx, selection } = props;
  const table = <Table {...tableOf(props)} />;
  if (selection === undefined) return table;
  return (
    <div class="choosing">
      {table}
      <SelectionBar ctx={ctx} {...selection} />
    </div>
  );
}

interface ListPageProps
  extends Omit<ListBodyProps, "id" | "caption">,
    Pick<ListFrameProps, "section" | "icon" | "texts" | "lead"> {
  /** The button for adding an entry, or what to do while there is none; in the header unless there are `actions`. */
  action: Child;
  id?: string;
  caption?: string;
  /** Below the list. */
  after?: Child;
}

/** A list's page; what it is for while it is empty. */
export function ListPage({ action, actions = action, section, icon, texts: t, lead, after, ...body }: ListPageProps) {
  const { ctx } = body;
  return (
    <ListFrame {...{ ctx, section, icon, lead, actions, action }} texts={t} is_empty={isEmpty(body)}>
      <ListBody id={`${section}-list`} caption={t.title} {...body} />
      {after}
    </ListFrame>
  );
}

type AddedSection = "connections" | "credentials" | "executors" | "notifiers" | "trackers";

/** The button of a list whose entries an administrator adds. */
export function AddButton({ ctx, section }: { ctx: PageContext; section: AddedSection }) {
  return (
    <LinkButton ctx={ctx} href={`/${section}/new`} kind="main" icon="plus">
      {texts(ctx)[section].add}
    </LinkButton>
  );
}
