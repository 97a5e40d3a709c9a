const blank = 0x20;
const tab = 0x09;
const carriageReturn = 0x0d;
const dash = 0x2d;
const colon = 0x3a;
const hash = 0x23;

/** Characters that need a full read: quotes, brackets, block texts, anchors and the like. */
const special = new Set([..."\"'[]{}|>&*!%@`?"].map((character) => character.charCodeAt(0)));

/** The line needs a full read. */
export const unskimmed = -2;
/** The line leaves nothing open. */
export const nothingOpen = -1;

function isBlankAt(text: string, at: number, end: number): boolean {
  if (at >= end) return true;
  const code = text.charCodeAt(at);
  return code === blank || code === tab;
}

/** True for a single quoted text that ends on this line, as in `created: "2026-01-01T00:00:00Z"`. */
function isClosedQuote(text: string, from: number, end: number): boolean {
  const quote = text[from];
  if (quote !== '"' && quote !== "'") return false;
  const close = text.indexOf(quote, from + 1);
  if (close === -1 || close >= end) return false;
  return quote === '"' ? text[close - 1] !== "\\" : text[close + 1] !== "'";
}

/**
 * What a line of an unwanted chart leaves open: the column of a plain text that may continue, `nothingOpen`, or `unskimmed` if it needs
 * a full read. The line is `text` from `from` to `end`, its first character at `indent`; nothing was open before it. An index of 60 MB
 * has more than a million such lines.
 */
export function skimLine(text: string, from: number, end: number, indent: number): number {
  const last = text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end;
  let at = from + indent;
  let owner = indent - 1;
  let column = indent;
  while (at < last && text.charCodeAt(at) === dash && isBlankAt(text, at + 1, last)) {
    owner = at - from;
    at++;
    while (at < last && isBlankAt(text, at, last)) at++;
    column = at - from;
  }
  if (at >= last) return nothingOpen;
  if (special.has(text.charCodeAt(at))) return unskimmed;
  for (; at < last; at++) {
    const code = text.charCodeAt(at);
    if (code === hash && isBlankAt(text, at - 1, last)) return owner;
    if (code !== colon || !isBlankAt(text, at + 1, last)) continue;
    at++;
    while (at < last && isBlankAt(text, at, last)) at++;
    if (at >= last || text.charCodeAt(at) === hash) return nothingOpen;
    if (!special.has(text.charCodeAt(at))) return column;
    return isClosedQuote(text, at, last) ? nothingOpen : unskimmed;
  }
  return owner;
}
