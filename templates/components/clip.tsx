import type { Child } from "hono/jsx";

interface ClipProps {
  /** With the base path: the line is a link. */
  href?: string | undefined;
  children: Child;
}

/** Characters of a text's end that are shown however little room there is: names often differ only there. */
const keptEnd = 8;

/**
 * One line of a list, cut where it does not fit; a long text is cut in its middle. The text stays in one piece for copying, searching and
 * screen readers; the style measures `data-text`, and shows `data-end` where that is longer than the line.
 */
export function Clip({ href, children }: ClipProps) {
  if (typeof children !== "string" || children.length <= 2 * keptEnd) {
    if (href === undefined) return <span class="clip">{children}</span>;
    return (
      <a class="clip" href={href}>
        {children}
      </a>
    );
  }
  const parted = (
    <span class="clip parted" data-text={children}>
      <span data-end={[...children].slice(-keptEnd).join("")}>
        <span>{children}</span>
      </span>
    </span>
  );
  return href === undefined ? parted : <a href={href}>{parted}</a>;
}
