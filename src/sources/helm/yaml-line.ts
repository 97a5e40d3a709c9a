/** What is still open at the end of a line. Columns count from 0. */
export type Open =
  | { kind: "none" }
  /** A quoted text inside `depth` open brackets. */
  | { kind: "quoted"; quote: '"' | "'"; depth: number }
  | { kind: "flow"; depth: number }
  /** A `|` or `>` text: every line deeper than `column` belongs to it. */
  | { kind: "block"; column: number }
  /** A plain text: lines deeper than `column` continue it. */
  | { kind: "plain"; column: number };

/** One line, if nothing was open before it. */
export interface LineHead {
  /** Column of the first character. */
  indent: number;
  /** Column of what follows the dashes of list items; the line's length if nothing does. */
  column: number;
  is_item: boolean;
  /** Null without a key that is plain or quoted on this line. */
  key: string | null;
  /** Column of the key's value; the line's length if there is none. */
  value: number;
  open: Open;
}

const none: Open = { kind: "none" };

function isBlankAt(line: string, at: number): boolean {
  return at >= line.length || line[at] === " " || line[at] === "\t";
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && (line[at] === " " || line[at] === "\t")) at++;
  return at;
}

/** The column after the closing quote; -1 if it is not on this line. */
function closingQuote(line: string, from: number, quote: '"' | "'"): number {
  for (let at = line.indexOf(quote, from); at !== -1; at = line.indexOf(quote, at + 1)) {
    if (quote === "'") {
      if (line[at + 1] !== "'") return at + 1;
      at++;
      continue;
    }
    let slashes = 0;
    while (at - slashes - 1 >= from && line[at - slashes - 1] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return -1;
}

/** What is open at the end of the line, with `depth` brackets open at `from`. */
function goThroughFlow(line: string, from: number, depth: number): Open {
  let open = depth;
  for (let at = from; at < line.length; at++) {
    const character = line[at];
    if (character === "[" || character === "{") open++;
    else if (character === "]" || character === "}") {
      open--;
      if (open <= 0) return none;
    } else if (character === "#" && isBlankAt(line, at - 1)) break;
    else if ((character === '"' || character === "'") && !/[\w.)]/.test(line[at - 1] ?? " ")) {
      const end = closingQuote(line, at + 1, character);
      if (end === -1) return { kind: "quoted", quote: character, depth: open };
      at = end - 1;
    }
  }
  return { kind: "flow", depth: open };
}

/** What a value at `from` leaves open; `owner` is the column of its key or list dash. */
function openedBy(line: string, from: number, owner: number): Open {
  let at = skipBlanks(line, from);
  // Anchors and tags come before the value.
  while (line[at] === "&" || line[at] === "!") {
    while (!isBlankAt(line, at)) at++;
    at = skipBlanks(line, at);
  }
  const first = line[at];
  if (first === undefined || first === "#" || first === "*") return none;
  if (first === '"' || first === "'") {
    return closingQuote(line, at + 1, first) === -1 ? { kind: "quoted", quote: first, depth: 0 } : none;
  }
  if (first === "[" || first === "{") return goThroughFlow(line, at, 0);
  if (first === "|" || first === ">") return { kind: "block", column: owner };
  return { kind: "plain", column: owner };
}

/** The key at `from` and the column after its colon; null if there is none on this line. */
function keyAt(line: string, from: number): { key: string; end: number } | null {
  const first = line[from];
  if (first === '"' || first === "'") {
    const end = closingQuote(line, from + 1, first);
    const colon = end === -1 ? -1 : skipBlanks(line, end);
    if (colon === -1 || line[colon] !== ":" || !isBlankAt(line, colon + 1)) return null;
    return { key: unquoted(line.slice(from + 1, end - 1), first), end: colon + 1 };
  }
  if (first === undefined || "[{|>#&*!%@`".includes(first)) return null;
  const comment = line.indexOf(" #", from);
  for (let colon = line.indexOf(":", from); colon !== -1; colon = line.indexOf(":", colon + 1)) {
    if (comment !== -1 && comment < colon) return null;
    if (isBlankAt(line, colon + 1)) return { key: line.slice(from, colon).trimEnd(), end: colon + 1 };
  }
  return null;
}

function unquoted(text: string, quote: '"' | "'"): string {
  if (quote === "'") return text.replaceAll("''", "'");
  return text.includes("\\") ? text.replace(/\\(["\\/])/g, "$1") : text;
}

/** Number of leading spaces. */
export function indentOf(line: string): number {
  let at = 0;
  while (at < line.length && line[at] === " ") at++;
  return at;
}

/** Reads a line that starts outside of any open text, and is neither blank nor a comment. */
export function readLine(line: string, indent: number): LineHead {
  let column = indent;
  let dash = indent;
  while (line[column] === "-" && isBlankAt(line, column + 1)) {
    dash = column;
    column = skipBlanks(line, column + 1);
  }
  const is_item = column > indent;
  const found = keyAt(line, column);
  if (found === null) {
    // A text on its own line is the only value: lines at its own column continue it.
    const owner = is_item ? dash : indent - 1;
    return { indent, column, is_item, key: null, value: column, open: openedBy(line, column, owner) };
  }
  const open = openedBy(line, found.end, column);
  return { indent, column, is_item, key: found.key, value: skipBlanks(line, found.end), open };
}

/**
 * Continues what was open. Returns what is open now, or null if the line is not part of it and `readLine` has to read it. The caller
 * skips blank lines and comments.
 */
export function continueLine(open: Open, line: string, indent: number): Open | null {
  switch (open.kind) {
    case "none":
      return null;
    case "quoted": {
      const end = closingQuote(line, 0, open.quote);
      if (end === -1) return open;
      return open.depth === 0 ? none : goThroughFlow(line, end, open.depth);
    }
    case "flow":
      return goThroughFlow(line, 0, open.depth);
    default:
      return indent > open.column ? open : null;
  }
}
