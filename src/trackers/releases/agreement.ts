import { displayVersion, type NamesOfRelease, usesAppVersions } from "./display.ts";
import { type AimedChannel, judgeRelease } from "./judge.ts";
import type { ReleaseFactsRow } from "./queries.ts";

type Shown = NamesOfRelease & Pick<ReleaseFactsRow, "source_id" | "tag" | "stage">;
type OwnedChannel = AimedChannel & { name: string; source_id: string; requires_agreement: boolean };

/** A tracker with all releases of its sources. */
export interface TrackerContent<T extends Shown = ReleaseFactsRow> {
  sources: readonly { id: string; kind: string }[];
  channels: readonly OwnedChannel[];
  releases: readonly T[];
}

/**
 * The releases of a channel's source that may become its latest. A channel that requires agreement only takes versions that every other
 * source of the tracker has in a channel of the same name; a source without such a channel has no say.
 */
export function agreedReleases<T extends Shown>(
  own: readonly T[],
  channel: OwnedChannel,
  content: TrackerContent<T>,
): readonly T[] {
  if (!channel.requires_agreement) return own;
  const byApplication = usesAppVersions(content.sources);
  const asked = content.channels.filter(
    (other) => other.name === channel.name && other.source_id !== channel.source_id,
  );
  const shown = asked.map((other) => {
    const taken = content.releases.filter(
      (release) => release.source_id === other.source_id && judgeRelease(release, other).accepted,
    );
    return new Set(taken.map((release) => displayVersion(release, byApplication)));
  });
  return own.filter((release) => {
    const version = displayVersion(release, byApplication);
    return shown.every((versions) => versions.has(version));
  });
}

/**
 * Whether an image was built from the commit of a git tag, by its label; null when one of them is unknown. Builds name the commit in full
 * or shortened.
 */
export function isBuiltFrom(sourceRevision: string | null, commit: string | null): boolean | null {
  if (sourceRevision === null || commit === null || !/^[0-9a-f]{7,64}$/i.test(sourceRevision)) return null;
  const [image, git] = [sourceRevision.toLowerCase(), commit.toLowerCase()];
  return git.startsWith(image) || image.startsWith(git);
}
