import type { Scalar } from "yaml";

const escapes: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\x07"],
  ["b", "\b"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\x1b"],
  [" ", " "],
  ['"', '"'],
  ["/", "/"],
  ["\\", "\\"],
  ["N", "\u0085"],
  ["_", "\u00a0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
const escapePattern = /\\(?:x(?<x>[0-9a-fA-F]{2})|u(?<u>[0-9a-fA-F]{4})|U(?<long>[0-9a-fA-F]{8})|(?<letter>.))/sy;

/**
 * Where each character of a scalar's value is in the text, and after them where its last one ends. Null for a scalar of several lines,
 * whose value is not its source.
 */
export function scalarPositions(text: string, scalar: Scalar): readonly number[] | null {
  const { value, range, type } = scalar;
  if (typeof value !== "string" || range == null) return null;
  const [start, end] = range;
  if (type === "QUOTE_DOUBLE") return quotedPositions(text, start + 1, end - 1, value, doubleQuotedCharacter);
  if (type === "QUOTE_SINGLE") return quotedPositions(text, start + 1, end - 1, value, singleQuotedCharacter);
  if (type === "PLAIN") return text.slice(start, end) === value ? steps(start, value.length) : null;
  // A block scalar: one line after its header.
  const header = text.indexOf("\n", start) + 1;
  const at = text.indexOf(value, header);
  const isAlone = /^ *$/.test(text.slice(header, at)) && /^\s*$/.test(text.slice(at + value.length, end));
  return header > 0 && at !== -1 && at < end && isAlone ? steps(at, value.length) : null;
}

function steps(start: number, length: number): readonly number[] {
  return Array.from({ length: length + 1 }, (_, index) => start + index);
}

interface SourceCharacter {
  value: string;
  length: number;
}

function quotedPositions(
  text: string,
  start: number,
  end: number,
  value: string,
  characterAt: (text: string, at: number) => SourceCharacter,
): readonly number[] | null {
  const positions: number[] = [];
  let found = "";
  for (let at = start; at < end; ) {
    const character = characterAt(text, at);
    // A character outside of the basic plane has two code units.
    for (const _ of character.value.split("")) positions.push(at);
    found += character.value;
    at += character.length;
  }
  return found === value ? [...positions, end] : null;
}

function singleQuotedCharacter(text: string, at: number): SourceCharacter {
  return { value: text[at] ?? "", length: text[at] === "'" ? 2 : 1 };
}

function doubleQuotedCharacter(text: string, at: number): SourceCharacter {
  escapePattern.lastIndex = at;
  const match = escapePattern.exec(text);
  if (match === null) return { value: text[at] ?? "", length: 1 };
  const { x, u, long, letter = "" } = match.groups ?? {};
  const code = Number.parseInt(x ?? u ?? long ?? "", 16);
  const value = Number.isNaN(code) ? (escapes.get(letter) ?? "") : code <= 0x10ffff ? String.fromCodePoint(code) : "";
  return { value, length: match[0].length };
}
