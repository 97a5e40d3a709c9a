import * as v from "valibot";
import { Instant, NullableInstant } from "../../forms/inputs.ts";
import { issue } from "../../messages/message.ts";
import { jumps } from "../../versions/backtest.ts";
import { channelRules } from "../../versions/channel.ts";
import { patchProofs } from "../../versions/line-patches.ts";
import { maturities } from "../../versions/maturity.ts";
import { ReleaseView } from "../releases/schema.ts";
import { ChannelTypeSchema } from "../schema.ts";
import { UpstreamView } from "../upstreams/schema.ts";

const Verdict = v.object({
  /** The channel's. */
  name: v.string(),
  type: ChannelTypeSchema,
  accepted: v.boolean(),
  /** The rule that decided; see the names. */
  rule: v.picklist(channelRules),
  pattern: v.nullable(v.string()),
  /** Where in the tag the pattern matched, in UTF-16 code units. */
  range: v.nullable(v.object({ start: v.number(), end: v.number() })),
});
export type Verdict = v.InferOutput<typeof Verdict>;

export const PreviewView = v.object({
  /** How many names upstream lists. */
  total: v.number(),
  /** How many have a publish time, from upstream or stored; a version without one has no day. */
  dated_count: v.number(),
  /** The newest by version, each judged by every channel; at most 500. */
  tags: v.array(
    v.object({
      tag: v.string(),
      published_at: NullableInstant,
      maturity: v.picklist(maturities),
      verdicts: v.array(Verdict),
    }),
  ),
  channels: v.array(
    v.object({
      name: v.string(),
      type: ChannelTypeSchema,
      accepted_count: v.number(),
      refused_count: v.number(),
      /**
       * By the chosen sorting when every accepted version has a publish time or predates the first check of a tracker of the same address;
       * else by version.
       */
      latest: v.nullable(v.string()),
      /** Days on which the latest would have changed, newest first; at most 50. */
      steps: v.array(
        v.object({
          tag: v.string(),
          previous: v.nullable(v.string()),
          at: Instant,
          jump: v.picklist(jumps),
          /** What an automatic run would have replaced; null for the first. */
          installed_from: v.nullable(v.string()),
          /** Whether an automatic run would have installed it. */
          is_installed: v.boolean(),
        }),
      ),
      /**
       * With sorting by publish time: evidence that the project patches older lines, so that such a patch would become the latest; null
       * without evidence. `published`: versions were published after a higher one; `built`: they use a later base system than a higher one;
       * `listed`: there are older lines with patches, and no publish times.
       */
      older_lines: v.nullable(
        v.object({
          proof: v.picklist(patchProofs),
          count: v.number(),
          /** At most three. */
          examples: v.array(
            v.object({ tag: v.string(), at: NullableInstant, after: v.string(), after_at: NullableInstant }),
          ),
          /** The highest version of each of the highest lines, at most four. */
          lines: v.array(v.string()),
        }),
      ),
      /** How many of all these days were a step of each kind. */
      jump_counts: v.record(v.picklist(jumps), v.number()),
    }),
  ),
  /** When the names were listed; a listing is cached for ten minutes. */
  listed_at: Instant,
  /** Requests that checks of this source would send to its upstream, together with all other sources there. */
  cost: v.object({
    requests_per_hour: v.number(),
    quota_per_hour: v.number(),
    upstream: UpstreamView,
  }),
});
export type PreviewView = v.InferOutput<typeof PreviewView>;

export const ExplanationQuery = v.object({
  tag: v.pipe(
    v.string(),
    v.minLength(1, issue("trackers.tag_wanted")),
    v.maxLength(1000),
    v.description("The raw tag, known or not"),
  ),
});

export const ExplanationView = v.object({
  tracker: v.string(),
  tag: v.string(),
  sources: v.array(
    v.object({
      key: v.string(),
      /** The stored release; null when no check has fetched it. */
      release: v.nullable(ReleaseView),
      channels: v.array(
        v.object({
          ...Verdict.entries,
          /** Stored and accepted, but not every source has the version, as the channel requires. */
          waits_for_agreement: v.boolean(),
          /** Its rank among the channel's stored releases, 1 is the latest; null when not stored, not accepted, or waiting. */
          rank: v.nullable(v.number()),
          latest: v.nullable(v.string()),
        }),
      ),
    }),
  ),
});
export type ExplanationView = v.InferOutput<typeof ExplanationView>;
