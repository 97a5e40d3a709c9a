import { plainHeading } from "./version-heading.ts";

/** A line of release notes that people should not miss. */
export interface MarkedLine {
  /** Counted from 1. */
  line: number;
  /** As shown to people, at most 256 characters. */
  text: string;
}

/** What a search looks for: lines that are meant, and headings whose entries are. */
export interface Marks {
  isMeant(line: string): boolean;
  isMeantHeading(line: string): boolean;
}

const maxFound = 50;
const maxLineCharacters = 2_000;
/** Of a line in bold, which many notes use as a heading: below all others. */
const boldLevel = 7;

/** A deeper entry does not count. */
const maxIndent = 40;
/** A longer entry is a separate change, not the title of those below it. */
const maxTitleCharacters = 60;

const nothing: ReadonlySet<string> = new Set(["none", "n/a", "na", "nothing", "no", "-", "无", "没有", "暂无"]);

/** 1 for the highest heading; null for any other line. */
function headingLevel(line: string): number | null {
  const text = line.trim();
  if (text.startsWith("#")) return /^#*/.exec(text)?.[0].length ?? null;
  return text.startsWith("**") && text.replace(/:$/, "").endsWith("**") ? boldLevel : null;
}

/** How far a list entry is indented; null for any other line. */
function entryIndent(line: string): number | null {
  const indent = line.length - line.trimStart().length;
  return indent <= maxIndent && /^\s*(?:[-*+]|\d{1,3}[.)])\s/.test(line) ? indent : null;
}

function shown(line: string): string {
  const start = /^(?:[\s#>+*-]*)(?:\d{1,3}[.)]\s+)?/.exec(line)?.[0].length ?? 0;
  return plainHeading(line.slice(start))
    .replaceAll(/([([]) /g, "$1")
    .replaceAll(" )", ")");
}

/** Whether an entry of the list has others below it and is short enough to be their title. */
function isTitle(lines: readonly string[], index: number, indent: number): boolean {
  const line = lines[index] ?? "";
  if (line.length - indent > maxTitleCharacters) return false;
  const next = lines.slice(index + 1, index + 3).find((each) => each.trim() !== "");
  return next !== undefined && (entryIndent(next) ?? 0) > indent;
}

/** A heading, or an entry with others below it, whose content is collected. */
interface Collector {
  title: MarkedLine;
  /** The heading's level; null for an entry. */
  level: number | null;
  /** The entry's indentation; -1 for a heading. */
  indent: number;
  /** The indentation of the entries that are collected, once there is one. */
  entries: number | null;
  is_empty: boolean;
}

/**
 * The marked lines of notes, in order and at most 50: single lines that are meant, and what follows a heading that is meant. Under such a
 * heading these are its entries and the headings below it; without any, its first sentence; without that, the heading itself. An entry with
 * others below it counts as their heading. Ignores fenced code. Linear in the length of the text.
 */
export function findMarkedLines(notes: string, { isMeant, isMeantHeading }: Marks): readonly MarkedLine[] {
  const lines = notes.split("\n");
  const found: MarkedLine[] = [];
  /** The outermost first. */
  const open: Collector[] = [];
  let isCode = false;
  const fill = () => {
    for (const collector of open) collector.is_empty = false;
  };
  const add = (line: MarkedLine) => {
    fill();
    found.push(line);
  };
  const closeWhile = (isOver: (collector: Collector) => boolean) => {
    for (let last = open.at(-1); last !== undefined && isOver(last); last = open.at(-1)) {
      open.pop();
      if (last.is_empty) add(last.title);
    }
  };
  for (const [index, whole] of lines.entries()) {
    if (found.length >= maxFound) break;
    const line = whole.slice(0, maxLineCharacters).trimEnd();
    const start = line.trimStart().slice(0, 3);
    if (start === "```" || start === "~~~") isCode = !isCode;
    if (isCode || line.trim() === "") continue;
    const level = headingLevel(line);
    const indent = level === null ? entryIndent(line) : null;
    if (level !== null) closeWhile((each) => each.level === null || each.level >= level);
    else if (indent !== null) closeWhile((each) => each.level === null && each.indent >= indent);
    const collector = open.at(-1) ?? null;
    const isCollector =
      level === null
        ? indent !== null && isTitle(lines, index, indent) && isMeantHeading(line)
        : collector !== null || isMeantHeading(line);
    if (isCollector) {
      const title = { line: index + 1, text: shown(line) };
      // What is below says more than the headings above it.
      fill();
      open.push({ title, level, indent: indent ?? -1, entries: null, is_empty: title.text !== "" });
      continue;
    }
    if (level !== null) continue;
    if (collector !== null && indent !== null) collector.entries ??= indent;
    const isEntry = collector !== null && indent !== null && indent <= (collector.entries ?? indent);
    if (!isEntry && collector?.is_empty !== true && !isMeant(line)) continue;
    const change = { line: index + 1, text: shown(line) };
    if (collector?.is_empty === true && nothing.has(change.text.toLowerCase().replace(/[.。!]$/, ""))) open.pop();
    // Neither a rule or comment, nor the introduction of what follows.
    else if (change.text !== "" && (isEntry || !/[:：]$/.test(line) || collector?.is_empty !== true)) add(change);
  }
  closeWhile(() => true);
  return found.slice(0, maxFound);
}
