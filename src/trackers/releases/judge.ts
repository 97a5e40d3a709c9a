import type { Accept } from "../../sources/source.ts";
import {
  type ChannelRules,
  choicesAmong,
  chooseLatest,
  type Judgement,
  judge,
  orderReleases,
  type Sorting,
  type Stage,
} from "../../versions/channel.ts";
import { classify } from "../../versions/classify.ts";
import { maturityOf, placeOf } from "../../versions/maturity.ts";
import type { ChannelType } from "../schema.ts";
import type { ChannelRow } from "../source-queries.ts";
import type { ReleaseFactsRow } from "./queries.ts";

/** What decides a channel's members, both stored and as entered. */
export interface ChannelRulesInput {
  include_pattern: string;
  exclude_pattern: string;
  release_type?: "release" | "prerelease" | null;
}

type Judged = Pick<ReleaseFactsRow, "tag" | "stage">;
type Dated = Judged & Pick<ReleaseFactsRow, "published_at" | "first_observed_at">;

/** A channel whose type decides which of its members becomes its latest. */
export interface AimedChannel extends ChannelRulesInput {
  type: ChannelType;
}

export function rulesOf(channel: ChannelRulesInput): ChannelRules {
  return {
    include: channel.include_pattern,
    exclude: channel.exclude_pattern,
    release_type: channel.release_type ?? null,
  };
}

/** The channel's verdict on a release, or on a bare tag. */
export function judgeRelease(release: Judged, channel: ChannelRulesInput): Judgement {
  return judge(release, rulesOf(channel));
}

/**
 * The releases of a channel, the latest first. Membership is never stored, so edited rules apply at once. Only the rules decide it; the
 * channel's type decides the order, so a stable channel without a pattern has its releases before its pre-releases.
 */
export function membersOf<T extends Dated>(releases: readonly T[], channel: AimedChannel, sorting: Sorting): T[] {
  return orderReleases(acceptedBy(releases, channel), sorting, channel.type);
}

export function latestOfChannel<T extends Dated>(
  releases: readonly T[],
  channel: AimedChannel,
  sorting: Sorting,
): T | null {
  return chooseLatest(acceptedBy(releases, channel), sorting, channel.type);
}

/** The channel's latest, followed by the members that may replace it while it is too young. */
export function choicesOf<T extends Dated>(releases: readonly T[], channel: AimedChannel, sorting: Sorting): T[] {
  return choicesAmong(acceptedBy(releases, channel), sorting, channel.type);
}

/**
 * What a source must fetch for a channel: the versions that its type prefers have their own quota, so that thirty nightly builds do not
 * push the release out of the fetch depth, nor thirty releases the last candidate.
 */
export function acceptsOf(channel: AimedChannel): Accept[] {
  const isMember: Accept = (tag, stage) => judgeRelease({ tag, stage }, channel).accepted;
  const maturity = (tag: string, stage: Stage) => maturityOf(classify(tag), stage === "prerelease");
  const isPreferred: Accept = (tag, stage) => placeOf(maturity(tag, stage), channel.type) === 0 && isMember(tag, stage);
  const isUnfinished: Accept = (tag, stage) => maturity(tag, stage) !== "release" && isMember(tag, stage);
  return channel.type === "stable" ? [isPreferred, isMember] : [isPreferred, isUnfinished, isMember];
}

function acceptedBy<T extends Judged>(releases: readonly T[], channel: ChannelRulesInput): T[] {
  const rules = rulesOf(channel);
  return releases.filter((release) => judge(release, rules).accepted);
}

/** The names of the channels that a release belongs to. */
export function channelNamesOf(release: Judged, channels: readonly ChannelRow[]): string[] {
  return channels.filter((channel) => judgeRelease(release, channel).accepted).map((channel) => channel.name);
}
