import type { Child } from "hono/jsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

interface EmptyProps {
  ctx: PageContext;
  icon: IconName;
  /** What is missing. */
  title: string;
  /** What this is for, in a sentence or two. */
  children: Child;
  /** The one thing to do. */
  action?: Child;
  /** An example of what will appear here. */
  example?: Child;
}

/** An empty list explains itself: its purpose, one action, one example. For a filter without matches: `NothingMatches`. */
export function Empty({ ctx, icon, title, children, action, example }: EmptyProps) {
  return (
    <div class="empty panel">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{children}</p>
      {action === undefined ? null : <div class="empty-action">{action}</div>}
      {example === undefined ? null : (
        <div class="empty-example">
          <span class="label">{texts(ctx).common.example}</span>
          <div>{example}</div>
        </div>
      )}
    </div>
  );
}

/** For filters without matches; `href` is the same page without them. */
export function NothingMatches({ ctx, href }: { ctx: PageContext; href: string }) {
  const t = texts(ctx).common;
  return (
    <p class="panel nothing">
      {t.nothing_matches} <a href={ctx.base_path + href}>{t.clear_filters}</a>
    </p>
  );
}
