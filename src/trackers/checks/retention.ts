import type { Sorting } from "../../versions/channel.ts";
import { orderReleases } from "../../versions/channel.ts";
import { judgeRelease, membersOf } from "../releases/judge.ts";
import type { ReleaseFactsRow } from "../releases/queries.ts";
import type { ChannelRow } from "../source-queries.ts";

interface RetentionInput {
  releases: readonly ReleaseFactsRow[];
  channels: readonly ChannelRow[];
  sorting: Sorting;
  /** Version History Count: how many are kept per channel, and how many of those without a channel. */
  keep: number;
  /** Never removed: running versions, versions in snapshots, and those that upstream just listed (they would return at once). */
  isKept: (release: ReleaseFactsRow) => boolean;
}

/** The releases to remove. A channel's latest is always kept. */
export function surplusReleases(input: RetentionInput): readonly ReleaseFactsRow[] {
  const { releases, channels, sorting, keep } = input;
  const kept = new Set<string>();
  const keepFirst = (ordered: readonly ReleaseFactsRow[]) => {
    for (const release of ordered.slice(0, keep)) kept.add(release.id);
  };
  for (const channel of channels) keepFirst(membersOf(releases, channel, sorting));
  // Releases hidden by a narrowed pattern return when it is widened, so they have their own quota.
  const hidden = releases.filter((release) => !channels.some((channel) => judgeRelease(release, channel).accepted));
  keepFirst(orderReleases(hidden, sorting));
  return releases.filter((release) => !kept.has(release.id) && !input.isKept(release));
}
