import type { Child } from "hono/jsx";
import { Layout, type Section } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { LinkButton } from "./button.tsx";
import { Empty, NothingMatches } from "./empty.tsx";
import type { IconName } from "./icons.ts";
import { Pagination } from "./navigation.tsx";
import { PageHeader } from "./page-header.tsx";
import { Table, type TableProps } from "./table.tsx";

/** One page of a list. */
export interface ListProps<Item> {
  ctx: PageContext;
  items: readonly Item[];
  next_cursor: string | null;
  is_first_page: boolean;
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

/** A list's page: an introduction while it is empty, otherwise the rows. */
export function ListFrame({ ctx, section, texts: t, ...props }: ListFrameProps) {
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

interface ListPageProps extends ListProps<unknown>, Pick<ListFrameProps, "section" | "icon" | "texts" | "lead"> {
  table: Pick<TableProps, "columns" | "rows">;
  /** Above the table: filters. */
  children?: Child;
  /** The button for adding an entry. */
  create: string;
  /** A filter is set: no matches does not mean that the list is empty. */
  is_filtered?: boolean;
}

/** A list with a button to add entries, and pagination. */
export function ListPage({
  items,
  next_cursor,
  is_first_page,
  create,
  is_filtered,
  table,
  children,
  ...props
}: ListPageProps) {
  const { ctx, section } = props;
  const button = (
    <LinkButton ctx={ctx} href={`/${section}/new`} kind="main" icon="plus">
      {create}
    </LinkButton>
  );
  const isEmpty = items.length === 0 && is_first_page && is_filtered !== true;
  return (
    <ListFrame {...props} is_empty={isEmpty} action={button} actions={button}>
      {children}
      {items.length === 0 ? (
        <NothingMatches ctx={ctx} href={`/${section}`} />
      ) : (
        <Table ctx={ctx} caption={props.texts.title} {...table} />
      )}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
    </ListFrame>
  );
}
