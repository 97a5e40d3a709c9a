import type { Child } from "hono/jsx";
import { classes, type PageContext, partsOf, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Clip } from "./clip.tsx";
import { Icon } from "./icon.tsx";
import { Partial } from "./notice.tsx";

export interface Column {
  key: string;
  title: string;
  /** In the table's head instead of the title, for one column with several facts. */
  heading?: Child;
  /** `end` for numbers and times, so that digits align. */
  align?: "start" | "end" | undefined;
  /** May wrap: long names and sentences. The others stay on one line. */
  grows?: boolean | undefined;
  /** `none` for at most one column with a self-explanatory value (the state): a card shows it beside the heading. */
  card_label?: "none" | undefined;
  /** Cut where it does not fit on one line; for values that a page of their own shows in full. The first column of a list is always cut. */
  clips?: boolean | undefined;
  /** Shown in a narrow row of a list beside its name and state, first on its second line. */
  leads?: boolean | undefined;
  /** Hidden between phone and wide screens, and on wide ones beside many or wide columns, where it would not fit; cards show every column, rows of a list do not. */
  wide_only?: boolean | undefined;
  /** The name of the list's sort by this column; `-` before it where descending comes first. */
  sort?: string | undefined;
}

export interface Row {
  /** Becomes the row's id, so that events can replace exactly this row. */
  id: string;
  /** A local path: the first cell becomes a link that covers the whole row. */
  href?: string | undefined;
  cells: Readonly<Record<string, Child>>;
  /** Tooltips of cells. */
  titles?: Readonly<Record<string, string | undefined>> | undefined;
  /** Buttons at the end of the row. */
  actions?: Child;
  /** Greyed out: disabled, refused. */
  muted?: boolean | undefined;
  /** Rows of one group follow each other below its heading. */
  group?: { key: string; heading: Child } | undefined;
  /** What a search within the page finds it by, in lower case. */
  found?: string | undefined;
  /** Can be selected, for an action on several rows. */
  choice?: Choice | undefined;
  /** An open list replaces the row once this changes. Times of checks do not belong here. */
  shows?: unknown;
}

interface Choice {
  /** Sent as `id`. */
  value: string;
  /** "Select web" */
  label: string;
}

export interface TableProps {
  ctx: PageContext;
  /** What the table lists, for assistive technology. */
  caption: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** The current sort of a list. */
  sort?: string | undefined;
  /** Two lines a row in a narrow container, where other tables become cards. */
  is_list?: boolean | undefined;
  /** The id of the form that the selected rows are sent with. */
  choices_form?: string | undefined;
}

/**
 * A list of similar entries, one line each; becomes cards in a narrow container. The whole row leads to the detail page; the link itself is
 * the first cell, so the keyboard and middle clicks work as on any link.
 */
export function Table(props: TableProps) {
  const { ctx, caption, columns, rows, sort, is_list } = props;
  const shape = shapeOf(props);
  const { has_actions: hasActions, choices } = shape;
  const isCrowded = columns.length > 7 || columns.some(({ leads, grows }) => leads === true && grows === true);
  return (
    <div class="table-box">
      <table class={classes("table", is_list === true && "compact", isCrowded && "crowded")}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {choices === null ? null : <AllRows ctx={ctx} are_all={choices.are_all} />}
            {columns.map((column) => (
              <ColumnHeading ctx={ctx} column={column} sort={sort} />
            ))}
            {hasActions ? (
              <th scope="col">
                <span class="hidden">{texts(ctx).common.actions}</span>
              </th>
            ) : null}
          </tr>
        </thead>
        {[...Map.groupBy(rows, ({ group }) => group?.key)].map(([key, own]) => (
          <tbody>
            {key === undefined ? null : (
              <tr class="group-heading">
                <th scope="rowgroup" colspan={columns.length + (hasActions ? 1 : 0) + (choices === null ? 0 : 1)}>
                  {own[0]?.group?.heading}
                </th>
              </tr>
            )}
            {own.map((row) => (
              <TableRow {...shape} row={row} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** What the rows of a table have in common. */
function shapeOf({ ctx, is_list, columns, rows, choices_form }: TableProps): Omit<TableRowProps, "row"> {
  return {
    ctx,
    is_list: is_list === true,
    columns,
    has_actions: rows.some((row) => row.actions !== undefined),
    choices: choices_form === undefined ? null : { form: choices_form, are_all: areAllChosen(ctx) },
  };
}

/** Updates rows of a table on an open page, by their IDs; a row that the table no longer has is removed. */
export function ChangedRows({ ids, ...table }: TableProps & { ids: readonly string[] }) {
  const shape = shapeOf(table);
  return (
    <>
      {ids.map((id) => {
        const row = table.rows.find((each) => each.id === id);
        return (
          <Partial target={`#${id}`} swap={row === undefined ? "delete" : undefined}>
            {row === undefined ? null : <TableRow {...shape} row={row} />}
          </Partial>
        );
      })}
    </>
  );
}

/** Without script, a link asks for the page with every row selected. */
function areAllChosen(ctx: PageContext): boolean {
  return partsOf(ctx.path).query.get("select") === "all";
}

function AllRows({ ctx, are_all }: { ctx: PageContext; are_all: boolean }) {
  const t = texts(ctx).selection;
  return (
    <th scope="col" class="ticks">
      <label class="scripted" title={t.all_shown}>
        <input type="checkbox" data-ticks="table" autocomplete="off" checked={are_all} aria-label={t.all_shown} />
      </label>
      <span class="unscripted">
        <a href={url(ctx, withQuery(ctx.path, { select: are_all ? null : "all" }))}>
          {are_all ? texts(ctx).common.none : texts(ctx).common.all}
        </a>
      </span>
    </th>
  );
}

function ColumnHeading({ ctx, column, sort = "" }: { ctx: PageContext; column: Column; sort?: string | undefined }) {
  const order = column.sort === undefined ? null : { title: column.title, sort: column.sort };
  return (
    <th
      scope="col"
      class={classes(cellClass(column), order !== null && "sorts") || undefined}
      aria-sort={order === null ? undefined : directionOf(order, sort)}
    >
      {order === null ? (column.heading ?? column.title) : <SortLink ctx={ctx} order={order} sort={sort} />}
    </th>
  );
}

/** What a list can be sorted by: `sort` as in a column. */
export interface Order {
  title: string;
  sort: string;
}

/** Undefined if the list is sorted by something else. */
function directionOf(order: Order, sort: string): "ascending" | "descending" | undefined {
  if (order.sort.replace(/^-/, "") !== sort.replace(/^-/, "")) return undefined;
  return sort.startsWith("-") ? "descending" : "ascending";
}

/** Sorts, and pressed again in the other direction. */
function SortLink({ ctx, order, sort }: { ctx: PageContext; order: Order; sort: string }) {
  const direction = directionOf(order, sort);
  const next = direction === undefined ? order.sort : direction === "descending" ? sort.slice(1) : `-${sort}`;
  return (
    <a href={url(ctx, withQuery(ctx.path, { sort: next, cursor: null }))}>
      {order.title}
      {direction === undefined ? null : <Icon name={direction === "descending" ? "arrow-down" : "arrow-up"} />}
    </a>
  );
}

/** Sorts rows that have no columns. */
export function Orders({ ctx, orders, sort }: { ctx: PageContext; orders: readonly Order[]; sort: string }) {
  const t = texts(ctx).common;
  return (
    <ul class="orders" aria-label={t.sort_by}>
      {orders.map((order) => {
        const direction = directionOf(order, sort);
        return (
          <li>
            <SortLink ctx={ctx} order={order} sort={sort} />
            {direction === undefined ? null : <span class="hidden"> {t.directions[direction]}</span>}
          </li>
        );
      })}
    </ul>
  );
}

function cellClass(column: Column): string | undefined {
  const name = classes(
    column.align === "end" && "end",
    column.grows === true && "grows",
    column.clips === true && "clips",
    column.wide_only === true && "wide-only",
    column.leads === true && "leading",
  );
  return name === "" ? undefined : name;
}

/** The whole of what may be cut. */
function titleOf(cell: Child): string | undefined {
  return typeof cell === "string" ? cell : undefined;
}

interface TableRowProps {
  ctx: PageContext;
  is_list: boolean;
  columns: readonly Column[];
  row: Row;
  has_actions: boolean;
  choices: { form: string; are_all: boolean } | null;
}

function TableRow({ ctx, is_list, columns, row, has_actions, choices }: TableRowProps) {
  const [first, ...others] = columns;
  const name = row.cells[first?.key ?? ""];
  const href = row.href === undefined ? undefined : url(ctx, row.href);
  return (
    <tr
      id={row.id}
      data-found={row.found}
      class={classes(row.href !== undefined && "leads", row.muted === true && "muted", has_actions && "acts")}
    >
      {choices === null ? null : (
        <td class="ticks">
          {row.choice === undefined ? null : (
            <label title={row.choice.label}>
              <input
                type="checkbox"
                class="choice"
                id={`choice-${row.id}`}
                name="row"
                value={row.choice.value}
                form={choices.form}
                autocomplete="off"
                checked={choices.are_all}
                aria-label={row.choice.label}
              />
            </label>
          )}
        </td>
      )}
      {first === undefined ? null : (
        <th scope="row" class={cellClass(first)} title={titleOf(name)}>
          {is_list ? <Clip href={href}>{name}</Clip> : href === undefined ? name : <a href={href}>{name}</a>}
        </th>
      )}
      {others.map((column) => (
        <td
          class={cellClass(column)}
          title={row.titles?.[column.key] ?? (column.clips === true ? titleOf(row.cells[column.key]) : undefined)}
          data-label={column.card_label === "none" ? undefined : column.title}
        >
          {column.clips === true ? <Clip>{row.cells[column.key]}</Clip> : row.cells[column.key]}
        </td>
      ))}
      {has_actions ? <td class="row-actions">{row.actions}</td> : null}
    </tr>
  );
}
