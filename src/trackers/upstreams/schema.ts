import * as v from "valibot";
import { NullableInstant } from "../../forms/inputs.ts";

/** What one host allows one credential, with the load of the trackers. */
export const UpstreamView = v.object({
  host: v.string(),
  credential_id: v.nullable(v.string()),
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

export const UpstreamsView = v.object({ items: v.array(UpstreamView) });
