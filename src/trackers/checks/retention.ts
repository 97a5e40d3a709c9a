import type { Sorting } from "../../versions/channel.ts";
import { orderReleases } from "../../versions/channel.ts";
import { judgeRelease, membersOf } from "../releases/judge.ts";
import type { ReleaseFactsRow } from "../releases/queries.ts";
import type { ChannelRow } from "../source-queries.ts";

interface RetentionInput {
  releases: readonly ReleaseFactsRow[];
  channels: readonly ChannelRow[];
  sorting: Sorting;
  /** Version History Count: how many are kept of each channel, and of those that no channel takes at present. */
  keep: number;
  /** Never removed: what runs, what a snapshot names, what upstream has just listed (it would come back at once). */
  isKept: (release: ReleaseFactsRow) => boolean;
}

/** The releases to remove. A channel's latest is always among those kept. */
export function surplusReleases(input: RetentionInput): readonly ReleaseFactsRow[] {
  const { releases, channels, sorting, keep } = input;
  const kept = new Set<string>();
  const keepFirst = (ordered: readonly ReleaseFactsRow[]) => {
    for (const release of ordered.slice(0, keep)) kept.add(release.id);
  };
  for (const channel of channels) keepFirst(membersOf(releases, channel, sorting));
  // What a narrowed pattern hides comes back when it is widened again, so it has a place of its own.
  const hidden = releases.filter((release) => !channels.some((channel) => judgeRelease(release, channel).accepted));
  keepFirst(orderReleases(hidden, sorting));
  return releases.filter((release) => !kept.has(release.id) && !input.isKept(release));
}
