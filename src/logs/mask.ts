import { givingWay } from "../give-way.ts";
import type { LogLine } from "../runtimes/logs.ts";
import { targetRedactor } from "../secrets/redaction.ts";
import { plainLines, readLine, shownLine } from "../shown-lines.ts";
import type { LogLineView } from "./schema.ts";

/** Lines and characters that are masked in one go: with thousands of secrets, each takes long. */
const linesAtOnce = 25;
const charsAtOnce = 16_384;
/** The longest private keys have half as many lines. */
const maxKeyLines = 300;

const placeholder = "[redacted]";
const keyBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
const keyEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
/** A line from the middle of a key, perhaps after what a logger writes before it. */
const keyBody = /(?:^|[\s|:>])[A-Za-z0-9+/]{40,}={0,2}$/;

/** Shows the lines of one log, one take after the other. `hasGap`: lines before these were left out. */
export type LogMasker = (lines: readonly LogLine[], hasGap: boolean) => Promise<readonly LogLineView[]>;

/** Removes the secrets of one target from the lines of its logs. `redact` knows those of the product. */
export function logMask(redact: (text: string) => string) {
  const own = targetRedactor();
  const masked = (text: string) => redact(own.redact(text));
  return {
    learn: own.learn,
    masker: (): LogMasker => {
      const hideKeys = keyHider();
      return async (lines, hasGap) => {
        const giveWay = givingWay();
        const plain = plainLines(lines.map(({ text }) => text).join("\n"));
        const read = lines.map(({ at }, index) => ({ at, text: readLine(plain[index] ?? "") }));
        const shown: LogLineView[] = [];
        for (const slice of slicesOf(hideKeys(read, hasGap))) {
          await giveWay();
          for (const { at, text } of maskSlice(slice, masked)) {
            shown.push({ at: at === "" ? null : at, text: shownLine(text) });
          }
        }
        return shown;
      };
    },
  };
}

function* slicesOf(lines: readonly LogLine[]): Generator<readonly LogLine[]> {
  let slice: LogLine[] = [];
  let chars = 0;
  for (const line of lines) {
    if (slice.length === linesAtOnce || (slice.length > 0 && chars + line.text.length > charsAtOnce)) {
      yield slice;
      slice = [];
      chars = 0;
    }
    slice.push(line);
    chars += line.text.length;
  }
  if (slice.length > 0) yield slice;
}

/** A secret that spans lines is masked as one text; what is left of them then has the time of the first line. */
function maskSlice(slice: readonly LogLine[], masked: (text: string) => string): readonly LogLine[] {
  const texts = masked(slice.map(({ text }) => text).join("\n")).split("\n");
  const isSame = texts.length === slice.length;
  return texts.map((text, index) => ({ at: slice[isSame ? index : 0]?.at ?? "", text }));
}

/**
 * Hides private keys that are written over several lines. Where lines are missing, a key may have begun before: what ends one, or looks like
 * the middle of one, is hidden, too.
 */
function keyHider(): (lines: readonly LogLine[], hasGap: boolean) => readonly LogLine[] {
  /** Lines that are still hidden at most; 0 outside of a key. */
  let hidden = 0;
  let isUnsure = true;
  return (lines, hasGap) => {
    if (hasGap) {
      hidden = 0;
      isUnsure = true;
    }
    const shown: LogLine[] = [];
    let first = 0;
    if (isUnsure) {
      const end = endWithoutBegin(lines);
      const body = lines.findIndex(({ text }) => !keyBody.test(text));
      first = end === -1 ? (body === -1 ? lines.length : body) : end + 1;
      const begin = end === -1 ? 0 : Math.max(0, end - maxKeyLines);
      for (const line of lines.slice(0, begin)) shown.push(line);
      const [hiddenLine] = lines.slice(begin, first);
      if (hiddenLine !== undefined) shown.push({ at: hiddenLine.at, text: placeholder });
      isUnsure = lines.length === 0 || (end === -1 && body === -1);
    }
    for (const line of lines.slice(first)) {
      if (hidden > 0) {
        const end = keyEnd.exec(line.text);
        const rest = end === null ? "" : line.text.slice(end.index + end[0].length);
        hidden = end === null ? hidden - 1 : 0;
        if (rest.trim() !== "") shown.push({ ...line, text: rest });
        continue;
      }
      const begin = keyBegin.exec(line.text);
      // A key in a single line is masked like any secret.
      if (begin === null || keyEnd.test(line.text.slice(begin.index))) {
        shown.push(line);
        continue;
      }
      hidden = maxKeyLines;
      shown.push({ ...line, text: line.text.slice(0, begin.index) + placeholder });
    }
    return shown;
  };
}

/** The first line with the end of a key whose beginning is not among these lines; -1 if there is none. */
function endWithoutBegin(lines: readonly LogLine[]): number {
  for (const [index, { text }] of lines.entries()) {
    const end = text.search(keyEnd);
    const begin = text.search(keyBegin);
    if (begin !== -1 && (end === -1 || begin < end)) return -1;
    if (end !== -1) return index;
  }
  return -1;
}
