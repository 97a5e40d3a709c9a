import type { Child } from "hono/jsx";
import { isSafeUrl, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

/** A link to one of our own pages. */
export function Link({
  ctx,
  href,
  children,
  class: name,
}: {
  ctx: PageContext;
  href: string;
  children: Child;
  class?: string;
}) {
  return (
    <a href={url(ctx, href)} class={name}>
      {children}
    </a>
  );
}

interface SafeLinkProps {
  ctx: PageContext;
  /** From data, so anything: becomes a link only when it is http or https, otherwise its text is shown. */
  href: string | null;
  children?: Child;
}

/**
 * A link to an address that came from an upstream or a person. `hono/jsx` escapes attributes but lets `javascript:`
 * through, so data must never be given to `href` without this.
 */
export function SafeLink({ ctx, href, children }: SafeLinkProps) {
  const text = children ?? href ?? "";
  if (href === null || !isSafeUrl(href)) return <span>{text}</span>;
  return (
    <a href={href} class="external" rel="noopener noreferrer nofollow" target="_blank">
      {text}
      <Icon name="external-link" label={texts(ctx).common.opens_in_new_tab} />
    </a>
  );
}
