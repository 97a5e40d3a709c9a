/** The markup of headings. `rst` has underlines of any punctuation, and neither fences nor `#`. */
export type TextFormat = "markdown" | "rst";

export interface Heading {
  /** 1 is the highest. */
  level: number;
  /** As written, without marks and surrounding blanks. */
  text: string;
  /** Where the heading begins, and where the text after it begins. */
  start: number;
  content_start: number;
}

/** No heading is longer; the rest is neither shown nor compared. */
const maxHeadingCharacters = 2_000;
const tabWidth = 4;

interface Line {
  text: string;
  indent: number;
  start: number;
  next: number;
}

function* linesOf(text: string): Generator<Line> {
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    let indent = 0;
    let first = start;
    for (; first < end; first += 1) {
      if (text[first] === " ") indent += 1;
      else if (text[first] === "\t") indent += tabWidth - (indent % tabWidth);
      else break;
    }
    yield { text: text.slice(first, end).trimEnd(), indent, start, next: Math.min(end + 1, text.length) };
    start = end + 1;
  }
}

/** How often a text's first character is repeated at its start. */
function runLength(text: string): number {
  let length = 1;
  while (length < text.length && text[length] === text[0]) length += 1;
  return text === "" ? 0 : length;
}

function isRunOf(text: string, characters: string): boolean {
  return text !== "" && characters.includes(text[0] ?? "") && runLength(text) === text.length;
}

/** A line of a list, with the indentation of its content. */
function listContent(line: Line): number | null {
  const { text } = line;
  let end = 0;
  if ("-*+".includes(text[0] ?? " ")) end = 1;
  else {
    while (end < 9 && text[end] !== undefined && "0123456789".includes(text[end] ?? "")) end += 1;
    if (end === 0 || (text[end] !== "." && text[end] !== ")")) return null;
    end += 1;
  }
  if (text.length > end && text[end] !== " " && text[end] !== "\t") return null;
  return line.indent + end + 1;
}

function isThematicBreak(text: string): boolean {
  const marks = text.replaceAll(" ", "").replaceAll("\t", "");
  return marks.length >= 3 && isRunOf(marks, "-*_");
}

/** `## Title ##`: level and title; null for any other line. */
function atxHeading(line: Line): { level: number; text: string } | null {
  if (line.indent > 3 || line.text[0] !== "#") return null;
  const level = runLength(line.text);
  const after = line.text[level];
  if (level > 6 || (after !== undefined && after !== " " && after !== "\t")) return null;
  const text = line.text.slice(level, level + maxHeadingCharacters).trim();
  let end = text.length;
  while (end > 0 && text[end - 1] === "#") end -= 1;
  // Closing marks need a space: `C#` keeps its own.
  const isClosed = end === 0 || text[end - 1] === " " || text[end - 1] === "\t";
  return { level, text: isClosed ? text.slice(0, end).trim() : text };
}

interface Fence {
  character: string;
  length: number;
  indent: number;
}

function openFence(line: Line): Fence | null {
  const character = line.text[0];
  if (character !== "`" && character !== "~") return null;
  const length = runLength(line.text);
  // Backticks after backticks are inline code.
  if (length < 3 || (character === "`" && line.text.includes("`", length))) return null;
  return { character, length, indent: line.indent };
}

function closesFence(line: Line, fence: Fence): boolean {
  return (
    line.indent <= fence.indent + 3 &&
    line.text.length >= fence.length &&
    line.text[0] === fence.character &&
    runLength(line.text) === line.text.length
  );
}

/** A fence deeper than three blanks belongs to a list, or is no fence: it ends with the lines of its depth. */
function leavesFence(line: Line, fence: Fence): boolean {
  return fence.indent > 3 && line.text !== "" && line.indent < fence.indent - 3;
}

const htmlBlocks: readonly (readonly [start: string, end: string])[] = [
  ["<!--", "-->"],
  ["<pre", "</pre>"],
  ["<script", "</script>"],
  ["<style", "</style>"],
];

/** The end of an HTML block that a line begins and does not end itself. */
function openHtml(line: Line): string | null {
  if (line.indent > 3 || line.text[0] !== "<") return null;
  const begin = line.text.slice(0, 8).toLowerCase();
  const block = htmlBlocks.find(([start]) => begin.startsWith(start));
  if (block === undefined || line.text.toLowerCase().includes(block[1], block[0].length)) return null;
  return block[1];
}

interface Paragraph {
  start: number;
  text: string;
}

/** Top-level Markdown headings, ATX and setext, in order. Linear in the length of the text. */
function* markdownHeadings(text: string): Generator<Heading> {
  let fence: Fence | null = null;
  let htmlEnd: string | null = null;
  let paragraph: Paragraph | null = null;
  /** In a list or quote, whose lines form no setext heading with a line outside. */
  let nested = 0;
  let isAfterBlank = true;
  for (const line of linesOf(text)) {
    if (htmlEnd !== null) {
      if (line.text.toLowerCase().includes(htmlEnd)) htmlEnd = null;
      continue;
    }
    if (fence !== null) {
      if (closesFence(line, fence)) {
        fence = null;
        continue;
      }
      if (!leavesFence(line, fence)) continue;
      fence = null;
    }
    if (line.text === "") {
      paragraph = null;
      isAfterBlank = true;
      continue;
    }
    if (paragraph !== null && line.indent <= 3 && isRunOf(line.text, "=-")) {
      const title = paragraph.text.trim();
      const level = line.text[0] === "=" ? 1 : 2;
      if (title !== "") yield { level, text: title, start: paragraph.start, content_start: line.next };
      paragraph = null;
      continue;
    }
    fence = openFence(line);
    htmlEnd = fence === null ? openHtml(line) : null;
    const heading = fence === null ? atxHeading(line) : null;
    const content = listContent(line);
    const isNested = content !== null || line.text[0] === ">";
    if (isNested) nested = Math.max(content ?? 2, 2);
    else if (isAfterBlank && line.indent < nested) nested = 0;
    isAfterBlank = false;
    if (heading !== null) {
      nested = 0;
      yield { ...heading, start: line.start, content_start: line.next };
    }
    const isParagraph = fence === null && htmlEnd === null && heading === null && nested === 0;
    if (!isParagraph || isThematicBreak(line.text)) paragraph = null;
    else if (paragraph === null) paragraph = line.indent > 3 ? null : begun(line);
    else if (paragraph.text.length < maxHeadingCharacters) paragraph.text += withoutRules(line);
  }
}

function begun(line: Line): Paragraph {
  return { start: line.start, text: withoutRules(line) };
}

/** A line of a paragraph, without lines of only marks (overlines). */
function withoutRules(line: Line): string {
  return isRunOf(line.text, "=~^*#+-") && line.text.length > 2 ? "" : ` ${line.text.slice(0, maxHeadingCharacters)}`;
}

const rstMarks = "=-~^\"'`*+#<>:._";

/**
 * The headings of reStructuredText: an underline makes one, with or without an overline; each kind of line is a level, in order of first
 * use.
 */
function* rstHeadings(text: string): Generator<Heading> {
  const levels: string[] = [];
  let before: Line | null = null;
  let overline: Line | null = null;
  for (const line of linesOf(text)) {
    const isMark = line.indent === 0 && line.text.length > 2 && isRunOf(line.text, rstMarks);
    if (isMark && before !== null) {
      const isOverlined = overline?.text[0] === line.text[0];
      const kind = `${line.text[0]}${isOverlined}`;
      if (!levels.includes(kind)) levels.push(kind);
      const start = isOverlined && overline !== null ? overline.start : before.start;
      const title = before.text.slice(0, maxHeadingCharacters);
      yield { level: levels.indexOf(kind) + 1, text: title, start, content_start: line.next };
      before = null;
      overline = null;
    } else if (isMark) {
      overline = line;
    } else {
      if (line.text === "" || before !== null) overline = null;
      before = line.text === "" || (line.indent > 0 && overline === null) ? null : line;
    }
  }
}

/** The headings of a text with LF line ends. */
export function headingsOf(text: string, format: TextFormat): Heading[] {
  return [...(format === "rst" ? rstHeadings(text) : markdownHeadings(text))];
}
