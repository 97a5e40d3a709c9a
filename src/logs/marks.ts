import { createHmac, randomBytes } from "node:crypto";
import { parseInstant } from "../clock.ts";
import type { LogLine } from "../runtimes/logs.ts";

/**
 * How far a log was read. Some engines report the time of a line in whole seconds: what was read is known by the time of the last line, how
 * many lines of that time there were, and a check of the last one.
 */
export interface LogMark {
  at: string;
  count: number;
  last: string;
}

/** Marks leave the process in addresses and must not reveal lines. */
const key = randomBytes(32);
const checkChars = 8;

function checkOf({ text }: LogLine): string {
  return createHmac("sha256", key).update(text).digest("hex").slice(0, checkChars);
}

/** The mark after these lines, which were read from `mark` on. */
export function markAfter(mark: LogMark | null, lines: readonly LogLine[]): LogMark | null {
  let { at, count } = mark ?? { at: "", count: 0 };
  let last: LogLine | null = null;
  for (const line of lines) {
    if (line.at === "" || line.at < at) continue;
    count = line.at === at ? count + 1 : 1;
    at = line.at;
    last = line;
  }
  return last === null ? mark : { at, count, last: checkOf(last) };
}

/** From when to read again: engines do not agree whether the lines of that very moment are among them. */
export function secondBefore({ at }: LogMark): number {
  return Math.floor((parseInstant(at) ?? 0) / 1000) - 1;
}

/**
 * What of a log, read from `secondBefore(mark)` on, was not read before, and the mark to compare with from then on. `hasGap`: what had been
 * read is not among the lines, so that some before them may be missing.
 */
export function missedSince(
  mark: LogMark,
  lines: readonly LogLine[],
): { from: LogMark; lines: readonly LogLine[]; hasGap: boolean } {
  const from = { ...mark, count: knownAmong(mark, lines) };
  const { isNew, hasGap } = linesAfter(from);
  const missed = lines.filter(isNew);
  return { from, lines: missed, hasGap: hasGap() };
}

/** How many of the lines of the mark's time were read before. */
function knownAmong({ at, count, last }: LogMark, lines: readonly LogLine[]): number {
  const same = lines.filter((line) => line.at === at);
  const isLast = (line: LogLine | undefined) => line !== undefined && checkOf(line) === last;
  if (isLast(same[count - 1])) return count;
  // Some of them had been left out before, as the first of the last lines: what had been read ends with the last one.
  const found = same.findIndex((line, index) => index >= count && isLast(line));
  return found === -1 ? count : found + 1;
}

/** Of a log that is read again from `secondBefore(mark)` on: whether a line was not read before, asked in order. */
export function linesAfter(mark: LogMark): { isNew: (line: LogLine) => boolean; hasGap: () => boolean } {
  let known = mark.count;
  let isPast = false;
  const isNew = ({ at }: LogLine): boolean => {
    if (isPast) return true;
    if (at < mark.at) return false;
    if (at === mark.at && known > 0) {
      known -= 1;
      return false;
    }
    isPast = true;
    return true;
  };
  return { isNew, hasGap: () => isPast && known > 0 };
}

const maxChars = 8_192;
const maxMarks = 40;
const form = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{9}Z)\\*(\\d{1,6})\\*([0-9a-f]{${checkChars}})$`,
);

/** The marks of several logs as a text for an address or a header. */
export function marksText(marks: ReadonlyMap<string, LogMark>): string {
  const entries = [...marks].map(([name, { at, count, last }]) => [name, `${at}*${count}*${last}`]);
  return new URLSearchParams(entries).toString();
}

/** What `marksText` wrote; what does not fit is left out. */
export function readMarks(text: string): ReadonlyMap<string, LogMark> {
  if (text.length > maxChars) return new Map();
  const marks = [...new URLSearchParams(text)].slice(0, maxMarks).flatMap(([name, value]): [string, LogMark][] => {
    const [, at = "", count = "", last = ""] = form.exec(value) ?? [];
    return at === "" || parseInstant(at) === null ? [] : [[name, { at, count: Number(count), last }]];
  });
  return new Map(marks);
}
