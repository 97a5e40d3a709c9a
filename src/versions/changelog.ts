import { SaidError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { ParsedTag } from "./classify.ts";
import { findHeading, findSubheading, type SoughtHeading, wantedOf } from "./heading-search.ts";
import { type Heading, headingsOf, type TextFormat } from "./headings.ts";
import { PatternError } from "./pattern.ts";
import { plainVersionOf } from "./placeholders.ts";
import { plainHeading, readVersionHeading } from "./version-heading.ts";

export const extractionModes = ["entire_file", "section", "subheading"] as const;
export type ExtractionMode = (typeof extractionModes)[number];

/** Which part of a changelog belongs to a version. */
export interface SectionRequest extends SoughtHeading {
  mode: ExtractionMode;
  /** The beginning of the subheading, in mode `subheading`. */
  subheading: string;
}

/** The changelog lacks the requested part. */
export class ChangelogError extends SaidError {}

/** Larger files are refused: reading them would block all other work. */
export const maxChangelogCharacters = 4_194_304;

export interface Changelog {
  /** The requested part, without blank lines around it. Throws ChangelogError. */
  extract(request: SectionRequest): string;
}

/** Parses a changelog once, to find several versions in it. Linear in its length. Throws ChangelogError when it is too large. */
export function openChangelog(source: string, format: TextFormat = "markdown"): Changelog {
  if (source.length > maxChangelogCharacters) {
    const values = { mib: Math.ceil(source.length / 1_048_576), limit: maxChangelogCharacters / 1_048_576 };
    throw new ChangelogError(say("changelogs.too_large", values));
  }
  const text = (source.startsWith("\uFEFF") ? source.slice(1) : source).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  let known: readonly Heading[] | null = null;
  const headings = () => {
    known ??= headingsOf(text, format);
    return known;
  };
  return {
    extract: (request) => {
      if (request.mode === "entire_file") return filled(text, request);
      const section = findSection({ text, headings: headings() }, request);
      if (section === null) {
        throw new ChangelogError(say("changelogs.no_section", { version: request.version }));
      }
      if (request.mode === "section") return filled(text.slice(section.start, section.end), request);
      const { subheading } = request;
      const begin = findSubheading(headings(), section, subheading);
      if (begin === null) {
        const said = say("changelogs.no_subheading", { version: request.version, subheading });
        throw new ChangelogError(said);
      }
      return filled(text.slice(begin, section.end), request);
    },
  };
}

/** The format of a file, by its name. */
export function formatOfPath(path: string): TextFormat {
  return path.toLowerCase().endsWith(".rst") ? "rst" : "markdown";
}

function filled(part: string, { mode, version }: SectionRequest): string {
  const lines = part.trimEnd();
  let start = 0;
  for (
    let end = lines.indexOf("\n");
    end !== -1 && lines.slice(start, end).trim() === "";
    end = lines.indexOf("\n", start)
  ) {
    start = end + 1;
  }
  const text = lines.slice(start);
  if (text.trim() !== "") return text;
  const said = mode === "entire_file" ? say("changelogs.empty") : say("changelogs.empty_section", { version });
  throw new ChangelogError(said);
}

interface Section {
  /** Positions in the text, without the section's own heading. */
  start: number;
  end: number;
}

interface Contents {
  text: string;
  headings: readonly Heading[];
}

function findSection(contents: Contents, request: SectionRequest): Section | null {
  const { headings } = contents;
  const wanted = wantedOf(request);
  try {
    const position = findHeading(headings, request, (at) => isEntry(contents, at, wanted));
    return headings[position] === undefined ? null : sectionAt(contents, position, wanted);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const version = plainVersionOf(request.version);
    throw new ChangelogError(say("changelogs.template_unusable", { version, cause: error.said }));
  }
}

function sectionAt({ text, headings }: Contents, position: number, wanted: readonly ParsedTag[]): Section {
  const own = headings[position];
  if (own === undefined) return { start: text.length, end: text.length };
  for (let index = position + 1; index < headings.length; index += 1) {
    const heading = headings[index];
    if (heading !== undefined && (heading.level <= own.level || isLaterVersion(heading, own, wanted)))
      return { start: own.content_start, end: heading.start };
  }
  return { start: own.content_start, end: text.length };
}

/**
 * Whether a heading looks like an entry in a table of contents: it links within the file, is empty, or ends a row of such headings. It
 * counts only when no other heading names the version.
 */
function isEntry(contents: Contents, position: number, wanted: readonly ParsedTag[]): boolean {
  const { text, headings } = contents;
  const own = headings[position];
  if (own === undefined) return false;
  if (own.text.includes("](#")) return true;
  const { start, end } = sectionAt(contents, position, wanted);
  if (isBlank(text, start, end)) return true;
  const before = headings[position - 1];
  return (
    before !== undefined &&
    before.level === own.level &&
    isBlank(text, before.content_start, own.start) &&
    readVersionHeading(plainHeading(before.text), before.text) !== null
  );
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!/\s/.test(text[at] ?? "")) return false;
  return true;
}

/**
 * Some files write patches a level deeper than minors (`# 2.0.0` and `## 1.9.9`): a dated or linked heading of another version ends a
 * section too, unless that version is part of it (`1.2.1` in `1.2`).
 */
function isLaterVersion(heading: Heading, own: Heading, wanted: readonly ParsedTag[]): boolean {
  if (heading.level !== own.level + 1) return false;
  const found = readVersionHeading(plainHeading(heading.text), heading.text);
  if (found === null || found.form !== "plain" || !found.is_marked) return false;
  return wanted.every(({ numbers }) => {
    const isPart = numbers.every((digits, index) => found.version.numbers[index] === digits);
    return numbers.length > 0 && found.version.numbers.length > 1 && !isPart;
  });
}
