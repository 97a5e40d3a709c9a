import { setImmediate as nextTurn } from "node:timers/promises";
import { type FieldErrors, invalidInput } from "../../errors.ts";
import { parseInput } from "../../forms/issues.ts";
import { givingWay } from "../../give-way.ts";
import type { SourceKind } from "../../sources/source.ts";
import { type BacktestStep, backtest, type Jump } from "../../versions/backtest.ts";
import type { Sorting } from "../../versions/channel.ts";
import { classify } from "../../versions/classify.ts";
import { findLinePatches } from "../../versions/line-patches.ts";
import { maturityOf } from "../../versions/maturity.ts";
import { TooCostly } from "../../work-budget.ts";
import { type AimedChannel, judgeRelease, latestOfChannel } from "../releases/judge.ts";
import type { trackerSchemas } from "../schema.ts";
import type { StoredTimes } from "../upstreams/queries.ts";
import type { UpstreamView } from "../upstreams/schema.ts";
import { type ListedVersion, type PreviewListingOptions, previewListings } from "./listing.ts";
import type { PreviewView } from "./schema.ts";

const maxTagsShown = 500;
/** The newest of a channel that are replayed day by day: the work is quadratic. */
const maxPlayed = 200;
const maxSteps = 50;

interface PreviewOptions extends PreviewListingOptions {
  schemas: ReturnType<typeof trackerSchemas>;
  /** Refuses an unknown credential and one of another kind, naming the field. */
  requireCredential: (kind: string, id: string | null) => Promise<void>;
  /** When versions of this address were published or first seen, if it is already tracked. */
  storedTimes: (kind: SourceKind, config: Readonly<Record<string, unknown>>) => Promise<StoredTimes>;
  /** The upstream's load with a source of this cost added, and its limits. */
  upstreamWith: (source: {
    kind: SourceKind;
    config: unknown;
    credential_id: string | null;
    check_interval_minutes: number;
    has_fallback: boolean;
    channel_count: number;
  }) => Promise<{ requests_per_hour: number; quota_per_hour: number; upstream: UpstreamView }>;
}

/** What a source's rules would pick from upstream, and would have picked in the past, without storing anything. */
export function trackerPreviews(options: PreviewOptions) {
  const listings = previewListings(options);

  const datedVersions = async (
    versions: readonly ListedVersion[],
    kind: SourceKind,
    config: Readonly<Record<string, unknown>>,
  ): Promise<readonly ListedVersion[]> => {
    if (options.registry[kind].tells_publish_times === true) return versions;
    const { by_tag, baseline_at } = await options.storedTimes(kind, config);
    return versions.map((version) => ({
      ...version,
      published_at: version.published_at ?? by_tag.get(version.tag) ?? null,
      ...(baseline_at === null ? {} : { first_observed_at: baseline_at }),
    }));
  };

  return {
    /** Applies the given rules to upstream's names. Throws 422 for an invalid rule, 424 `upstream_failed` with upstream's text. */
    preview: async (input: unknown): Promise<PreviewView> => {
      const parsed = parseInput(options.schemas.PreviewInput, input);
      const { kind, config, credential_id, channels, sorting, check_interval_minutes } = parsed;
      await options.requireCredential(kind, credential_id);
      const need = credential_id === null ? options.registry[kind].credentialNeed?.(config) : null;
      // As on saving: upstream is not asked what it is known to refuse.
      if (need !== null && need !== undefined) throw invalidInput({ credential_id: need });
      const listing = listings.listingOf({ kind, config, credential_id }, parsed.release_fallback);
      const versions = await datedVersions(await listings.versionsOf(listing), kind, config);
      const judged = await judgeVersions(versions, channels, sorting).catch((error: unknown) => {
        throw error instanceof TooCostly ? new TooCostly(error.pattern, fieldsOf(error, channels)) : error;
      });
      return {
        total: versions.length,
        dated_count: versions.filter(({ published_at }) => published_at !== null).length,
        ...judged,
        listed_at: listing.listed_at,
        cost: await options.upstreamWith({
          kind,
          config,
          credential_id,
          check_interval_minutes,
          has_fallback: parsed.release_fallback,
          channel_count: channels.length,
        }),
      };
    },
  };
}

interface NamedChannel extends AimedChannel {
  name: string;
}

/** Each version by each channel's rules, and the result for each channel. */
async function judgeVersions(
  versions: readonly ListedVersion[],
  channels: readonly NamedChannel[],
  sorting: Sorting,
): Promise<Pick<PreviewView, "tags" | "channels">> {
  const accepted = new Map<string, ListedVersion[]>(channels.map((channel) => [channel.name, []]));
  const tags: PreviewView["tags"] = [];
  const giveWay = givingWay();
  for (const [position, version] of versions.entries()) {
    await giveWay();
    const verdicts = channels.map((channel) => ({
      name: channel.name,
      type: channel.type,
      ...judgeRelease(version, channel),
    }));
    for (const verdict of verdicts) if (verdict.accepted) accepted.get(verdict.name)?.push(version);
    if (position < maxTagsShown) {
      const { tag, stage, published_at } = version;
      tags.push({ tag, published_at, maturity: maturityOf(classify(tag), stage === "prerelease"), verdicts });
    }
  }
  const views: PreviewView["channels"] = [];
  for (const channel of channels) {
    await nextTurn();
    const taken = accepted.get(channel.name) ?? [];
    const refused_count = versions.length - taken.length;
    const { name, type } = channel;
    views.push({ name, type, refused_count, ...channelResult(taken, channel, sorting) });
  }
  return { tags, channels: views };
}

/** The fields of the pattern that exhausted the budget. */
function fieldsOf({ pattern, said }: TooCostly, channels: readonly AimedChannel[]): FieldErrors {
  const members = ["include_pattern", "exclude_pattern"] as const;
  return Object.fromEntries(
    channels.flatMap((channel, position) =>
      members.filter((member) => channel[member] === pattern).map((member) => [`channels.${position}.${member}`, said]),
    ),
  );
}

/** A channel's latest now, and the days on which it would have changed. */
function channelResult(taken: readonly ListedVersion[], channel: AimedChannel, sorting: Sorting) {
  // With only some times known, sorting is by version: each counts as published at once.
  const isDated = taken.every(
    ({ published_at, first_observed_at }) => (published_at ?? first_observed_at ?? null) !== null,
  );
  const timed = taken.map(({ first_observed_at = 0, ...version }) => ({
    ...version,
    published_at: isDated ? version.published_at : null,
    first_observed_at: isDated ? first_observed_at : 0,
  }));
  const played = taken
    .filter(({ published_at }) => published_at !== null)
    .toSorted((a, b) => (b.published_at ?? 0) - (a.published_at ?? 0))
    .slice(0, maxPlayed)
    .map((version) => ({ ...version, first_observed_at: 0 }));
  const steps = backtest(played, (published) => latestOfChannel(published, channel, sorting)).reverse();
  return {
    accepted_count: taken.length,
    latest: latestOfChannel(timed, channel, sorting)?.tag ?? null,
    older_lines: sorting === "publish_time" ? findLinePatches(taken, channel.type) : null,
    steps: steps.slice(0, maxSteps),
    jump_counts: countJumps(steps),
  };
}

function countJumps(steps: readonly BacktestStep[]): Record<Jump, number> {
  const counts = { first: 0, none: 0, downgrade: 0, prerelease: 0, variant: 0, incomparable: 0 };
  for (const { jump } of steps) counts[jump] += 1;
  return counts;
}
