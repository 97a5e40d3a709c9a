import { classify, isPrerelease, type ParsedTag } from "./classify.ts";
import { longerReleases } from "./families.ts";
import { leadingGroups } from "./leading.ts";
import { type Aim, maturityOf } from "./maturity.ts";
import { find, MAX_TEXT_CHARACTERS, type MatchRange, parsePattern } from "./pattern.ts";
import { compareInFamily, comparePrecedence } from "./precedence.ts";

/** What upstream says about a name: a release, a pre-release, or only a tag. */
export type Stage = "release" | "prerelease" | "tag";

/** Which releases belong to a channel. Null or blank patterns do not apply. */
export interface ChannelRules {
  include: string | null;
  exclude: string | null;
  release_type: "release" | "prerelease" | null;
}

export const channelRules = [
  "no_rule",
  "included",
  "too_long",
  "not_release",
  "not_prerelease",
  "not_included",
  "excluded",
] as const;
/** The deciding rule: the first two accept, the others refuse. */
export type ChannelRule = (typeof channelRules)[number];

export interface Judgement {
  accepted: boolean;
  rule: ChannelRule;
  /** The deciding pattern as written; null when there was none. */
  pattern: string | null;
  /** Where in the tag it matched; null when it did not, or no pattern decided. */
  range: MatchRange | null;
}

/**
 * Whether a tag belongs to a channel, and why. In this order: length, release type, include, exclude. A bare tag has no release status
 * upstream, so its own text says whether it is a pre-release. Throws PatternError for an invalid pattern.
 */
export function judge(release: { tag: string; stage: Stage }, rules: ChannelRules): Judgement {
  const include = patternOf(rules.include);
  const exclude = patternOf(rules.exclude);
  if (release.tag.length > MAX_TEXT_CHARACTERS) return refusal("too_long");
  if (rules.release_type !== null && rules.release_type !== releaseTypeOf(release)) {
    return refusal(rules.release_type === "release" ? "not_release" : "not_prerelease");
  }
  const included = include === null ? null : find(include, release.tag);
  if (include !== null && included === null) return refusal("not_included", include.text);
  const excluded = exclude === null ? null : find(exclude, release.tag);
  if (exclude !== null && excluded !== null) return refusal("excluded", exclude.text, excluded);
  if (include === null) return { accepted: true, rule: "no_rule", pattern: null, range: null };
  return { accepted: true, rule: "included", pattern: include.text, range: included };
}

export const sortings = ["publish_time", "semantic"] as const;
export type Sorting = (typeof sortings)[number];

/** A release as a channel orders it; instants are milliseconds UTC. */
export interface DatedRelease {
  tag: string;
  /** Left out when upstream says nothing beyond the name. */
  stage?: Stage;
  published_at: number | null;
  /** Used when upstream has no time. */
  first_observed_at: number;
}

/**
 * A channel's releases, the latest first. One family leads, and the sorting applies only within it; see `rankFamilies` for the choice: a
 * stray `2021.12.16` or an `-alpine` pushed a second later does not win over `10.11.4`. The other families follow, then moving names
 * (`latest`, `1.27` beside `1.27.3`) and non-versions, which win only when there is nothing else. Equal times are ordered by version, equal
 * versions by time. With an aim, its preferred maturity comes first: a stable channel that takes every tag has `2.0.0-rc1` behind `1.9.5`,
 * a canary channel has `nightly` in front.
 */
export function orderReleases<T extends DatedRelease>(
  releases: readonly T[],
  sorting: Sorting,
  aim: Aim | null = null,
): T[] {
  return groupsOf(releases, sorting, aim).flat();
}

/** The first of `orderReleases`; null for an empty channel. */
export function chooseLatest<T extends DatedRelease>(
  releases: readonly T[],
  sorting: Sorting,
  aim: Aim | null = null,
): T | null {
  return groupsOf(releases, sorting, aim)[0]?.[0] ?? null;
}

/**
 * The latest, followed by those that may replace it while it is too young or refused: only of its family and maturity, so that no executor
 * moves from a release to a candidate or another variant.
 */
export function choicesAmong<T extends DatedRelease>(
  releases: readonly T[],
  sorting: Sorting,
  aim: Aim | null = null,
): T[] {
  return groupsOf(releases, sorting, aim)[0] ?? [];
}

function groupsOf<T extends DatedRelease>(releases: readonly T[], sorting: Sorting, aim: Aim | null): T[][] {
  const byTag = new Map<string, T>();
  for (const release of releases) {
    const known = byTag.get(release.tag);
    if (known === undefined || timeOf(release) > timeOf(known)) byTag.set(release.tag, release);
  }
  const parsed = [...byTag.keys()].map(classify);
  const times = timesOf(byTag, parsed);
  const groups = leadingGroups(parsed, {
    aim,
    maturity: (tag) => maturityOf(tag, byTag.get(tag.tag)?.stage === "prerelease"),
    times,
    compare: sorting === "semantic" ? bySemantics(times) : byTime(times),
    mixes_families: sorting === "publish_time",
  });
  return groups.map((group) => group.flatMap((tag) => byTag.get(tag.tag) ?? []));
}

function patternOf(text: string | null) {
  return text === null || text.trim() === "" ? null : parsePattern(text);
}

function refusal(rule: ChannelRule, pattern: string | null = null, range: MatchRange | null = null): Judgement {
  return { accepted: false, rule, pattern, range };
}

function releaseTypeOf(release: { tag: string; stage: Stage }): "release" | "prerelease" {
  if (release.stage !== "tag") return release.stage;
  return isPrerelease(release.tag) ? "prerelease" : "release";
}

const minute = 60 * 1000;

/**
 * Releases published within a minute count as simultaneous: a regenerated index has all its versions in one second, ordered by name, and
 * their real order is unknown.
 */
export function momentOf(published_at: number): number {
  return Math.floor(published_at / minute) * minute;
}

function timeOf(release: DatedRelease): number {
  return release.published_at === null ? release.first_observed_at : momentOf(release.published_at);
}

/** When each tag counts as published. A line's name (`1.27`) is pushed again with each of its versions: it counts as the oldest. */
function timesOf(
  releases: ReadonlyMap<string, DatedRelease>,
  parsed: readonly ParsedTag[],
): ReadonlyMap<string, number> {
  const times = new Map([...releases].map(([tag, release]) => [tag, timeOf(release)]));
  for (const [alias, versions] of longerReleases(parsed)) {
    const oldest = versions.reduce((time, version) => Math.min(time, times.get(version.tag) ?? time), Infinity);
    times.set(alias, Math.min(times.get(alias) ?? oldest, oldest));
  }
  return times;
}

type Compare = (a: ParsedTag, b: ParsedTag) => number;

function byTime(times: ReadonlyMap<string, number>): Compare {
  return (a, b) => (times.get(b.tag) ?? 0) - (times.get(a.tag) ?? 0) || compareInFamily(b, a);
}

function bySemantics(times: ReadonlyMap<string, number>): Compare {
  return (a, b) =>
    comparePrecedence(b, a) || (times.get(b.tag) ?? 0) - (times.get(a.tag) ?? 0) || compareInFamily(b, a);
}

/** True when at least one of the tags is a version; `latest` and `sha-…` alone have no order by version. */
function areComparable(tags: readonly string[]): boolean {
  return tags.some((tag) => classify(tag).shape !== null);
}

/**
 * The proposed sorting for a tracker of these tags: what runs, or all that a repository lists. Versions are sorted by version, so that a
 * patch to an older line does not take over; names that only move (`latest`, `stable-alpine`) keep the default.
 */
export function proposedSorting(tags: readonly string[]): Sorting {
  return areComparable(tags) ? "semantic" : "publish_time";
}
