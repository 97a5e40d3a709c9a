import * as v from "valibot";
import { NullableInstant } from "../../forms/inputs.ts";

/** What one host allows one credential, beside what the trackers ask of it. */
export const UpstreamView = v.object({
  host: v.string(),
  credential_id: v.nullable(v.string()),
  /** How many enabled sources are checked there. */
  sources: v.number(),
  /** When every source is checked as often as it is set to be; tags that executors run come on top. */
  requests_per_hour: v.number(),
  /** Those of them that the host's rate limit counts. */
  quota_per_hour: v.number(),
  /** As the host's answers said last, else as it is documented; null where nothing is known. */
  hourly_limit: v.nullable(v.number()),
  /** From the last answer's headers; null where it had none. */
  limit: v.nullable(v.number()),
  remaining: v.nullable(v.number()),
  reset_at: NullableInstant,
  /** No request is sent before this time; null when there is no block. */
  blocked_until: NullableInstant,
  observed_at: NullableInstant,
  /** How often each source can be checked when they share the limit fairly; null when the limit is no hindrance. */
  fair_interval_minutes: v.nullable(v.number()),
});
export type UpstreamView = v.InferOutput<typeof UpstreamView>;

export const UpstreamsView = v.object({ items: v.array(UpstreamView) });
