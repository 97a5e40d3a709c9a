export interface MarkedPart {
  text: string;
  is_match: boolean;
}

/** Splits a text at the search words, in any case; the earliest match wins, then the longest. */
export function markedParts(text: string, terms: readonly string[]): readonly MarkedPart[] {
  // Lower-casing makes some letters longer and shifts positions: such a text stays unmarked.
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [{ text, is_match: false }];
  const words = terms.map((term) => term.toLowerCase()).filter((term) => term !== "");
  const parts: MarkedPart[] = [];
  let start = 0;
  while (start < text.length) {
    const next = nearest(lower, words, start);
    const end = next?.at ?? text.length;
    if (end > start) parts.push({ text: text.slice(start, end), is_match: false });
    if (next === null) break;
    start = next.at + next.length;
    parts.push({ text: text.slice(next.at, start), is_match: true });
  }
  return parts;
}

function nearest(text: string, words: readonly string[], from: number): { at: number; length: number } | null {
  let found: { at: number; length: number } | null = null;
  for (const word of words) {
    const at = text.indexOf(word, from);
    if (at === -1) continue;
    if (found === null || at < found.at || (at === found.at && word.length > found.length)) {
      found = { at, length: word.length };
    }
  }
  return found;
}
