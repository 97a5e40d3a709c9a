import * as v from "valibot";
import { releasesImages } from "../../sources/source.ts";
import { ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";
import { tagsOfRelease } from "../../versions/tag-form.ts";
import type { ObservedExecutor } from "../bound-executors.ts";
import type { ReleaseFactsRow } from "../releases/queries.ts";

/** The part of an executor's observation that is needed here. */
const Observed = v.object({
  services: v.array(
    v.object({
      service: v.string(),
      found: v.nullable(
        v.object({
          image: v.string(),
          digest: v.nullable(v.string()),
          tag: v.optional(v.nullable(v.string())),
          platform: v.optional(v.nullable(v.string())),
        }),
      ),
    }),
  ),
});

/** Names of builds: tags, and digests or commits. */
export interface Builds {
  tags: ReadonlySet<string>;
  revisions: ReadonlySet<string>;
}

function parseReference(reference: string): { tag: string | null; digest: string | null } {
  try {
    return parseImageReference(reference);
  } catch (error) {
    // A container created from an image ID names no tag.
    if (error instanceof ImageReferenceError) return { tag: null, digest: null };
    throw error;
  }
}

/** What executors run from a source, as last observed, and what their snapshots name. */
export function buildsInUse(
  bound: readonly ObservedExecutor[],
  snapshots: readonly { reference: string; digest: string | null }[],
): Builds {
  const tags = new Set<string>();
  const revisions = new Set<string>();
  const add = (reference: string, digest: string | null) => {
    const parsed = parseReference(reference);
    if (parsed.tag !== null) tags.add(parsed.tag);
    for (const revision of [parsed.digest, digest]) if (revision !== null) revisions.add(revision);
  };
  for (const executor of bound) {
    const observed = v.safeParse(Observed, executor.observed);
    if (!observed.success) continue;
    for (const { service, found } of observed.output.services) {
      if (service !== executor.service || found === null) continue;
      add(found.image, found.digest);
      if (found.tag) tags.add(found.tag);
    }
  }
  for (const snapshot of snapshots) add(snapshot.reference, snapshot.digest);
  return { tags, revisions };
}

/** The platform on which executors run a source's image, as last observed: the first one's; null if it is not known. */
export function platformInUse(bound: readonly ObservedExecutor[]): string | null {
  for (const executor of bound) {
    const observed = v.safeParse(Observed, executor.observed);
    const service = observed.success
      ? observed.output.services.find((each) => each.service === executor.service)
      : null;
    const platform = service?.found?.platform ?? "";
    if (platform !== "") return platform;
  }
  return null;
}

/** `kind`: of the release's source. A release that is no image counts as the tag that an update would have chosen for it. */
export function isInUse(
  kind: string,
  release: Pick<ReleaseFactsRow, "tag" | "app_version" | "revision" | "previous_revision">,
  builds: Builds,
): boolean {
  if (builds.tags.has(release.tag)) return true;
  if (!releasesImages(kind) && [...builds.tags].some((tag) => tagsOfRelease(tag, release).includes(tag))) return true;
  return [release.revision, release.previous_revision].some(
    (revision) => revision !== null && builds.revisions.has(revision),
  );
}
