import { orderTags } from "../../versions/order.ts";
import type { ReleaseFactsRow } from "./queries.ts";

type Build = Pick<ReleaseFactsRow, "tag" | "revision" | "first_observed_at">;

/** The revision if it is an image digest: a commit can have tags of several products. */
export function digestOf(revision: string | null): string | null {
  return revision !== null && /^sha(256|512):/.test(revision) ? revision : null;
}

/** The key shared by tags of one source that name one image and were found together; null for what is no image. */
export function buildOf({ revision, first_observed_at }: Omit<Build, "tag">): string | null {
  const digest = digestOf(revision);
  return digest === null ? null : `${digest} ${first_observed_at}`;
}

/**
 * For releases of one source, by tag: the tag that its image is shown under. Of `18`, `18.1`, `18.1-trixie`, `latest` and `trixie`, found
 * together with one digest, this is `18.1`.
 */
export function leadingTags(releases: readonly Build[]): ReadonlyMap<string, string> {
  const builds = Map.groupBy(releases, (release) => buildOf(release) ?? `alone ${release.tag}`);
  return new Map(
    [...builds.values()].flatMap((same) => {
      const tags = same.map(({ tag }) => tag);
      const lead = orderTags(tags, "stable")[0];
      return tags.map((tag) => [tag, lead ?? tag] as const);
    }),
  );
}
