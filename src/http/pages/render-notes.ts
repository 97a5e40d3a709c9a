import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

/** More than is stored of any release. */
const maxBytes = 262_144;
/** Rendered notes kept, least recently used dropped first. */
const maxCached = 100;
const maxCachedCharacters = 4_194_304;
/** Deeper quotes, lists and elements are flattened: parsers recurse. */
const maxNesting = 32;
/** The parser's time is quadratic in the length of a paragraph, so longer ones are split. */
const maxParagraphCharacters = 4_096;
/** Parsed at once; others get their turn between two parts. */
const maxPartCharacters = 6_144;
/** Link definitions (`[1.2.3]: https://…`) shared by every part. */
const maxDefinitionCharacters = 4_096;
/** Of one text; what is not rendered by then is shown as written. */
const maxRenderMs = 1_000;

const allowedTags = (
  "h1 h2 h3 h4 h5 h6 p a ul ol li blockquote code pre em strong del hr br table thead tbody tfoot tr th td kbd sup sub " +
  "details summary"
).split(" ");

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Escapes text that may already have entities. */
function attribute(text: string): string {
  return text.replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function plain(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

/** Loaded with the first notes: the libraries are large, and a server without notes needs none. */
async function loadRenderer(): Promise<(markdown: string) => string> {
  const [{ Marked }, { default: sanitizeHtml }] = await Promise.all([import("marked"), import("sanitize-html")]);
  const marked = new Marked({
    async: false,
    gfm: true,
    renderer: {
      // No images: they would reveal the reader to their host.
      image: ({ text }) => escapeHtml(text),
      link({ href, title, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (!/^https?:\/\//.test(href)) return text;
        return `<a href="${attribute(href)}"${title ? ` title="${attribute(title)}"` : ""}>${text}</a>`;
      },
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    },
  });
  /** Headings of notes are below those of the page. */
  const lowered = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, sanitizeHtml.simpleTransform(`h${Math.min(level + 3, 6)}`, {})]),
  );
  const options: Parameters<typeof sanitizeHtml>[1] = {
    allowedTags,
    allowedAttributes: { a: ["href", "title", "rel"], th: ["align"], td: ["align"], ol: ["start"] },
    allowedSchemes: ["http", "https"],
    allowProtocolRelative: false,
    disallowedTagsMode: "discard",
    nestingLimit: maxNesting,
    transformTags: {
      ...lowered,
      a: (_, { href, title }) => {
        // A relative link has no valid target here: its text stays, without a link.
        if (href === undefined || !/^https?:\/\//.test(href)) return { tagName: "a", attribs: {} };
        const attribs = { href, rel: "noopener noreferrer nofollow" };
        return { tagName: "a", attribs: title === undefined ? attribs : { ...attribs, title } };
      },
    },
  };
  return (markdown) => sanitizeHtml(marked.parse(markdown, { async: false }), options);
}

let renderer: Promise<(markdown: string) => string> | null = null;

interface Line {
  text: string;
  /** Fenced code, which is not parsed any further. */
  is_code: boolean;
}

/** The lines, each with at most `maxNesting` marks of quotes and lists and at most a paragraph long. */
function boundedLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let fence: string | null = null;
  for (const line of text.replaceAll(/\r\n?/g, "\n").split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence !== null) {
      lines.push({ text: line, is_code: true });
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      continue;
    }
    if (mark !== null && !(mark.startsWith("`") && line.includes("`", line.indexOf(mark) + mark.length))) {
      fence = mark;
      lines.push({ text: line, is_code: true });
      continue;
    }
    const flat = flattened(line);
    for (let start = 0; start === 0 || start < flat.length; start += maxParagraphCharacters) {
      if (start > 0) lines.push({ text: "", is_code: false });
      lines.push({ text: flat.slice(start, start + maxParagraphCharacters), is_code: false });
    }
  }
  return lines;
}

function flattened(line: string): string {
  let marks = 0;
  let blanks = 0;
  let at = 0;
  for (; at < line.length && " \t>-*+".includes(line[at] ?? ""); at += 1) {
    if (line[at] === " " || line[at] === "\t") blanks += 1;
    else marks += 1;
  }
  const isRule = at === line.length;
  if (isRule) return line.slice(0, maxNesting);
  return marks > maxNesting || blanks > maxNesting * 4 ? line.slice(at) : line;
}

/** Whether a line begins a new block and ends the paragraph before it. */
function beginsBlock({ text, is_code }: Line): boolean {
  return is_code || text.trim() === "" || /^\s*(?:[-*+#>|]|\d{1,9}[.)])/.test(text);
}

/** Splits the text between paragraphs into parts that are parsed separately. */
function partsOf(text: string): readonly string[] {
  const lines = boundedLines(text);
  const definitions: string[] = [];
  let defined = 0;
  for (const line of lines) {
    const isDefinition = !line.is_code && /^ {0,3}\[[^\]]+\]:\s*https?:\/\//.test(line.text);
    if (!isDefinition || defined + line.text.length > maxDefinitionCharacters) continue;
    definitions.push(line.text);
    defined += line.text.length;
  }
  const parts: string[] = [];
  let part: string[] = [];
  let length = 0;
  let paragraph = 0;
  for (const line of lines) {
    paragraph = beginsBlock(line) ? line.text.length : paragraph + line.text.length;
    if (paragraph > maxParagraphCharacters && !line.is_code) {
      part.push("");
      paragraph = line.text.length;
    }
    part.push(line.text);
    length += line.text.length + 1;
    const isGap = line.text.trim() === "" && !line.is_code;
    if (length > maxPartCharacters * 2 || (length > maxPartCharacters && isGap)) {
      parts.push(part.join("\n"));
      part = [];
      length = 0;
      paragraph = 0;
    }
  }
  parts.push(part.join("\n"));
  const [first = "", ...others] = parts;
  // A single part has its own definitions.
  return others.length === 0 ? [first] : parts.map((each) => `${each}\n\n${definitions.join("\n")}`);
}

async function render(text: string): Promise<string> {
  renderer ??= loadRenderer();
  const toHtml = await renderer;
  const parts = partsOf(text);
  let html = "";
  let spent = 0;
  for (const part of parts) {
    await nextTurn();
    const startedAt = performance.now();
    html += spent > maxRenderMs ? plain(part) : rendered(toHtml, part);
    spent += performance.now() - startedAt;
  }
  return html;
}

/** A text that the parser rejects is shown as written. */
function rendered(toHtml: (markdown: string) => string, part: string): string {
  try {
    return toHtml(part);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return plain(part);
  }
}

const cache = new Map<string, string>();
let cachedCharacters = 0;

function remember(key: string, html: string): void {
  cache.set(key, html);
  cachedCharacters += html.length;
  for (const [oldest, stored] of cache) {
    if (cache.size <= maxCached && cachedCharacters <= maxCachedCharacters) return;
    cache.delete(oldest);
    cachedCharacters -= stored.length;
  }
}

/**
 * Release notes as safe HTML: Markdown reduced to an allow list of elements and to http and https links. Belongs in an element with
 * `hx-ignore`. Never throws because of the text; what cannot be parsed is shown as written.
 */
export async function renderNotes(notes: string): Promise<string> {
  const bytes = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(notes, bytes);
  const text = notes.slice(0, read);
  const key = createHash("sha256").update(text).digest("base64url");
  const cached = cache.get(key);
  if (cached !== undefined) {
    cache.delete(key);
    cache.set(key, cached);
    return cached;
  }
  const html = await render(text);
  if (!cache.has(key)) remember(key, html);
  return html;
}

/** The number of cached rendered notes. */
export function cachedNotesCount(): number {
  return cache.size;
}
