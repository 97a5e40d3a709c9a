import type { Word } from "./conceal.ts";

/** Quotes one word of a shell command. Only the variables of `word` are expanded. */
export function quoted(word: Word): string {
  const parts = word.filter((part) => part !== "");
  if (parts.length === 0) return "''";
  return joined(parts)
    .map((part) => (typeof part === "string" ? literal(part) : `"\${${part.variable}}"`))
    .join("");
}

/** Joins adjacent texts. */
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
  // Neither a shell's word nor a container's setting can contain a zero byte.
  const clean = text.replaceAll("\0", "");
  if (/^[A-Za-z0-9_./:=,+-]+$/.test(clean)) return clean;
  return `'${clean.replaceAll("'", "'\\''")}'`;
}

/** A comment of one line, whatever the text contains. */
export function comment(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trimEnd();
  return line === "" ? "#" : `# ${line}`;
}

/** Passes a text to a command's standard input. `after` continues the command's line; no line of the text equals the end mark. */
export function heredoc(command: string, text: string, after = ""): readonly string[] {
  const lines = text.split("\n");
  let mark = "TIDEMARK";
  while (lines.includes(mark)) mark += "_";
  return [`${command} <<'${mark}'${after}`, ...lines, mark];
}
