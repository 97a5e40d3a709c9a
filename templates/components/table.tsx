import type { Child } from "hono/jsx";
import { classes, type PageContext, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

export interface Column {
  key: string;
  title: string;
  /** `end` for numbers and times, so that digits stand under digits. */
  align?: "start" | "end" | undefined;
  /** May break into lines: long names and sentences. The others stay on one line. */
  grows?: boolean | undefined;
  /** `none` for at most one column, whose value speaks for itself (the state): in a card it stands beside the heading. */
  card_label?: "none" | undefined;
  /** Left out between a phone and a wide screen, where it would crowd; cards show every column. */
  wide_only?: boolean | undefined;
  /** The value of `sort` in the query string; the header becomes a link that sorts by it and then turns the order. */
  sort?: string | undefined;
}

export interface Row {
  /** Becomes the id of the row, so that events can replace exactly it. */
  id: string;
  /** A path of ours: the first cell becomes a link that covers the whole row. */
  href?: string | undefined;
  cells: Readonly<Record<string, Child>>;
  /** Buttons at the end of the row. */
  actions?: Child;
  /** Greyed: disabled, refused. */
  muted?: boolean | undefined;
}

export interface TableProps {
  ctx: PageContext;
  /** What the table lists, for assistive technology. */
  caption: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** Id of the `tbody`, the target for swaps. */
  id?: string | undefined;
  /** The sort in force: `name`, or `-name` for descending. */
  sorted?: string | undefined;
}

/**
 * A list of like things, one line each, that becomes cards when its container is narrow. The whole row leads to the
 * detail; the link itself is the first cell, so the keyboard and middle clicks work as on any link.
 */
export function Table({ ctx, caption, columns, rows, id, sorted }: TableProps) {
  const hasActions = rows.some((row) => row.actions !== undefined);
  return (
    <div class="table-box">
      <table class="table">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Header ctx={ctx} column={column} sorted={sorted} />
            ))}
            {hasActions ? (
              <th scope="col">
                <span class="hidden">{texts(ctx).common.actions}</span>
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody id={id}>
          {rows.map((row) => (
            <TableRow ctx={ctx} columns={columns} row={row} has_actions={hasActions} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellClass(column: Column): string | undefined {
  const name = classes(
    column.align === "end" && "end",
    column.grows === true && "grows",
    column.wide_only === true && "wide-only",
  );
  return name === "" ? undefined : name;
}

function Header({ ctx, column, sorted }: { ctx: PageContext; column: Column; sorted: string | undefined }) {
  const { sort } = column;
  if (sort === undefined) {
    return (
      <th scope="col" class={cellClass(column)}>
        {column.title}
      </th>
    );
  }
  const order = sorted === sort ? "ascending" : sorted === `-${sort}` ? "descending" : undefined;
  const next = order === "ascending" ? `-${sort}` : sort;
  return (
    <th scope="col" class={cellClass(column)} aria-sort={order}>
      <a
        href={url(ctx, withQuery(ctx.path, { sort: next, cursor: null }))}
        title={texts(ctx).common.sort_by(column.title)}
      >
        {column.title}
        {order === undefined ? null : <Icon name={order === "ascending" ? "arrow-up" : "chevron-down"} />}
      </a>
    </th>
  );
}

interface TableRowProps {
  ctx: PageContext;
  columns: readonly Column[];
  row: Row;
  has_actions: boolean;
}

/** One row alone, as the answer to an action or an event: swap it over `#<row.id>` with `outerMorph`. */
export function TableRow({ ctx, columns, row, has_actions }: TableRowProps) {
  const [first, ...others] = columns;
  return (
    <tr id={row.id} class={classes(row.href !== undefined && "leads", row.muted === true && "muted")}>
      {first === undefined ? null : (
        <th scope="row" class={cellClass(first)}>
          {row.href === undefined ? row.cells[first.key] : <a href={url(ctx, row.href)}>{row.cells[first.key]}</a>}
        </th>
      )}
      {others.map((column) => (
        <td class={cellClass(column)} data-label={column.card_label === "none" ? undefined : column.title}>
          {row.cells[column.key]}
        </td>
      ))}
      {has_actions ? <td class="row-actions">{row.actions}</td> : null}
    </tr>
  );
}
