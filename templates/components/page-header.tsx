import type { Child } from "hono/jsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { LinkButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Partial } from "./notice.tsx";

interface PageHeaderProps {
  ctx: PageContext;
  /** States the situation ("3 updates need approval"), or names the thing. The page's only `h1`. */
  title: Child;
  /** A `State` beside the title. */
  state?: Child;
  /** One line of facts below. */
  lead?: Child;
  actions?: Child;
  /** The parent page: a link above the title. */
  parent?: { title: string; href: string } | undefined;
}

export function PageHeader({ ctx, title, state, lead, actions, parent }: PageHeaderProps) {
  return (
    <header class="page-header">
      {parent === undefined ? null : <ParentLink ctx={ctx} {...parent} />}
      <div class="page-title">
        <h1>{title}</h1>
        {state}
        {actions === undefined ? null : <HeaderActions actions={actions} />}
      </div>
      {lead === undefined ? null : <p class="lead">{lead}</p>}
    </header>
  );
}

export function ParentLink({ ctx, title, href }: { ctx: PageContext; title: string; href: string }) {
  return (
    <a class="parent" href={url(ctx, href)}>
      <Icon name="chevron-left" />
      {title}
    </a>
  );
}

const actionsId = "header-actions";

function HeaderActions({ actions }: Pick<PageHeaderProps, "actions">) {
  return (
    <div id={actionsId} class="actions">
      {actions}
    </div>
  );
}

/** The actions of an open page as they are now. */
export function ChangedActions(props: Pick<PageHeaderProps, "actions">) {
  return (
    <Partial target={`#${actionsId}`}>
      <HeaderActions {...props} />
    </Partial>
  );
}

/** The last two actions of a detail page. */
export function EditAndDelete({ ctx, path }: { ctx: PageContext; path: string }) {
  const t = texts(ctx).common;
  return (
    <>
      <LinkButton ctx={ctx} href={`${path}/edit`} icon="pencil">
        {t.edit}
      </LinkButton>
      <LinkButton ctx={ctx} href={`${path}/delete`} icon="trash" opens_dialog>
        {t.delete}
      </LinkButton>
    </>
  );
}

interface SectionProps {
  title: string;
  id?: string | undefined;
  /** Facts or a link at the end of the heading's line. */
  aside?: Child;
  children: Child;
}

/** A part of a page with its own heading. */
export function Section({ title, id, aside, children }: SectionProps) {
  return (
    <section id={id}>
      <header class="section-header">
        <h2>{title}</h2>
        {aside === undefined ? null : <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A framed surface with padding. */
export function Panel({ children }: { children: Child }) {
  return <div class="panel padded">{children}</div>;
}

/** The main column and a narrow one beside it, which moves below on narrow screens. */
export function Columns({ children, aside }: { children: Child; aside: Child }) {
  return (
    <div class="columns">
      <div>{children}</div>
      <aside>{aside}</aside>
    </div>
  );
}
