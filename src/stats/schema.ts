import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";

/** What one service of an executor runs of a tracker, as last observed. */
export interface TrackerUse {
  tracker_id: string;
  executor_id: string;
  executor: string;
  service: string;
  channel: "stable" | "prerelease" | "beta" | "canary";
  is_enabled: boolean;
  /** Null while nobody could look. */
  current: { tag: string | null; digest: string | null } | null;
  desired: { tag: string; digest: string | null } | null;
  /** `unknown`: not looked at yet, not reachable, or not to be compared. */
  state: "current" | "update" | "unknown";
}

/** A source whose last check failed. */
export interface FailingSource {
  id: string;
  tracker: string;
  key: string;
  host: string;
  error: { code: string; message: string };
  failing_since: number | null;
  last_success_at: number | null;
  next_check_at: number;
}

export const DayView = v.object({
  /** The day in the system time zone, as `2026-11-20`. */
  day: v.string(),
  /** The start of that day's first quarter of an hour that has a run, or noon UTC of a day that has none. */
  noon_at: Instant,
  succeeded: v.number(),
  degraded: v.number(),
  failed: v.number(),
  skipped: v.number(),
});
export type DayView = v.InferOutput<typeof DayView>;

export const BudgetView = v.object({
  host: v.string(),
  /** Null where nobody is signed in. */
  credential: v.nullable(v.string()),
  limit: v.nullable(v.number()),
  remaining: v.nullable(v.number()),
  reset_at: NullableInstant,
  /** Nothing is asked before this time; null when there is no block. */
  blocked_until: NullableInstant,
  observed_at: Instant,
});
export type BudgetView = v.InferOutput<typeof BudgetView>;

export const StatsView = v.object({
  trackers: v.object({ total: v.number(), disabled: v.number() }),
  sources: v.object({
    total: v.number(),
    failing: v.number(),
    pending: v.number(),
    /** Of all of them, when one was last checked. */
    last_checked_at: NullableInstant,
  }),
  executors: v.object({
    total: v.number(),
    /** Waiting for a person: an update without a run to come, a failed or degraded run, a target that cannot be looked at. */
    need_you: v.number(),
  }),
  runs: v.object({
    active: v.number(),
    /** The last 30 days in the system time zone, the oldest first. */
    days: v.array(DayView),
    /** Over the same days; null when nothing was stopped. */
    median_downtime_ms: v.nullable(v.number()),
  }),
  connections: v.number(),
  notifiers: v.number(),
  budgets: v.array(BudgetView),
});
export type StatsView = v.InferOutput<typeof StatsView>;

export const SearchQuery = v.object({
  q: v.pipe(v.string(), v.trim(), v.maxLength(200, "Use at most 200 characters")),
});

export interface SearchResults {
  trackers: readonly { name: string; description: string; hosts: readonly string[] }[];
  executors: readonly { id: string; name: string; target: string; connection: string }[];
  releases: readonly { tracker: string; source_key: string; version: string; tag: string; seen_at: number }[];
  runs: readonly {
    id: string;
    executor: string;
    kind: "update" | "rollback";
    state: string;
    reason_code: string | null;
    reason: string | null;
    serving: string | null;
    from: { tag: string | null; digest: string | null };
    to: { tag: string | null; digest: string | null };
    created_at: number;
  }[];
}
