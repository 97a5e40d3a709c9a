import { classify, type ParsedTag } from "./classify.ts";
import type { Heading } from "./headings.ts";
import { find, MAX_TEXT_CHARACTERS, parsePattern } from "./pattern.ts";
import { headingPattern, plainVersionOf } from "./placeholders.ts";
import { isWordCharacter, plainHeading, readVersionHeading, type VersionHeading } from "./version-heading.ts";

/** The version whose heading is sought. */
export interface SoughtHeading {
  tag: string;
  version: string;
  /** A pattern with `{tag}` or `{version}` for the heading's line; blank finds the common forms. */
  heading_template: string;
}

/** Headings that name the version without being its section; more of them only come from an attacker. */
const maxCandidates = 500;
/** The same when a pattern is tried on each. */
const maxPatternCandidates = 64;
/** Headings read to learn how a file writes its versions. */
const maxSamples = 500;

/** Whether the heading at a position may be an entry in a table of contents. */
type JudgeEntry = (position: number) => boolean;

/**
 * The position of a version's heading, or -1. The best form wins, and entries in a table of contents (by `judgeEntry`) come last. Throws
 * PatternError for an invalid template.
 */
export function findHeading(headings: readonly Heading[], sought: SoughtHeading, judgeEntry: JudgeEntry): number {
  const findBy = sought.heading_template.trim() === "" ? findByForm : findByTemplate;
  return findBy(headings, sought, judgeEntry);
}

/** The version by its tag and its name; none when neither has a number. */
export function wantedOf({ tag, version }: SoughtHeading): readonly ParsedTag[] {
  return [classify(tag), classify(version)].filter(({ shape }) => shape !== null);
}

/** Possible spellings of the number, so that most headings need no closer look. */
function writtenForms(wanted: readonly ParsedTag[]): readonly string[] {
  return wanted.flatMap(({ numbers }) => [numbers.join("."), numbers.join("-")]);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

type Fit = "exact" | "same_version" | "base" | null;

/** How well a heading's version fits the wanted one: `base` is the version that a variant (`1.2.3-alpine`) was built from. */
function fitOf(found: ParsedTag, wanted: ParsedTag): Fit {
  if (!isSameList(found.numbers, wanted.numbers) || !isSameList(found.prerelease, wanted.prerelease)) return null;
  if (found.is_dev_release !== wanted.is_dev_release || found.metadata !== wanted.metadata) return null;
  if (JSON.stringify(found.builds) !== JSON.stringify(wanted.builds)) return null;
  if (found.name !== "" && found.name !== wanted.name) return wanted.name === "" ? "same_version" : null;
  if (found.variant === wanted.variant && isSameList(found.variant_numbers, wanted.variant_numbers)) return "exact";
  return found.variant === "" ? "base" : null;
}

/** Smaller is better; null does not fit. A foreign name counts only in files without plain versions. */
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

/** Entries of a table of contents come after all real headings. */
const entryRank = 4;

/** The position of the first heading of the best form, or -1. */
function findByForm(headings: readonly Heading[], request: SoughtHeading, judgeEntry: JudgeEntry): number {
  const wanted = wantedOf(request);
  if (wanted.length === 0) return findByText(headings, request, judgeEntry);
  const forms = [...writtenForms(wanted), request.tag, request.version];
  const isOwnName = namesItself(headings);
  let best = { position: -1, rank: 2 * entryRank };
  let candidates = 0;
  for (const [position, heading] of headings.entries()) {
    if (candidates >= maxCandidates) break;
    const isNear = forms.some((form) => heading.text.includes(form)) || heading.text.includes("\\");
    if (!isNear && !mayBeWritten(heading.text, wanted)) continue;
    candidates += 1;
    const found = readVersionHeading(plainHeading(heading.text), heading.text);
    const form = found === null ? null : rankOf(found, wanted);
    if (form === null || form >= best.rank || (form === 3 && !isOwnName(position))) continue;
    const rank = judgeEntry(position) ? form + entryRank : form;
    if (rank < best.rank) best = { position, rank };
    if (best.rank === 0) break;
  }
  return best.position;
}

/** Leading zeros and underscores: each number of the version occurs somewhere in the text. */
function mayBeWritten(text: string, wanted: readonly ParsedTag[]): boolean {
  return wanted.some(({ numbers, shape }) => shape !== "version" && numbers.every((digits) => text.includes(digits)));
}

/** A name that is no version (`latest`, `Unreleased`): the heading is that name. */
function findByText(headings: readonly Heading[], { tag, version }: SoughtHeading, judgeEntry: JudgeEntry): number {
  const names = [tag.toLowerCase(), version.toLowerCase()];
  return firstSection(headings, judgeEntry, ({ text }) => {
    return text.length < 1_000 && names.includes(plainHeading(text).toLowerCase());
  });
}

/** The first heading that `isMeant` and is a section; else the first such entry in a table of contents; else -1. */
function firstSection(
  headings: readonly Heading[],
  judgeEntry: JudgeEntry,
  isMeant: (heading: Heading) => boolean,
): number {
  let entry = -1;
  for (const [position, heading] of headings.entries()) {
    if (!isMeant(heading)) continue;
    if (!judgeEntry(position)) return position;
    if (entry === -1) entry = position;
  }
  return entry;
}

/**
 * Whether a heading with a name before its version (`Tool 8.1`, by its position) may be the project itself: it is in no version's section,
 * where it would name a part (`PHP 8.1`), and on the level of the plain versions.
 */
function namesItself(headings: readonly Heading[]): (position: number) => boolean {
  let levels: ReadonlySet<number> | null = null;
  return (position) => {
    levels ??= plainLevels(headings);
    let level = headings[position]?.level ?? 0;
    if (levels.size > 0 && !levels.has(level)) return false;
    for (let above = position - 1; above >= Math.max(position - maxSamples, 0) && level > 1; above -= 1) {
      const heading = headings[above];
      if (heading === undefined || heading.level >= level) continue;
      level = heading.level;
      if (readVersionHeading(plainHeading(heading.text), heading.text) !== null) return false;
    }
    return true;
  };
}

/** The levels of headings with a version and no name. */
function plainLevels(headings: readonly Heading[]): ReadonlySet<number> {
  const levels = new Set<number>();
  for (const { text, level } of headings.slice(0, maxSamples)) {
    const found = readVersionHeading(plainHeading(text), text);
    const isPlain = found !== null && found.form === "plain" && found.version.name === "";
    if (isPlain && found.version.numbers.length > 1) levels.add(level);
  }
  return levels;
}

/** The position of the first heading that matches the template, or else its looser form; or -1. */
function findByTemplate(headings: readonly Heading[], request: SoughtHeading, judgeEntry: JudgeEntry): number {
  const values = { tag: request.tag, version: plainVersionOf(request.version) };
  const forms = [...Object.values(values), plainVersionOf(request.tag)];
  const findBy = (form: "exact" | "loose"): number => {
    const pattern = parsePattern(headingPattern(request.heading_template, values, form));
    let candidates = 0;
    return firstSection(headings, judgeEntry, ({ level, text }) => {
      const isNear = text.includes("\\") || forms.some((value) => text.includes(value));
      if (candidates >= maxPatternCandidates || !isNear) return false;
      candidates += 1;
      const plain = plainHeading(text);
      const hashes = "#".repeat(level);
      return [`${hashes} ${text}`, `${hashes} ${plain}`, plain].some((line) => {
        const range = find(pattern, bounded(line));
        return range !== null && forms.some((value) => standsAlone(line, value, range));
      });
    });
  };
  const exact = findBy("exact");
  if (exact !== -1 && !judgeEntry(exact)) return exact;
  const loose = findBy("loose");
  return exact === -1 || (loose !== -1 && !judgeEntry(loose)) ? loose : exact;
}

/** A line cut between words to the maximum length for patterns. */
function bounded(line: string): string {
  if (line.length <= MAX_TEXT_CHARACTERS) return line;
  return line.slice(0, line.lastIndexOf(" ", MAX_TEXT_CHARACTERS) + 1);
}

/** Whether a match's value is not part of a longer version: `1.2.3` is no part of `1.2.30` or `1.2.3-rc.1`. */
function standsAlone(line: string, value: string, range: { start: number; end: number }): boolean {
  for (let at = line.indexOf(value, range.start); at !== -1; at = line.indexOf(value, at + 1)) {
    if (at + value.length > range.end) return false;
    if (!continuesBefore(line, at) && !continuesBehind(line, at + value.length)) return true;
  }
  return false;
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

/** The position of the first heading in a section that begins with `subheading`, or null. */
export function findSubheading(
  headings: readonly Heading[],
  section: { start: number; end: number },
  subheading: string,
): number | null {
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

/** Without what people drop when they copy a heading: case, and symbols before the first word. */
function comparable(text: string): string {
  let start = 0;
  while (start < text.length && !isWordCharacter(text[start])) start += 1;
  return text.slice(start).toLowerCase();
}
