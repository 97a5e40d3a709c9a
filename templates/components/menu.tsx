import type { Child } from "hono/jsx";
import { type PageContext, url } from "../page.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

interface MenuProps {
  /** The button's content. */
  summary: Child;
  /** The button's name when it shows only an icon. */
  label?: string | undefined;
  /** A tooltip for a button with words. */
  title?: string | undefined;
  children: Child;
  /** The edge it is aligned to. */
  side?: "start" | "end" | undefined;
}

/** A list of links and small forms behind a button; `details`, so it opens without script. */
export function Menu({ summary, label, title, children, side = "end" }: MenuProps) {
  return (
    <details class={`menu ${side}`} data-menu>
      <summary aria-label={label} title={title ?? label}>
        {summary}
      </summary>
      <div class="menu-list">{children}</div>
    </details>
  );
}

interface MenuLinkProps {
  ctx: PageContext;
  href: string;
  icon?: IconName | undefined;
  children: Child;
  opens_dialog?: boolean | undefined;
}

export function MenuLink({ ctx, href, icon, children, opens_dialog }: MenuLinkProps) {
  const address = url(ctx, href);
  const dialog = opens_dialog === true ? { "hx-get": address, "hx-target": "#dialog", "hx-swap": "innerHTML" } : {};
  return (
    <a class="menu-item" href={address} {...dialog}>
      {icon === undefined ? null : <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
