import type { Child } from "hono/jsx";
import { isSafeUrl, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

/** A link to a local page. */
export function Link({ ctx, href, children }: { ctx: PageContext; href: string; children: Child }) {
  return <a href={url(ctx, href)}>{children}</a>;
}

interface SafeLinkProps {
  ctx: PageContext;
  /** Untrusted: becomes a link only for http or https, otherwise plain text. */
  href: string | null;
  children?: Child;
}

/**
 * A link to an address from an upstream or a person. `hono/jsx` escapes attributes but allows `javascript:`, so never pass data to `href`
 * without this.
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
