import type { Child } from "hono/jsx";
import { classes, type PageContext, url } from "../page.ts";
import { withCode } from "./code.tsx";

/** A framed list of mixed entries: the queue of "Needs attention", deliveries, events of a day. */
export function Rows({ children, id, ordered }: { children: Child; id?: string; ordered?: boolean }) {
  return ordered === true ? (
    <ol class="panel rows" id={id}>
      {children}
    </ol>
  ) : (
    <ul class="panel rows" id={id}>
      {children}
    </ul>
  );
}

interface RowProps {
  ctx: PageContext;
  id?: string | undefined;
  /** At the start: a `State`, or a `Time`. */
  lead?: Child;
  /** The subject, in bold; a link that covers the row when `href` is given. */
  title: Child;
  href?: string | undefined;
  /** Beside the title: versions, a short fact. */
  fact?: Child;
  /** A line of facts below, joined by middle dots, without null entries. */
  meta?: readonly Child[] | undefined;
  /** Below everything: a progress bar. */
  children?: Child;
  action?: Child;
}

export function Row({ ctx, id, lead, title, href, fact, meta, children, action }: RowProps) {
  const facts = (meta ?? []).filter((entry) => entry !== null && entry !== undefined && entry !== "");
  return (
    <li id={id} class={classes("row", href !== undefined && "leads", lead === undefined && "no-lead")}>
      {lead === undefined ? null : <div class="row-lead">{lead}</div>}
      <div class="row-body">
        <p class="row-title">
          {href === undefined ? <b>{title}</b> : <a href={url(ctx, href)}>{title}</a>} {fact}
        </p>
        {facts.length === 0 ? null : (
          <p class="meta">
            {facts.map((entry) => (
              <span>{withCode(entry)}</span>
            ))}
          </p>
        )}
        {children}
      </div>
      {action === undefined ? null : <div class="row-action">{action}</div>}
    </li>
  );
}
