import { classify, type ParsedTag } from "./classify.ts";
import { type Heading, headingsOf, type TextFormat } from "./headings.ts";
import { find, MAX_TEXT_CHARACTERS, PatternError, parsePattern } from "./pattern.ts";
import { headingPattern, plainVersionOf } from "./placeholders.ts";
import { plainHeading, readVersionHeading, type VersionHeading } from "./version-heading.ts";

export const extractionModes = ["entire_file", "section", "subheading"] as const;
export type ExtractionMode = (typeof extractionModes)[number];

/** Which part of a changelog is about a version. */
export interface SectionRequest {
  tag: string;
  version: string;
  mode: ExtractionMode;
  /** A pattern with `{tag}` or `{version}` that the heading's line must meet; blank finds the common forms. */
  heading_template: string;
  /** What the subheading begins with, in mode `subheading`. */
  subheading: string;
}

export type ChangelogErrorCode = "no_section" | "empty_section" | "no_subheading" | "too_large" | "bad_template";

/** A changelog without what was asked of it; the message is for people. */
export class ChangelogError extends Error {
  readonly code: ChangelogErrorCode;

  constructor(code: ChangelogErrorCode, message: string) {
    super(message);
    this.name = "ChangelogError";
    this.code = code;
  }
}

/** Larger files are refused: they would hold up everybody else while they are read. */
export const maxChangelogCharacters = 4_194_304;
/** Headings that name the version and are no section of it; more of them are looked at by nobody but an attacker. */
const maxCandidates = 500;
/** As before, where a pattern is tried on each. */
const maxPatternCandidates = 64;
/** Headings read to see how a file writes its versions. */
const maxSamples = 500;

export interface Changelog {
  /** The part that the request names, without blank lines around it. Throws ChangelogError. */
  extract(request: SectionRequest): string;
}

/** Reads a changelog once, so that several versions can be found in it. Linear to its length. Throws ChangelogError when it is too large. */
export function openChangelog(source: string, format: TextFormat = "markdown"): Changelog {
  if (source.length > maxChangelogCharacters) {
    const size = `${Math.ceil(source.length / 1_048_576)} MiB`;
    throw new ChangelogError("too_large", `The changelog has ${size}, at most 4 MiB are read`);
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
      const section = findSection(headings(), text.length, request);
      if (section === null) {
        throw new ChangelogError("no_section", `The changelog has no section for ${request.version}`);
      }
      if (request.mode === "section") return filled(text.slice(section.start, section.end), request);
      const { subheading } = request;
      const begin = findSubheading(headings(), section, subheading);
      if (begin === null) {
        const message = `The section for ${request.version} in the changelog has no subheading "${subheading}"`;
        throw new ChangelogError("no_subheading", message);
      }
      return filled(text.slice(begin, section.end), request);
    },
  };
}

/** What a file is written in, by its name. */
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
  const what = mode === "entire_file" ? "changelog" : `section for ${version} in the changelog`;
  throw new ChangelogError("empty_section", `The ${what} is empty`);
}

interface Section {
  /** Positions in the text, without the section's own heading. */
  start: number;
  end: number;
}

function findSection(headings: readonly Heading[], length: number, request: SectionRequest): Section | null {
  const position =
    request.heading_template.trim() === "" ? findByForm(headings, request) : findByTemplate(headings, request);
  const own = headings[position];
  if (own === undefined) return null;
  const wanted = wantedOf(request);
  const isOther = (heading: Heading) => heading.level <= own.level || isLaterVersion(heading, own, wanted);
  const next = headings.slice(position + 1).find(isOther);
  return { start: own.content_start, end: next?.start ?? length };
}

/**
 * Some files write patches a level deeper than minors (`# 2.0.0` and `## 1.9.9`): a dated or linked heading of another version
 * ends a section too, unless that version is part of it (`1.2.1` in `1.2`).
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

function wantedOf({ tag, version }: SectionRequest): readonly ParsedTag[] {
  return [classify(tag), classify(version)].filter(({ shape }) => shape !== null);
}

/** The number as it may be written, so that most headings need no closer look. */
function writtenForms(wanted: readonly ParsedTag[]): readonly string[] {
  return wanted.flatMap(({ numbers }) => [numbers.join("."), numbers.join("-")]);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

type Fit = "exact" | "same_version" | "base" | null;

/** How a version in a heading fits the wanted one: `base` is the version that a variant (`1.2.3-alpine`) was built from. */
function fitOf(found: ParsedTag, wanted: ParsedTag): Fit {
  if (!isSameList(found.numbers, wanted.numbers) || !isSameList(found.prerelease, wanted.prerelease)) return null;
  if (found.is_dev_release !== wanted.is_dev_release || found.metadata !== wanted.metadata) return null;
  if (JSON.stringify(found.builds) !== JSON.stringify(wanted.builds)) return null;
  if (found.name !== "" && found.name !== wanted.name) return wanted.name === "" ? "same_version" : null;
  if (found.variant === wanted.variant && isSameList(found.variant_numbers, wanted.variant_numbers)) return "exact";
  return found.variant === "" ? "base" : null;
}

/** Smaller is better; null is none. A foreign name counts only in files that write no version without one. */
function rankOf(heading: VersionHeading, wanted: readonly ParsedTag[]): number | null {
  const fits = wanted.map((version) => fitOf(heading.version, version));
  const isExact = fits.includes("exact");
  if (heading.form === "named" || (fits.includes("same_version") && !isExact)) {
    const isSure = wanted.some(({ numbers }) => numbers.length > 1);
    return isSure && (isExact || fits.includes("same_version")) ? 3 : null;
  }
  if (isExact) return heading.form === "plain" ? 0 : 1;
  return fits.includes("base") && heading.form === "plain" ? 2 : null;
}

/** The position of the first heading of the best form, or -1. */
function findByForm(headings: readonly Heading[], request: SectionRequest): number {
  const wanted = wantedOf(request);
  if (wanted.length === 0) return findByText(headings, request);
  const forms = [...writtenForms(wanted), request.tag, request.version];
  let best = { position: -1, rank: 4 };
  let candidates = 0;
  for (const [position, heading] of headings.entries()) {
    if (candidates >= maxCandidates) break;
    const isNear = forms.some((form) => heading.text.includes(form)) || heading.text.includes("\\");
    if (!isNear && !mayBeWritten(heading.text, wanted)) continue;
    candidates += 1;
    const found = readVersionHeading(plainHeading(heading.text), heading.text);
    const rank = found === null ? null : rankOf(found, wanted);
    if (rank !== null && rank < best.rank) best = { position, rank };
    if (best.rank === 0) break;
  }
  return best.rank === 3 && writesPlainVersions(headings) ? -1 : best.position;
}

/** Leading zeros and underscores: each number of the version stands somewhere in the text. */
function mayBeWritten(text: string, wanted: readonly ParsedTag[]): boolean {
  return wanted.some(({ numbers, shape }) => shape !== "version" && numbers.every((digits) => text.includes(digits)));
}

/** A name that is no version (`latest`, `Unreleased`): the heading is that name. */
function findByText(headings: readonly Heading[], { tag, version }: SectionRequest): number {
  const names = [tag.toLowerCase(), version.toLowerCase()];
  return headings.findIndex(({ text }) => text.length < 1_000 && names.includes(plainHeading(text).toLowerCase()));
}

function writesPlainVersions(headings: readonly Heading[]): boolean {
  return headings.slice(0, maxSamples).some(({ text }) => {
    const found = readVersionHeading(plainHeading(text), text);
    return found !== null && found.form === "plain" && found.version.name === "" && found.version.numbers.length > 1;
  });
}

/** The position of the first heading whose line meets the template, or -1. */
function findByTemplate(headings: readonly Heading[], request: SectionRequest): number {
  const values = { tag: request.tag, version: plainVersionOf(request.version) };
  const pattern = patternOf(request.heading_template, values);
  let candidates = 0;
  return headings.findIndex(({ level, text }) => {
    const isNear = text.includes("\\") || Object.values(values).some((value) => text.includes(value));
    if (candidates >= maxPatternCandidates || !isNear) return false;
    candidates += 1;
    const plain = plainHeading(text);
    const hashes = "#".repeat(level);
    return [`${hashes} ${text}`, `${hashes} ${plain}`, plain].some((line) => {
      const range = find(pattern, bounded(line));
      return range !== null && Object.values(values).some((value) => standsAlone(line, value, range));
    });
  });
}

function patternOf(template: string, values: { tag: string; version: string }) {
  try {
    return parsePattern(headingPattern(template, values));
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ChangelogError(
      "bad_template",
      `The heading template cannot be used for ${values.version}: ${error.message}`,
    );
  }
}

/** A line as long as patterns are tried on, cut between words. */
function bounded(line: string): string {
  if (line.length <= MAX_TEXT_CHARACTERS) return line;
  return line.slice(0, line.lastIndexOf(" ", MAX_TEXT_CHARACTERS) + 1);
}

/** Whether a value stands within a match, and is not a part of a longer version there: `1.2.3` is no part of `1.2.30` or `1.2.3-rc.1`. */
function standsAlone(line: string, value: string, range: { start: number; end: number }): boolean {
  for (let at = line.indexOf(value, range.start); at !== -1; at = line.indexOf(value, at + 1)) {
    if (at + value.length > range.end) return false;
    if (!continuesBefore(line, at) && !continuesBehind(line, at + value.length)) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

function continuesBefore(line: string, at: number): boolean {
  const before = line[at - 1];
  if (before === "v" || before === "V") return isWordCharacter(line[at - 2]);
  return before === "." || isWordCharacter(before);
}

function continuesBehind(line: string, at: number): boolean {
  const [next, after] = [line[at], line[at + 1]];
  return isWordCharacter(next) || (next !== undefined && "-+._~".includes(next) && isWordCharacter(after));
}

/** Where the first heading within a section begins whose text begins with `subheading`, or null. */
function findSubheading(headings: readonly Heading[], section: Section, subheading: string): number | null {
  const wanted = comparable(plainHeading(withoutHashes(subheading)));
  const found = headings.find(
    ({ start, text }) =>
      start >= section.start && start < section.end && comparable(plainHeading(text)).startsWith(wanted),
  );
  return found?.start ?? null;
}

function withoutHashes(text: string): string {
  let start = 0;
  while (text[start] === "#") start += 1;
  return text.slice(start);
}

/** Without what people leave out when they copy a heading: case, and symbols before the first word. */
function comparable(text: string): string {
  let start = 0;
  while (start < text.length && !isWordCharacter(text[start])) start += 1;
  return text.slice(start).toLowerCase();
}
