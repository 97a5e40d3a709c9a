import type { Child } from "hono/jsx";

/** Characters of a text's end that are shown however little room there is: names often differ only there. */
const keptEnd = 8;

function isLong(text: Child): text is string {
  return typeof text === "string" && text.length > 2 * keptEnd;
}

/** The accessible name of a cell whose text is in two parts, which would be read as two words. */
export function labelOf(cell: Child): string | undefined {
  return isLong(cell) ? cell : undefined;
}

/** One line of a list. What does not fit is cut: of a long text from its middle. */
export function Clip({ children }: { children: Child }) {
  if (!isLong(children)) return <span class="clip">{children}</span>;
  const letters = [...children];
  return (
    <span class="clip parted">
      <span>{letters.slice(0, -keptEnd).join("")}</span>
      <span>{letters.slice(-keptEnd).join("")}</span>
    </span>
  );
}
