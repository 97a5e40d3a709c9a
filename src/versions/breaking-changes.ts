import { plainHeading } from "./version-heading.ts";

/** A line of release notes that announces required action or lost functionality. */
export interface BreakingChange {
  /** Counted from 1. */
  line: number;
  /** As shown to people, at most 300 characters. */
  text: string;
}

const maxFound = 50;
const maxLineCharacters = 2_000;
const maxShownCharacters = 300;

const phrases = [
  "breaking",
  "action required",
  "action needed",
  "migration required",
  "manual migration",
  "requires migration",
  "requires a migration",
  "manual intervention",
  "incompatible change",
  "backwards incompatible",
  "backward incompatible",
  "backwards-incompatible",
  "backward-incompatible",
  "不兼容",
  "破坏性",
  "需要手动",
  "需要迁移",
];
/** Phrases for "none", or for something else that breaks. */
const denials = [
  "no breaking",
  "no known breaking",
  "not breaking",
  "non-breaking",
  "non breaking",
  "nonbreaking",
  "without breaking",
  "avoid breaking",
  "avoids breaking",
  "stop breaking",
  "from breaking",
  "was breaking",
  "were breaking",
  "line breaking",
  "line-breaking",
  "word breaking",
  "word-breaking",
  "page breaking",
  "record-breaking",
  "ground-breaking",
  "groundbreaking",
  "no action required",
  "no action needed",
  "no migration required",
  "no manual migration",
  "no manual intervention",
  "无不兼容",
  "没有不兼容",
  "无破坏性",
  "没有破坏性",
];
const nothing: ReadonlySet<string> = new Set(["none", "n/a", "na", "nothing", "no", "-", "无", "没有", "暂无"]);

/** `feat(api)!: text`, anywhere in the line. */
function hasMarkedCommit(line: string): boolean {
  for (let at = line.indexOf("!:"); at !== -1; at = line.indexOf("!:", at + 2)) {
    let start = at;
    if (line[start - 1] === ")") start = line.lastIndexOf("(", start);
    const before = line[start - 1];
    if (start > 0 && before !== undefined && before >= "a" && before <= "z") return true;
  }
  return false;
}

function withoutDenials(line: string): string {
  return denials.reduce((rest, denial) => rest.replaceAll(denial, " "), line);
}

function isBreaking(line: string): boolean {
  if (hasMarkedCommit(line)) return true;
  const lower = line.toLowerCase();
  if (!phrases.some((phrase) => lower.includes(phrase))) return false;
  const rest = withoutDenials(lower);
  return phrases.some((phrase) => rest.includes(phrase));
}

function isHeading(line: string): boolean {
  const marks = line.trimStart();
  return marks.startsWith("#") || (marks.startsWith("**") && marks.trimEnd().replace(/:$/, "").endsWith("**"));
}

/** The text of a top-level list entry; null for any other line. */
function entryOf(line: string): string | null {
  const text = line.trimStart();
  const isEntry = ["- ", "* ", "+ "].some((mark) => text.startsWith(mark)) && line.length - text.length < 2;
  return isEntry ? text.slice(2) : null;
}

function shown(line: string): string {
  let start = 0;
  while (start < line.length && " \t#>-*+".includes(line[start] ?? "")) start += 1;
  return plainHeading(line.slice(start)).slice(0, maxShownCharacters);
}

/**
 * The breaking changes in notes, in order and at most 50: lines that say so, commits marked with `!`, and the entries under a heading that
 * says so. Ignores fenced code. Linear in the length of the text.
 */
export function findBreakingChanges(notes: string): readonly BreakingChange[] {
  const found: BreakingChange[] = [];
  let isCode = false;
  /** The heading whose entries follow, until its first. */
  let heading: BreakingChange | null = null;
  let isUnder = false;
  const flush = () => {
    if (heading !== null) found.push(heading);
    heading = null;
  };
  for (const [index, whole] of notes.split("\n").entries()) {
    if (found.length >= maxFound) break;
    const line = whole.slice(0, maxLineCharacters).trimEnd();
    const start = line.trimStart().slice(0, 3);
    if (start === "```" || start === "~~~") isCode = !isCode;
    if (isCode || line.trim() === "") continue;
    const change = { line: index + 1, text: shown(line) };
    if (isHeading(line)) {
      flush();
      isUnder = isBreaking(line);
      if (isUnder) heading = change;
      continue;
    }
    const entry = entryOf(line);
    if (heading !== null && nothing.has(change.text.toLowerCase().replace(/[.。!]$/, ""))) {
      heading = null;
      isUnder = false;
    } else if (isUnder && entry !== null) {
      heading = null;
      found.push(change);
    } else if (isBreaking(line)) {
      flush();
      found.push(change);
    }
  }
  flush();
  return found.slice(0, maxFound);
}
