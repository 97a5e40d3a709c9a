/**
 * The unified diff of two texts that differ in one place, without context, because the lines around it may hold secrets. `patch` accepts
 * it. Empty for equal texts.
 */
export function linePatch(path: string, before: string, after: string): string {
  if (before === after) return "";
  const [old, next] = [linesOf(before), linesOf(after)];
  let first = 0;
  while (first < old.length && first < next.length && old[first] === next[first]) first += 1;
  let same = 0;
  const most = Math.min(old.length, next.length) - first;
  while (same < most && old[old.length - 1 - same] === next[next.length - 1 - same]) same += 1;
  const taken = old.slice(first, old.length - same);
  const put = next.slice(first, next.length - same);
  const range = (count: number) => {
    // Without removed or added lines, the diff names the line before.
    const start = count === 0 ? first : first + 1;
    return count === 1 ? String(start) : `${start},${count}`;
  };
  const body = [...taken.map((line) => marked("-", line)), ...put.map((line) => marked("+", line))].join("");
  return `--- ${path}\n+++ ${path}\n@@ -${range(taken.length)} +${range(put.length)} @@\n${body}`;
}

/** Each with its line end; the last one may have none. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(sign: "-" | "+", line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}
