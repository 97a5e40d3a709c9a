import { classify, familyOf, isPrerelease, type ParsedTag } from "./classify.ts";
import { exactTag } from "./exact-tag.ts";
import { areOfTwoPrograms, floatingAliases } from "./families.ts";
import { compareInFamily, comparePrecedence } from "./precedence.ts";
import { findCore } from "./tag-core.ts";

/** A known version of a source, under the name that it would run by. */
export interface KnownVersion {
  tag: string;
  /** The image's digest; null for what is no image, and until it is known. */
  digest: string | null;
  /** Upstream marks it as a pre-release. */
  is_prerelease: boolean;
  /** Milliseconds UTC; null when upstream does not say. */
  published_at: number | null;
  first_observed_at: number;
}

/** What is stored of a channel. Older versions are missing, and those of the middle may be. */
export interface KnownHistory {
  /** In the channel's order, the latest first. */
  versions: readonly KnownVersion[];
  /** How many a check lists at most. */
  depth: number;
  /** How many are kept. */
  keep: number;
}

/** One end of the distance: its tag, the other tags of its build, and its digest. */
export interface Named {
  tag: string;
  others?: readonly string[];
  digest?: string | null;
}

/** The distance from one version to a newer one of the same family. */
export interface Behind {
  /** Releases between them, the newer one included. */
  releases: number;
  /** How many of these raised which number; null where numbers do not count changes, as in dates. */
  steps: { major: number; minor: number; patch: number } | null;
  /** Whole days from the publishing of one to that of the other; null when a time is unknown. */
  days: number | null;
  /** The known history has gaps: there may be more. */
  is_at_least: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * How far one version is behind another, over the known versions of the same family. Null when they are not comparable, when the first
 * is not behind, and when only a digest distinguishes them.
 */
export function distanceBehind(running: Named, newest: Named, history: KnownHistory): Behind | null {
  const from = exactOf(running, history);
  const to = exactOf(newest, history);
  if (familyOf(from) !== familyOf(to) || from.shape === null || areOfTwoPrograms(from, to)) return null;
  if (comparePrecedence(from, to) >= 0) return null;
  const between = versionsBetween(from, to, history);
  if (between === null) return null;
  const places = new Map(history.versions.map(({ tag }, place) => [tag, place]));
  const timeOf = ({ tag }: ParsedTag) => history.versions[places.get(tag) ?? -1]?.published_at ?? null;
  const [start, end] = [timeOf(from), timeOf(to)];
  return {
    releases: between.length,
    steps: countsChanges(from) && countsChanges(to) ? stepsOf([from, ...between]) : null,
    days: start === null || end === null || end < start ? null : Math.floor((end - start) / dayMs),
    is_at_least: hasGap(history, places.get(from.tag)),
  };
}

/** The most specific name of a build: what `latest` or `17` stands for. */
function exactOf({ tag, others = [], digest = null }: Named, { versions }: KnownHistory): ParsedTag {
  const own = classify(tag);
  const twins = digest === null ? [] : versions.filter((known) => known.digest === digest).map((known) => known.tag);
  const exact = exactTag(own, [...others, ...twins]);
  return exact === null ? own : classify(exact);
}

/**
 * Above `from` up to `to`, the lowest first, each once; unfinished versions count only on the way to one. Names of lines (`16`, `1.27`) are
 * counted among themselves: null between such a name and a version.
 */
function versionsBetween(from: ParsedTag, to: ParsedTag, { versions }: KnownHistory): ParsedTag[] | null {
  const family = familyOf(to);
  const isMarked = new Set(versions.filter(({ is_prerelease }) => is_prerelease).map(({ tag }) => tag));
  const isUnfinished = (tag: ParsedTag) => isMarked.has(tag.tag) || isPrerelease(tag);
  const others = [...new Set(versions.map(({ tag }) => tag))]
    .filter((tag) => tag !== from.tag && tag !== to.tag)
    .map((tag) => classify(tag))
    .filter((tag) => familyOf(tag) === family && !areOfTwoPrograms(tag, to));
  const lines = floatingAliases([from, to, ...others]);
  const isLine = lines.has(from.tag) || lines.has(to.tag);
  if (isLine && from.numbers.length !== to.numbers.length) return null;
  const between = others.filter(
    (tag) =>
      (isLine ? tag.numbers.length === to.numbers.length : !lines.has(tag.tag)) &&
      (isUnfinished(to) || !isUnfinished(tag)) &&
      comparePrecedence(tag, from) > 0 &&
      comparePrecedence(tag, to) < 0,
  );
  const ascending = [...between, to].toSorted(compareInFamily);
  return ascending.filter((tag, place) => {
    const before = ascending[place - 1];
    return before === undefined || comparePrecedence(before, tag) !== 0;
  });
}

/** Two numbers or more that are no date. SemVer has no leading zeros: `24.04` is a date too. */
function countsChanges({ tag, scheme, numbers }: ParsedTag): boolean {
  const core = findCore(tag);
  if (scheme !== "semver" || numbers.length < 2 || core === null) return false;
  return !/(^|\D)0\d/.test(tag.slice(core.start, core.end));
}

function stepsOf(ascending: readonly ParsedTag[]): NonNullable<Behind["steps"]> {
  const steps = { major: 0, minor: 0, patch: 0 };
  for (const [place, tag] of ascending.entries()) {
    const before = ascending[place - 1];
    if (before === undefined) continue;
    const length = Math.max(tag.numbers.length, before.numbers.length);
    const raised = Array.from({ length }).findIndex(
      (_, at) => (tag.numbers[at] ?? "0") !== (before.numbers[at] ?? "0"),
    );
    // Equal numbers: another build or stage of one version.
    if (raised === 0) steps.major += 1;
    else if (raised === 1) steps.minor += 1;
    else if (raised > 1) steps.patch += 1;
  }
  return steps;
}

/**
 * Whether versions above this place may be missing: it is unknown or beyond what is kept, or more than one check lists lie above it of
 * which some were not found after it.
 */
function hasGap({ versions, depth, keep }: KnownHistory, place = keep): boolean {
  const own = versions[place];
  if (own === undefined || place >= keep) return true;
  return place >= depth && versions.slice(0, place).some((above) => above.first_observed_at <= own.first_observed_at);
}
