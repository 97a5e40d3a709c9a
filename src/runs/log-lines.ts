import { lastLogLines, maxLogBytes } from "../runtimes/logs.ts";
import { plainLines, readLine, shownLine } from "../shown-lines.ts";

/** Of all lines together; the earliest ones are left out. */
const maxChars = 8_000;

/** The rest of a private key whose first line precedes the last lines. */
const keyRest = /^(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;

/**
 * The last lines of a container's output, as plain text within fixed bounds. The output is hostile: it may be of any length or binary, and
 * contain terminal sequences or secrets. `mask` removes secrets from whole lines before any line is cut.
 */
export function lastLinesOf(text: string, mask: (text: string) => string): readonly string[] {
  const read = shownLines(plainLines(text.slice(-maxLogBytes))).map(readLine);
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

/** The last lines, without blank ones at the beginning and the end. */
function shownLines(lines: readonly string[]): readonly string[] {
  const isWritten = (line: string) => line !== "";
  const last = lines.slice(0, lines.findLastIndex(isWritten) + 1).slice(-lastLogLines);
  const first = last.findIndex(isWritten);
  return first === -1 ? [] : last.slice(first);
}
