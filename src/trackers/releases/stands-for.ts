import type { Reader } from "../../db/client.ts";
import { classify, type ParsedTag } from "../../versions/classify.ts";
import { plainVersion } from "./display.ts";
import { type ReleaseFactsRow, releasesOfRevisions } from "./queries.ts";

type Build = Pick<ReleaseFactsRow, "source_id" | "tag" | "revision">;
export type Floating = Build & Pick<ReleaseFactsRow, "labelled_version">;

/** The tags of a release's source that name the same build, including its own. */
export type Twins = (release: Build) => readonly string[];

/** From this many numbers on, a version names one build: `17` and `1.27` move from patch to patch. */
const fullNumbers = 3;

function mayMove({ scheme, numbers, prerelease, builds }: ParsedTag): boolean {
  if (scheme === "floating") return true;
  return scheme !== "other" && numbers.length < fullNumbers && prerelease.length === 0 && builds.length === 0;
}

/** Whether one version is more specific than another of the same line: `1.27.4` than `1.27`, any than a name without numbers. */
function isMoreExact(exact: ParsedTag, than: ParsedTag): boolean {
  if (exact.shape === null || exact.numbers.length <= than.numbers.length) return false;
  return (than.shape === null || exact.name === than.name) && than.numbers.every((n, at) => n === exact.numbers[at]);
}

/** Most specific first; among equals the same variant, then the shortest: `1.27.4` before `1.27.4-bookworm`. */
function byExactness(than: ParsedTag) {
  const isOther = ({ variant }: ParsedTag) => Number(variant !== than.variant);
  return (a: ParsedTag, b: ParsedTag) =>
    b.numbers.length - a.numbers.length ||
    isOther(a) - isOther(b) ||
    a.tag.length - b.tag.length ||
    (a.tag < b.tag ? -1 : 1);
}

/**
 * The version behind a moving tag (`latest`, `stable-alpine`, `17`): the most specific tag of the same build, or else the version in the
 * image's label. Null for a tag that names one version, and when unknown.
 */
export function standsFor(release: Floating, twins: Twins): string | null {
  const own = classify(release.tag);
  if (!mayMove(own)) return null;
  const exact = twins(release)
    .map((tag) => classify(tag))
    .filter((twin) => isMoreExact(twin, own))
    .toSorted(byExactness(own))[0];
  if (exact !== undefined) return exact.tag;
  const label = release.labelled_version;
  if (label === null || plainVersion(label) === plainVersion(release.tag)) return null;
  return own.shape === null || isMoreExact(classify(label), own) ? label : null;
}

/** Twins among releases, which must include all of their sources. */
export function twinsAmong(releases: readonly Build[]): Twins {
  const keyOf = ({ source_id, revision }: Build) => `${source_id} ${revision}`;
  const tags = Map.groupBy(
    releases.filter(({ revision }) => revision !== null),
    keyOf,
  );
  return (release) => (tags.get(keyOf(release)) ?? []).map(({ tag }) => tag);
}

/** Twins of some releases, with one query for those whose tags move. */
export async function findTwins(read: Reader, releases: readonly Build[]): Promise<Twins> {
  const moving = releases.filter(({ tag }) => mayMove(classify(tag)));
  const ids = [...new Set(moving.map(({ source_id }) => source_id))];
  const revisions = [...new Set(moving.flatMap(({ revision }) => revision ?? []))];
  return twinsAmong(await releasesOfRevisions(read, ids, revisions));
}
