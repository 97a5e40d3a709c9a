import { familyOf, type ParsedTag, wordsOf } from "./classify.ts";
import { type Aim, type Maturity, placeOf } from "./maturity.ts";
import { compareDigits, compareNumbers } from "./precedence.ts";
import { prereleaseWords } from "./tag-words.ts";

/** A line without a release for a year, while another continues, was abandoned: projects rename their tags. */
export const STALE_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

/** A list before it is ordered: each version with its family's key, and when it was published. */
interface Known {
  keys: ReadonlyMap<ParsedTag, string>;
  maturity: (tag: ParsedTag) => Maturity;
  times: ReadonlyMap<string, number> | null;
  aim: Aim;
}

type Highest = Map<string, readonly string[]>;

/**
 * Unfinished versions (pre-releases, builds) that should not be offered while there are others:
 * 1. of a maturity whose newest version is a year older than that of another one;
 * 2. already released (`4.2.0-rc1` beside `4.2.0`), when something of the last year is ahead of the releases (`4.3.0-SNAPSHOT`), or is
 *    dated and came after them. A channel for betas or nightly builds moves to another maturity in this way only from a major version older
 *    than the releases.
 */
export function leftBehind({ keys, maturity, times, aim }: Known): ReadonlySet<ParsedTag> {
  const timeOf = (tag: ParsedTag) => times?.get(tag.tag) ?? 0;
  const unfinished: ParsedTag[] = [];
  const newest = new Map<Maturity, number>();
  const released: Highest = new Map();
  for (const [tag, key] of keys) {
    const grade = maturity(tag);
    newest.set(grade, Math.max(newest.get(grade) ?? 0, timeOf(tag)));
    if (grade !== "release") unfinished.push(tag);
    else if (key === familyOf(tag)) raise(released, lineOf(tag), tag.numbers);
  }
  const releasedAt = newest.get("release") ?? 0;
  newest.delete("release");
  const staleBefore = Math.max(0, ...newest.values()) - STALE_AFTER_MS;

  const followers = followersAmong(
    unfinished.filter((tag) => timeOf(tag) >= staleBefore),
    (tag) => ({ line: lineOfReleases(tag, released), place: placeOf(maturity(tag), aim) }),
  );
  const isDatedLater = (tag: ParsedTag) => tag.shape === "date" && timeOf(tag) > releasedAt;
  const isDatedAfterRelease = aim === "prerelease" && unfinished.some(isDatedLater);

  const isOvertaken = (tag: ParsedTag) => {
    const line = lineOfReleases(tag, released);
    const last = line === null ? undefined : released.get(line);
    if (line === null || last === undefined) return false;
    const difference = compareNumbers(tag.numbers, last);
    if (difference > 0 || (difference === 0 && tag.prerelease.length === 0)) return false;
    const isOlderMajor = compareDigits(tag.numbers[0] ?? "0", last[0] ?? "0") < 0;
    const next = followers(`${line}|${tag.variant}`, aim === "prerelease" || isOlderMajor ? 1 : 0) ?? [];
    const isNextMajor = isOlderMajor && compareDigits(next[0] ?? "0", last[0] ?? "0") >= 0;
    return isDatedAfterRelease || isNextMajor || compareNumbers(next, last) > 0;
  };
  return new Set(unfinished.filter((tag) => (newest.get(maturity(tag)) ?? 0) < staleBefore || isOvertaken(tag)));
}

/** The highest of a line's versions of one variant, of the aim's preferred place, or of the first two. */
function followersAmong(
  tags: readonly ParsedTag[],
  standing: (tag: ParsedTag) => { line: string | null; place: number },
): (line: string, places: 0 | 1) => readonly string[] | null {
  const highest: Record<0 | 1, Highest> = [new Map(), new Map()];
  for (const tag of tags) {
    const { line, place } = standing(tag);
    if (line === null || place > 1) continue;
    raise(highest[1], `${line}|${tag.variant}`, tag.numbers);
    if (place === 0) raise(highest[0], `${line}|${tag.variant}`, tag.numbers);
  }
  return (line, places) => highest[places].get(line) ?? null;
}

/** The line in which a version is released: its own, or the plain one for `develop-…`; null when unknown. */
function lineOfReleases(tag: ParsedTag, released: ReadonlyMap<string, unknown>): string | null {
  if (released.has(lineOf(tag))) return lineOf(tag);
  const plain = lineOf(tag, "");
  return released.has(plain) && wordsOf(tag.name).every((word) => prereleaseWords.has(word)) ? plain : null;
}

/** A single number may follow anything, except another single number. */
function lineOf(tag: ParsedTag, name = tag.name): string {
  return `${tag.shape} ${tag.numbers.length === 1 ? "alone" : ""}|${name}`;
}

function raise(highest: Highest, line: string, numbers: readonly string[]): void {
  const known = highest.get(line);
  if (known === undefined || compareNumbers(numbers, known) > 0) highest.set(line, numbers);
}
