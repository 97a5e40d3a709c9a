import type { Child } from "hono/jsx";
import { classes } from "../page.ts";
import { Icon } from "./icon.tsx";

interface MenuProps {
  /** What it is for, for assistive technology and the pointer. */
  label: string;
  /** Beside the icon; the icon alone without it. */
  children?: Child;
  small?: boolean | undefined;
  id?: string | undefined;
  /** Buttons of the kind `entry`. */
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
