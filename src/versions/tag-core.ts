import { ephemeralWords, platformWords } from "./tag-words.ts";

/** The kind of number in a tag: `version` 1.2.3, `calver` 2024.6.1, `date` 2024-06-01 or 20240601, `epoch` Unix seconds. */
export type NumberShape = "version" | "calver" | "date" | "epoch";

/** The number in a tag: `tag.slice(0, start)` is its prefix, `tag.slice(end)` its suffix. */
export interface TagCore {
  start: number;
  end: number;
  shape: NumberShape;
  /** Decimal text without leading zeros, most significant first. */
  numbers: readonly string[];
}

interface Run {
  start: number;
  end: number;
  parts: readonly string[];
  /** Letters directly before it (`alpine3.20`), other than a separate `v`. */
  is_glued: boolean;
}

/** By character code: 1 for separators of words. */
const separatorCodes = new Uint8Array(128);
for (const separator of "-_./@+~:=") separatorCodes[separator.charCodeAt(0)] = 1;

function isSeparator(character: string | undefined): boolean {
  return character !== undefined && character.length === 1 && isSeparatorAt(character, 0);
}

/** False past the end of the text. */
export function isSeparatorAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code < 128 && separatorCodes[code] === 1;
}

export function isDigit(character: string | undefined): boolean {
  return character !== undefined && character.length === 1 && isDigitAt(character, 0);
}

/** False past the end of the text. */
export function isDigitAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 48 && code <= 57;
}

export function isDigits(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (!isDigitAt(text, index)) return false;
  return text !== "";
}

export function withoutLeadingZeros(digits: string): string {
  let index = 0;
  while (index < digits.length - 1 && digits[index] === "0") index += 1;
  return index === 0 ? digits : digits.slice(index);
}

/** True for 6 to 64 hexadecimal digits. */
export function isHexadecimal(text: string): boolean {
  return text.length >= 6 && text.length <= 64 && /^[\da-f]+$/i.test(text);
}

/**
 * True for what is almost certainly a commit or digest: 7 or more hexadecimal digits with letters and figures, or just 7 after an `h`
 * (`1.22--h96c455f_0`).
 */
export function isHash(text: string): boolean {
  if (text.length < 7) return false;
  if (text.length === 8 && (text[0] === "h" || text[0] === "H")) return isHexadecimal(text.slice(1)) && /\d/.test(text);
  const hex = text.length > 7 && (text[0] === "g" || text[0] === "G") ? text.slice(1) : text;
  return isHexadecimal(hex) && /\d/.test(hex) && !isDigits(hex);
}

/**
 * Finds the number that makes a tag a version, or null. A number at the very start is it (`16-debian-12`); otherwise the first
 * with two or more parts (`app-64-1.2.3`), then the first with one (`release-5`), then one glued to the first word (`go1.22`).
 */
export function findCore(tag: string): TagCore | null {
  const runs = numberRuns(tag);
  const proper = runs.filter((run) => !run.is_glued);
  const first = proper[0];
  if (first !== undefined && isAtStart(tag, first)) return toCore(tag, successor(tag, first, proper) ?? first);
  const chosen = proper.find((run) => isComplete(tag, run)) ?? first;
  if (chosen !== undefined) return toCore(tag, successor(tag, chosen, proper) ?? chosen);
  const glued = runs[0];
  if (glued === undefined || !isGluedToFirstWord(tag, glued)) return null;
  return toCore(tag, glued);
}

function numberRuns(tag: string): Run[] {
  const runs: Run[] = [];
  let index = 0;
  while (index < tag.length) {
    if (index === 0 || isSeparatorAt(tag, index - 1)) {
      const skipped = skippedWord(tag, index);
      if (skipped > 0) {
        index += skipped;
        continue;
      }
    }
    if (!isDigitAt(tag, index)) {
      index += 1;
      continue;
    }
    const run = readRun(tag, index);
    runs.push(run);
    index = run.end;
  }
  return runs;
}

/** The length of a word at `index` whose digits are no version: a hash, an architecture. */
function skippedWord(tag: string, index: number): number {
  if (tag[index] === "x" || tag[index] === "X") {
    const six = tag.slice(index, index + 6).toLowerCase();
    if (six === "x86_64" || six === "x86-64") return 6;
  }
  let end = index;
  while (end < tag.length && !isSeparatorAt(tag, end)) end += 1;
  // Every such word has three letters or more.
  if (end - index < 3) return 0;
  const word = tag.slice(index, end);
  return isHash(word) || platformWords.has(word.toLowerCase()) ? end - index : 0;
}

function readRun(tag: string, start: number): Run {
  let end = start;
  const parts: string[] = [];
  do {
    const partStart = parts.length === 0 ? end : end + 1;
    end = partStart;
    while (isDigitAt(tag, end)) end += 1;
    parts.push(tag.slice(partStart, end));
  } while (tag[end] === "." && isDigitAt(tag, end + 1));
  const before = tag[start - 1];
  const isAfterV = (before === "v" || before === "V") && (start === 1 || isSeparatorAt(tag, start - 2));
  return { start, end, parts, is_glued: start > 0 && !isSeparatorAt(tag, start - 1) && !isAfterV };
}

function isAtStart(tag: string, run: Run): boolean {
  return run.start === 0 || (run.start === 1 && !isSeparatorAt(tag, 0));
}

function isComplete(tag: string, run: Run): boolean {
  return run.parts.length > 1 || readDate(tag, run) !== null;
}

/** `5.14-2.0.0.5252`: a short number right before a longer one names what the longer one is built for. */
function successor(tag: string, run: Run, proper: readonly Run[]): Run | null {
  if (run.parts.length > 2 || readDate(tag, run) !== null) return null;
  const next = proper[proper.indexOf(run) + 1];
  if (next === undefined || next.parts.length < 3) return null;
  const between = tag.slice(run.end, next.start).toLowerCase();
  return between === "-" || between === "_" || between === "-v" || between === "_v" ? next : null;
}

function isGluedToFirstWord(tag: string, run: Run): boolean {
  const word = tag.slice(0, run.start);
  return (
    ![...word].some((character) => isSeparator(character) || isDigit(character)) &&
    !ephemeralWords.has(word.toLowerCase())
  );
}

function toCore(tag: string, run: Run): TagCore {
  const date = readDate(tag, run);
  if (date !== null) return date;
  const underscored = readUnderscored(tag, run);
  if (underscored !== null) return underscored;
  const numbers = run.parts.map(withoutLeadingZeros);
  return { start: run.start, end: run.end, shape: shapeOf(run.parts), numbers };
}

function shapeOf(parts: readonly string[]): NumberShape {
  const [first = "", ...rest] = parts;
  // A single number stays a version: build numbers pass 1990 without becoming years.
  if (rest.length > 0) return isYear(first) ? "calver" : "version";
  return (first.length === 10 || first.length === 13) && first.startsWith("1") ? "epoch" : "version";
}

/** `REL_16_2`, `curl-8_5_0`: git tags with underscores for dots. */
function readUnderscored(tag: string, run: Run): TagCore | null {
  if (run.parts.length > 1) return null;
  const numbers = [...run.parts];
  let end = run.end;
  while (tag[end] === "_" && isDigitAt(tag, end + 1)) {
    const start = end + 1;
    end = start;
    while (isDigitAt(tag, end)) end += 1;
    numbers.push(tag.slice(start, end));
  }
  // `17_35` is version 17, build 35: two numbers count only after a word.
  if (numbers.length < 2 || (numbers.length === 2 && run.start < 2)) return null;
  return { start: run.start, end, shape: shapeOf(numbers), numbers: numbers.map(withoutLeadingZeros) };
}

function isYear(digits: string): boolean {
  return digits.length === 4 && digits >= "1990" && digits <= "2099";
}

function isMonthDay(month: string, day: string): boolean {
  return month.length === 2 && month >= "01" && month <= "12" && day.length === 2 && day >= "01" && day <= "31";
}

/** A calendar date in a tag, with an optional time: `2024-06-04T19-20-08Z`, `20240604.2`. */
function readDate(tag: string, run: Run): TagCore | null {
  const first = run.parts[0] ?? "";
  const numbers: string[] = [];
  let end = run.end;
  if ([8, 10, 12, 14].includes(first.length)) {
    if (!isYear(first.slice(0, 4)) || !isMonthDay(first.slice(4, 6), first.slice(6, 8))) return null;
    numbers.push(first.slice(0, 4));
    for (let index = 4; index < first.length; index += 2) numbers.push(first.slice(index, index + 2));
    numbers.push(...run.parts.slice(1));
  } else {
    const month = tag.slice(end + 1, end + 3);
    const day = tag.slice(end + 4, end + 6);
    const isDashed = (tag[end] === "-" || tag[end] === "_") && tag[end + 3] === tag[end];
    if (run.parts.length !== 1 || !isYear(first) || !isDashed || !isDigits(month) || !isDigits(day)) return null;
    if (!isMonthDay(month, day) || isDigitAt(tag, end + 6)) return null;
    numbers.push(first, month, day);
    end += 6;
  }
  const time = readTime(tag, end);
  numbers.push(...time.numbers);
  return { start: run.start, end: time.end, shape: "date", numbers: numbers.map(withoutLeadingZeros) };
}

function readTime(tag: string, start: number): { end: number; numbers: string[] } {
  if ((tag[start] !== "T" && tag[start] !== "t") || !isDigitAt(tag, start + 1)) return { end: start, numbers: [] };
  let digits = "";
  let end = start + 1;
  while (
    digits.length < 6 &&
    (isDigitAt(tag, end) || (isDigitAt(tag, end + 1) && (tag[end] === "-" || tag[end] === ":")))
  ) {
    if (isDigitAt(tag, end)) digits += tag[end];
    end += 1;
  }
  if (tag[end] === "Z" || tag[end] === "z") end += 1;
  return { end, numbers: [digits.padEnd(6, "0")] };
}
