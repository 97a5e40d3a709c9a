import type { Reader } from "../../db/client.ts";
import { classify } from "../../versions/classify.ts";
import { exactTag, isMoreExact, mayMove } from "../../versions/exact-tag.ts";
import { plainVersion } from "./display.ts";
import { type ReleaseFactsRow, releasesOfRevisions } from "./queries.ts";

type Build = Pick<ReleaseFactsRow, "source_id" | "tag" | "revision">;
export type Floating = Build & Pick<ReleaseFactsRow, "labelled_version">;

/** The tags of a release's source that name the same build, including its own. */
export type Twins = (release: Build) => readonly string[];

/**
 * The version behind a moving tag (`latest`, `stable-alpine`, `17`): the most specific tag of the same build, or else the version in the
 * image's label. Null for a tag that names one version, and when unknown.
 */
export function standsFor(release: Floating, twins: Twins): string | null {
  const own = classify(release.tag);
  if (!mayMove(own)) return null;
  const exact = exactTag(own, twins(release));
  if (exact !== null) return exact;
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
