/** Of a line that is shown; longer ones are cut. */
const maxLineChars = 500;
/** Of a line that is searched for secrets: more than is shown, because they take less room once they are masked. */
export const maxReadChars = 4_096;

const escapeCode = "\u001b";
const bell = "\u0007";
/** Every character without a visible form, except tabs: with it, a text could hide or reorder its parts. */
const formless = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;
/**
 * The lines of a hostile text, which may be binary or contain terminal sequences. Each line separately, so that a text can come in pieces
 * that end with a line.
 */
export function plainLines(text: string): readonly string[] {
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

/** A line as it is searched for secrets. A cut is marked, because a part of one may be before it. */
export function readLine(line: string): string {
  return line.length <= maxReadChars ? line : `${line.slice(0, maxReadChars)}…`;
}

/** A line as it is shown, never cut in the middle of a character. */
export function shownLine(line: string): string {
  if (line.length <= maxLineChars) return line;
  return `${line.slice(0, maxLineChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
