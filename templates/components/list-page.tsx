import type { Child } from "hono/jsx";
import { Layout, type Section } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { Empty } from "./empty.tsx";
import type { IconName } from "./icons.ts";
import { PageHeader } from "./page-header.tsx";

/** One page of a list. */
export interface ListProps<Item> {
  ctx: PageContext;
  items: readonly Item[];
  next_cursor: string | null;
  is_first_page: boolean;
}

interface ListPageProps {
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
export function ListPage({ ctx, section, texts: t, ...props }: ListPageProps) {
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
