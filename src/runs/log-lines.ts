import { lastLogLines, maxLogBytes } from "../runtimes/logs.ts";
import { maxReadChars, plainLines, shownLine } from "../shown-lines.ts";

/** Of all lines together; the earliest ones are left out. */
const maxChars = 8_000;

/** The rest of a private key whose first line is not among the last ones. */
const keyRest = /^(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;

/**
 * The last lines of what a container wrote, as plain text within fixed bounds. The text is hostile: it may have any length, be binary,
 * steer a terminal or carry secrets, which `mask` removes from whole lines before any is cut.
 */
export function lastLinesOf(text: string, mask: (text: string) => string): readonly string[] {
  const read = shownLines(plainLines(text.slice(-maxLogBytes))).map((line) => line.slice(0, maxReadChars));
  const masked = mask(read.join("\n")).replace(keyRest, "[redacted]");
  const shown: string[] = [];
  let chars = 0;
  for (const line of shownLines(masked.split("\n")).toReversed()) {
    const cut = shownLine(line);
    chars += cut.length;
    if (chars > maxChars) break;
    shown.unshift(cut);
  }
  return shown;
}

/** The last ones, without blank lines at the beginning and the end. */
function shownLines(lines: readonly string[]): readonly string[] {
  const isWritten = (line: string) => line !== "";
  const last = lines.slice(0, lines.findLastIndex(isWritten) + 1).slice(-lastLogLines);
  const first = last.findIndex(isWritten);
  return first === -1 ? [] : last.slice(first);
}
