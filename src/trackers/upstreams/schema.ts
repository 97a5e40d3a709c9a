import * as v from "valibot";
import { Instant, NullableInstant } from "../../forms/inputs.ts";
import type { ListShape } from "../../forms/page.ts";
import { MessageSchema, ProblemSchema } from "../../messages/schema.ts";

/** What needs attention first. */
export const upstreamStates = ["not_responding", "waiting", "limit_too_low", "within_limit", "limit_unknown"] as const;
export type UpstreamState = (typeof upstreamStates)[number];

/** Sorted by state, the most strained of one state come first. */
export const upstreamList: ListShape = {
  sorts: ["state", "host", "account", "sources", "requests", "limit", "remaining"],
  filters: { state: upstreamStates },
  searched: "Part of the host or of the credential's name",
};

/** What one host allows one credential, with the load of the trackers. */
export const UpstreamView = v.object({
  host: v.string(),
  credential_id: v.nullable(v.string()),
  state: v.picklist(upstreamStates),
  /** How many enabled sources are checked there. */
  sources: v.number(),
  /** At the set intervals; tags that executors run come on top. */
  requests_per_hour: v.number(),
  /** Those of them that count towards the host's rate limit. */
  quota_per_hour: v.number(),
  /** By the host's last response, else as documented; null when unknown. */
  hourly_limit: v.nullable(v.number()),
  /** From the last response's headers; null without them. */
  limit: v.nullable(v.number()),
  remaining: v.nullable(v.number()),
  reset_at: NullableInstant,
  /** No request is sent before this time; null when there is no block. */
  blocked_until: NullableInstant,
  observed_at: NullableInstant,
  /** How often each source can be checked when they share the limit fairly; null when the limit is no constraint. */
  fair_interval_minutes: v.nullable(v.number()),
});
export type UpstreamView = v.InferOutput<typeof UpstreamView>;

/** Sources that share a cause, named in its row. */
export const MemberSources = v.array(v.object({ tracker: v.string(), source: v.string() }));

/** A time in which a host did not respond: its sources wait together for the next attempt. */
export const UpstreamOutageView = v.object({
  host: v.string(),
  since: Instant,
  /** Attempts that failed, the first failed check included. Checks that failed together count once. */
  failures: v.number(),
  /** When the next source is checked as an attempt; null once the outage is over. */
  next_try_at: NullableInstant,
  ended_at: NullableInstant,
  /** Why the latest attempt failed. */
  error: ProblemSchema,
  /** How many sources of enabled trackers wait for it; zero once it is over. */
  waiting: v.number(),
  /** The first 20 of them, by tracker. */
  sources: MemberSources,
});
export type UpstreamOutageView = v.InferOutput<typeof UpstreamOutageView>;

/** By the `Date` of the host's last response. */
const ClockDifferenceView = v.object({
  host: v.string(),
  /** Positive if this machine's clock is ahead. */
  ms: v.number(),
  message: v.string(),
  message_data: MessageSchema,
});

export const UpstreamsView = v.object({
  items: v.array(UpstreamView),
  next_cursor: v.nullable(v.string()),
  /** Ongoing, the oldest first. */
  outages: v.array(UpstreamOutageView),
  /** Ended in the last 30 days, the latest first; at most 20. */
  past_outages: v.array(UpstreamOutageView),
  /** Hosts whose clock differs from this machine's by five minutes or more, the latest response first; at most 20. */
  clock_differences: v.array(ClockDifferenceView),
});
export type UpstreamsView = v.InferOutput<typeof UpstreamsView>;
