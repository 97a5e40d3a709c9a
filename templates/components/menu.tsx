import type { Child } from "hono/jsx";
import { classes, type PageContext, url } from "../page.ts";
import { Csrf } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

interface MenuProps {
  /** What it is for, for assistive technology and the pointer. */
  label: string;
  /** Beside the icon; the icon alone without it. */
  children?: Child;
  small?: boolean | undefined;
  id?: string | undefined;
  items: Child;
}

/** The actions beyond the one that has a button; `details`, so it opens without script. */
export function Menu({ label, children, small, id, items }: MenuProps) {
  return (
    <details class="menu end" data-menu id={id}>
      <summary
        class={classes("btn", small === true && "bare small", children === undefined && "square")}
        aria-label={label}
        title={label}
      >
        {children === undefined ? null : <span>{children}</span>}
        <Icon name={children === undefined ? "ellipsis" : "chevron-down"} />
      </summary>
      <div class="menu-list">{items}</div>
    </details>
  );
}

interface MenuActionProps {
  ctx: PageContext;
  /** A local path; the request is a POST with the form token. */
  action: string;
  fields: Readonly<Record<string, string>>;
  icon: IconName;
  /** See `ActionForm`. */
  target?: string | undefined;
  /** As in `MenuLink`. */
  is_narrow?: boolean | undefined;
  children: Child;
}

/** An entry that acts at once and can be taken back. */
export function MenuAction({ ctx, action, fields, icon, target, is_narrow, children }: MenuActionProps) {
  const address = url(ctx, action);
  const htmx = target === undefined ? {} : { "hx-post": address, "hx-target": target, "hx-swap": "outerMorph" };
  return (
    <form method="post" action={address} {...htmx}>
      <Csrf ctx={ctx} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button class={menuItem(is_narrow)} type="submit">
        <Icon name={icon} />
        <span>{children}</span>
      </button>
    </form>
  );
}

const menuItem = (isNarrow = false) => classes("menu-item", isNarrow && "narrow-only");

interface MenuLinkProps {
  ctx: PageContext;
  /** A local path. */
  href: string;
  icon: IconName;
  /** See `LinkButton`. */
  opens_dialog?: boolean | undefined;
  /** Only where there is no room for its button beside the menu. */
  is_narrow?: boolean | undefined;
  children: Child;
}

/** An entry that leads to a question or a page. */
export function MenuLink({ ctx, href, icon, opens_dialog, is_narrow, children }: MenuLinkProps) {
  const address = url(ctx, href);
  const dialog = opens_dialog === true ? { "hx-get": address, "hx-target": "#dialog", "hx-swap": "innerHTML" } : {};
  return (
    <a class={menuItem(is_narrow)} href={address} {...dialog}>
      <Icon name={icon} />
      <span>{children}</span>
    </a>
  );
}
