import { lastLogLines, maxLogBytes } from "../runtimes/runtime.ts";

/** Of a line that is shown; longer ones are cut. */
const maxLineChars = 500;
/** Of a line that is searched for secrets: enough that one which begins in the shown part is complete. */
const maxReadChars = 4_096;
/** Of all lines together; the earliest ones are left out. */
const maxChars = 8_000;

const escapeCode = "\u001b";
const bell = "\u0007";
/** Everything without a form of its own, but not tabs: with it, a text could hide or reorder its parts. */
const formless = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;
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
    const cut = cutOf(line);
    chars += cut.length;
    if (chars > maxChars) break;
    shown.unshift(cut);
  }
  return shown;
}

function plainLines(text: string): readonly string[] {
  const [start = "", ...rest] = text.replaceAll("\u009b", `${escapeCode}[`).split(escapeCode);
  const plain = start + rest.map(afterSequence).join("");
  return plain.split("\n").map((line) => {
    const written = line.trimEnd();
    // A progress bar returns to the start of its line to write it again.
    const last = written.slice(written.lastIndexOf("\r") + 1);
    return last
      .replace(formless, "")
      .replace(/\ufffd{2,}/g, "\ufffd")
      .trimEnd();
  });
}

/** What follows an escape sequence of a terminal, without its first character. */
function afterSequence(text: string): string {
  if (text.startsWith("[")) return text.replace(/^\[[0-?]*[ -/]*[@-~]?/, "");
  if (!/^[\]PX^_]/.test(text)) return text.replace(/^[ -/]*[0-~]?/, "");
  // A title or another string: up to its end, or to the end of its line. The next sequence ends it, too.
  const end = text.indexOf(bell);
  const line = text.indexOf("\n");
  if (end !== -1 && (line === -1 || end < line)) return text.slice(end + 1);
  return line === -1 ? "" : text.slice(line);
}

/** The last ones, without blank lines at the beginning and the end. */
function shownLines(lines: readonly string[]): readonly string[] {
  const isWritten = (line: string) => line !== "";
  const last = lines.slice(0, lines.findLastIndex(isWritten) + 1).slice(-lastLogLines);
  const first = last.findIndex(isWritten);
  return first === -1 ? [] : last.slice(first);
}

/** Never in the middle of a character. */
function cutOf(line: string): string {
  if (line.length <= maxLineChars) return line;
  return `${line.slice(0, maxLineChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
