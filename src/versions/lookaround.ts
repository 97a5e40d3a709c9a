/** Two patterns without lookaround that together take what one pattern with it would take. */
export interface PatternPair {
  /** Blank takes everything. */
  include: string;
  exclude: string;
}

/** The parentheses and bars of a pattern, less those that are escaped or in a set of characters, with how deep each stands. */
function* marksOf(text: string): Generator<{ index: number; mark: string; depth: number }> {
  let depth = 0;
  let isSet = false;
  for (let index = 0; index < text.length; index += 1) {
    const mark = text[index] ?? "";
    if (mark === "\\") index += 1;
    else if (isSet) isSet = mark !== "]";
    else if (mark === "[") isSet = true;
    else if ("()|".includes(mark)) {
      if (mark === ")") depth -= 1;
      yield { index, mark, depth };
      if (mark === "(") depth += 1;
    }
  }
}

/** The position of the parenthesis that closes the one at the start of a text, or -1. */
function closingOf(text: string): number {
  for (const { index, mark, depth } of marksOf(text)) if (mark === ")" && depth === 0) return index;
  return -1;
}

/** Whether alternatives stand side by side in a text, not within parentheses. */
function hasAlternatives(text: string): boolean {
  return [...marksOf(text)].some(({ mark, depth }) => mark === "|" && depth === 0);
}

/** What a negative lookahead at the start forbids, as a pattern that is searched. */
function forbidden(content: string): string | null {
  const isAnywhere = content.startsWith(".*");
  const found = isAnywhere ? content.replace(/^(?:\.\*\??)+/, "") : content;
  if (found === "" || (isAnywhere && hasAlternatives(found))) return null;
  return isAnywhere ? found : hasAlternatives(found) ? `^(?:${found})` : `^${found}`;
}

/**
 * The pair that stands for an include pattern with negative lookaheads at its start (`^(?!.*rc)v\d`) or a negative lookbehind at its end
 * (`^v\d(?<!rc)$`); null for every other use of lookaround.
 */
export function withoutLookaround(pattern: string): PatternPair | null {
  const flags = /^\(\?[ims]+\)/.exec(pattern)?.[0] ?? "";
  const body = pattern.slice(flags.length);
  let rest = body.replace(/^\^/, "");
  const excludes: (string | null)[] = [];
  while (rest.startsWith("(?!")) {
    const end = closingOf(rest);
    if (end === -1) return null;
    excludes.push(forbidden(rest.slice(3, end)));
    rest = rest.slice(end + 1);
  }
  // Searched anywhere, a lookahead alone would find a place in every tag: who writes one at the start means the whole.
  const anchor = body.startsWith("^") || excludes.length > 0 ? "^" : "";
  // It looks from one of several alternatives alone.
  if (hasAlternatives(rest)) return null;
  const behind = rest.lastIndexOf("(?<!");
  if (behind !== -1 && closingOf(rest.slice(behind)) === rest.length - 2 - behind && rest.endsWith("$")) {
    const content = rest.slice(behind + 4, -2);
    excludes.push(hasAlternatives(content) ? `(?:${content})$` : `${content}$`);
    rest = `${rest.slice(0, behind)}$`;
  }
  if (excludes.length === 0 || excludes.includes(null)) return null;
  const isAnything = ["", "$", ".*", ".*$", ".+", ".+$"].includes(rest);
  return { include: isAnything ? "" : `${flags}${anchor}${rest}`, exclude: `${flags}${excludes.join("|")}` };
}
