import {
  type ChannelRules,
  chooseLatest,
  type Judgement,
  judge,
  orderReleases,
  type Sorting,
} from "../versions/channel.ts";
import type { ReleaseFactsRow } from "./release-queries.ts";
import type { ChannelType } from "./schema.ts";
import type { ChannelRow } from "./source-queries.ts";

/** What decides about a channel's members, as it is stored and as it is typed. */
export interface ChannelRulesInput {
  include_pattern: string;
  exclude_pattern: string;
  release_type?: "release" | "prerelease" | null;
}

type Judged = Pick<ReleaseFactsRow, "tag" | "stage">;
type Dated = Judged & Pick<ReleaseFactsRow, "published_at" | "first_observed_at">;

export function rulesOf(channel: ChannelRulesInput): ChannelRules {
  return {
    include: channel.include_pattern,
    exclude: channel.exclude_pattern,
    release_type: channel.release_type ?? null,
  };
}

/** The channel's verdict on a release, or on a bare tag of which nothing is known. */
export function judgeRelease(release: Judged, channel: ChannelRulesInput): Judgement {
  return judge(release, rulesOf(channel));
}

/** The releases that belong to a channel, the latest first. Membership is never stored: an edited rule applies at once. */
export function membersOf<T extends Dated>(releases: readonly T[], channel: ChannelRulesInput, sorting: Sorting): T[] {
  const rules = rulesOf(channel);
  return orderReleases(
    releases.filter((release) => judge(release, rules).accepted),
    sorting,
  );
}

export function latestOfChannel<T extends Dated>(
  releases: readonly T[],
  channel: ChannelRulesInput,
  sorting: Sorting,
): T | null {
  const rules = rulesOf(channel);
  return chooseLatest(
    releases.filter((release) => judge(release, rules).accepted),
    sorting,
  );
}

/** The types of the channels that a release belongs to. */
export function typesOf(release: Judged, channels: readonly ChannelRow[]): ChannelType[] {
  return channels.filter((channel) => judgeRelease(release, channel).accepted).map((channel) => channel.type);
}

/** One name for a version that sources write differently: `v1.2.3` in git is `1.2.3` in a registry. */
export function plainVersion(version: string): string {
  return /^[vV]\d/.test(version) ? version.slice(1) : version;
}
