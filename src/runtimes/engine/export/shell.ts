import type { Word } from "./conceal.ts";

/** One word of a shell command that says exactly this: nothing in it is expanded, but the variables that are meant. */
export function quoted(word: Word): string {
  const parts = word.filter((part) => part !== "");
  if (parts.length === 0) return "''";
  return joined(parts)
    .map((part) => (typeof part === "string" ? literal(part) : `"\${${part.variable}}"`))
    .join("");
}

/** Neighbouring texts as one. */
function joined(word: Word): Word {
  const parts: (string | { variable: string })[] = [];
  for (const part of word) {
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  return parts;
}

function literal(text: string): string {
  // A shell cannot hold a zero byte in a word, and neither can a setting of a container.
  const clean = text.replaceAll("\0", "");
  if (/^[A-Za-z0-9_./:=,+-]+$/.test(clean)) return clean;
  return `'${clean.replaceAll("'", "'\\''")}'`;
}

/** A comment: whatever the text is, it ends with its line. */
export function comment(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trimEnd();
  return line === "" ? "#" : `# ${line}`;
}

/** A text on the standard input of a command, which may have others after it; the end mark is no line of the text. */
export function heredoc(command: string, text: string, after = ""): readonly string[] {
  const lines = text.split("\n");
  let mark = "TIDEMARK";
  while (lines.includes(mark)) mark += "_";
  return [`${command} <<'${mark}'${after}`, ...lines, mark];
}
