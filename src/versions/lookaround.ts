/** Two patterns without lookaround that together accept the same as one with it. */
export interface PatternPair {
  /** Blank accepts everything. */
  include: string;
  exclude: string;
}

/** The parentheses and bars of a pattern, unless escaped or in a character set, with their depth. */
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

/** The position of the parenthesis that closes the one at the start, or -1. */
function closingOf(text: string): number {
  for (const { index, mark, depth } of marksOf(text)) if (mark === ")" && depth === 0) return index;
  return -1;
}

/** Whether a text has alternatives outside of parentheses. */
function hasAlternatives(text: string): boolean {
  return [...marksOf(text)].some(({ mark, depth }) => mark === "|" && depth === 0);
}

/** What a negative lookahead at the start forbids, as a pattern to search. */
function forbidden(content: string): string | null {
  const isAnywhere = content.startsWith(".*");
  const found = isAnywhere ? content.replace(/^(?:\.\*\??)+/, "") : content;
  if (found === "" || (isAnywhere && hasAlternatives(found))) return null;
  return isAnywhere ? found : hasAlternatives(found) ? `^(?:${found})` : `^${found}`;
}

/**
 * The pair for an include pattern with negative lookaheads at its start (`^(?!.*rc)v\d`) or a negative lookbehind at its end
 * (`^v\d(?<!rc)$`); null for every other lookaround.
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
  // Unanchored, a lookahead alone would match somewhere in every tag: at the start it is meant for the whole.
  const anchor = body.startsWith("^") || excludes.length > 0 ? "^" : "";
  // It applies to only one of several alternatives.
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
