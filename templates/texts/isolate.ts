/** Letters of scripts that run from right to left, and characters that turn the direction of what follows. */
const turning =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const isolates = /[\u2066-\u2069]/gu;

/**
 * Isolates a value in a sentence of a page, so that characters that change the direction of text affect only the value. Any other value
 * stays exactly as it is, so that text copied from a page is what was written.
 */
export function isolate<T>(value: T): T | string {
  if (typeof value !== "string" || !turning.test(value)) return value;
  return `\u2068${isClosed(value) ? value : value.replace(isolates, "")}\u2069`;
}

/** Whether it ends what it begins, and nothing that it did not begin. */
function isClosed(text: string): boolean {
  let depth = 0;
  for (const [found] of text.matchAll(isolates)) {
    depth += found === "\u2069" ? -1 : 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** The same texts; those that are functions isolate their values. */
export function isolating<T>(texts: T): T {
  if (typeof texts === "function") return ((...values: unknown[]) => texts(...values.map(isolate))) as T;
  if (typeof texts !== "object" || texts === null || Array.isArray(texts)) return texts;
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, isolating(text)])) as T;
}
