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
  /** There are none at all: the page says what they are for, and `action` makes the first. */
  is_empty: boolean;
  action: Child;
  lead?: string | undefined;
  /** In the header, once there are some. */
  actions?: Child;
  children: Child;
}

/** The page of a list: how to begin while there is nothing, the rows otherwise. */
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
  /** On the button that leads to the form of a new one. */
  create: string;
  /** A filter is set: that nothing matches it does not mean that there is nothing. */
  is_filtered?: boolean;
}

/** The list of what is made here, with the button that makes one and the way to its other pages. */
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
