import type { Child } from "hono/jsx";

/** Characters of a text's end that are shown however little room there is: names often differ only there. */
const keptEnd = 8;

/**
 * One line of a list. What does not fit is cut: of a long text from its middle. That text is one piece, for who copies, searches or hears it;
 * the style measures `data-text`, and shows `data-end` where that is longer than the line.
 */
export function Clip({ children }: { children: Child }) {
  if (typeof children !== "string" || children.length <= 2 * keptEnd) return <span class="clip">{children}</span>;
  return (
    <span class="clip parted" data-text={children}>
      <span data-end={[...children].slice(-keptEnd).join("")}>
        <span>{children}</span>
      </span>
    </span>
  );
}
