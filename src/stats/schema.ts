import * as v from "valibot";
import { OutageView, servings } from "../executors/outage-schema.ts";
import { triggers } from "../executors/settings-schema.ts";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { MessageSchema, type Problem, ProblemSchema } from "../messages/schema.ts";
import { reasonCodes, runKinds, runStates } from "../runs/schema.ts";
import { BehindView } from "../trackers/schema.ts";
import { MemberSources, UpstreamOutageView } from "../trackers/upstreams/schema.ts";

/** What one service of an executor runs from a tracker, as last observed. */
export interface TrackerUse {
  tracker_id: string;
  executor_id: string;
  executor: string;
  service: string;
  /** The channel's name. */
  channel: string;
  is_enabled: boolean;
  /** Null until it was observed. */
  current: { tag: string | null; digest: string | null } | null;
  desired: { tag: string; digest: string | null } | null;
  /** Null when it is current, and when the versions cannot be compared. */
  behind: BehindView | null;
  /** `unknown`: not observed yet, not reachable, or not comparable. */
  state: "current" | "update" | "unknown";
  /** Why it is unknown; null if it is not, and until it was observed. */
  problem: Problem | null;
}

const Version = v.object({ tag: v.nullable(v.string()), digest: v.nullable(v.string()) });

const executorEntries = {
  executor_id: v.string(),
  executor: v.string(),
  connection: v.string(),
  target: v.string(),
};

const runEntries = {
  kind: v.picklist(runKinds),
  state: v.picklist(runStates),
  reason_code: v.nullable(v.picklist(reasonCodes)),
  reason: v.nullable(v.string()),
  reason_data: v.nullable(MessageSchema),
  serving: v.nullable(v.picklist(servings)),
  /** What happened to a target that it left down; null when it left nothing down. */
  outage: v.nullable(OutageView),
  approval: v.nullable(v.picklist(["awaiting", "approved"])),
  approval_until: NullableInstant,
  from: Version,
  to: Version,
};

/** An executor whose target differs from the desired state; it waits for somebody, or for what `waiting` says. */
const PendingUpdate = v.object({
  ...executorEntries,
  trigger: v.picklist(triggers),
  /** Identifies the update, without what is skipped: an action on it names it. */
  update_revision: v.nullable(v.string()),
  /** The first service that differs; `more_services` counts the others. */
  service: v.string(),
  from: Version,
  to: Version,
  more_services: v.number(),
  /** All that differ, the first included. */
  services: v.array(v.object({ service: v.string(), from: Version, to: Version, behind: v.nullable(BehindView) })),
  /** When the desired release was published; null when upstream does not say. */
  published_at: NullableInstant,
  waiting: v.nullable(v.object({ reason: v.picklist(["window", "age", "retry"]), until: NullableInstant })),
});
export type PendingUpdate = v.InferOutput<typeof PendingUpdate>;

const badStates = v.picklist(["degraded", "failed"]);

/** A last run that failed or was degraded, without a later success. */
const BadRun = v.object({
  ...executorEntries,
  run_id: v.string(),
  ...runEntries,
  state: badStates,
  downtime_ms: v.nullable(v.number()),
  ended_at: NullableInstant,
  /** Whether it can be dismissed: the previous version runs. */
  is_dismissible: v.boolean(),
});
export type BadRun = v.InferOutput<typeof BadRun>;

/** Several of these that failed alike, for one reason: on the same connection, or with images of the same registry. */
const SharedFailure = v.object({
  kind: runEntries.kind,
  state: badStates,
  /** Whether their targets are down. */
  is_down: v.boolean(),
  reason_code: runEntries.reason_code,
  /** What their reasons have in common; "…" stands for what differs, such as the names of containers. */
  reason: v.string(),
  reason_data: MessageSchema,
  /** The registry of their images, if these could not be pulled. */
  host: v.nullable(v.string()),
  /** Null if the registry is the cause, for which it does not matter. */
  connection: v.nullable(v.string()),
  /** The end of the latest. */
  ended_at: NullableInstant,
  run_count: v.number(),
  /** The first 20 of them, the latest first. */
  runs: v.array(BadRun),
});
export type SharedFailure = v.InferOutput<typeof SharedFailure>;

const FailingSource = v.object({
  tracker: v.string(),
  source: v.string(),
  kind: v.string(),
  host: v.string(),
  failing_since: Instant,
  last_success_at: NullableInstant,
  last_checked_at: NullableInstant,
  next_check_at: Instant,
  error: ProblemSchema,
});
export type FailingSource = v.InferOutput<typeof FailingSource>;

const causeEntries = {
  host: v.string(),
  /** The first failure among these sources. */
  since: Instant,
  error: ProblemSchema,
  /** How many sources of enabled trackers fail because of it. */
  failing: v.number(),
  /** The first 20 of them, the longest failing first. */
  sources: MemberSources,
};

/** A credential that a host refuses: for several sources, or for the only one that uses it there; `error` is that of the first one. */
const RefusedCredential = v.object({ credential_id: v.string(), credential: v.string(), ...causeEntries });
export type RefusedCredential = v.InferOutput<typeof RefusedCredential>;

/**
 * Several sources that fail alike at one host, with one credential or all without: `error` is what their reasons have in common, with "…"
 * for what differs.
 */
const SharedSourceFailure = v.object({
  credential_id: v.nullable(v.string()),
  credential: v.nullable(v.string()),
  ...causeEntries,
});
export type SharedSourceFailure = v.InferOutput<typeof SharedSourceFailure>;

/** A runtime that does not respond, did not when its executors were checked, or was not checked recently. */
const LostConnection = v.object({
  connection_id: v.string(),
  connection: v.string(),
  /** `unknown`: only not checked recently. */
  state: v.picklist(["failing", "unknown"]),
  problem: ProblemSchema,
  executors: v.number(),
  /** When one of their targets was last observed, if known. */
  observed_at: NullableInstant,
  /** When the runtime last responded. */
  seen_at: NullableInstant,
  /** Since when it does not; null if a check of an executor failed and the looks did not. */
  since: NullableInstant,
});
export type LostConnection = v.InferOutput<typeof LostConnection>;

/** An executor whose target is gone or cannot be updated. */
const LostTarget = v.object({ ...executorEntries, problem: ProblemSchema, observed_at: NullableInstant });
export type LostTarget = v.InferOutput<typeof LostTarget>;

/** Targets of one connection that are lost for one reason. */
const SharedLostTargets = v.object({
  connection: v.string(),
  /** Where its message differs from target to target, it has `…` instead. */
  problem: ProblemSchema,
  target_count: v.number(),
  /** The first 20. */
  targets: v.array(LostTarget),
});
export type SharedLostTargets = v.InferOutput<typeof SharedLostTargets>;

const ActiveRun = v.object({
  ...executorEntries,
  run_id: v.string(),
  ...runEntries,
  progress: v.nullable(v.record(v.string(), v.unknown())),
  created_at: Instant,
  started_at: NullableInstant,
});
export type ActiveRun = v.InferOutput<typeof ActiveRun>;

/** The current or next opening of a maintenance window, once for all executors that share it. */
const NextWindow = v.object({
  opens_at: Instant,
  closes_at: Instant,
  is_open: v.boolean(),
  executors: v.number(),
  /** Updates that wait for it. */
  updates: v.number(),
});
export type NextWindow = v.InferOutput<typeof NextWindow>;

/** Runs created on one calendar day of the system time zone. */
const DayOfRuns = v.object({
  /** The first instant of the day. */
  starts_at: Instant,
  succeeded: v.number(),
  degraded: v.number(),
  failed: v.number(),
  skipped: v.number(),
});
export type DayOfRuns = v.InferOutput<typeof DayOfRuns>;

/** Checks that ended on one calendar day of the system time zone. */
const DayOfChecks = v.object({
  /** The first instant of the day. */
  starts_at: Instant,
  succeeded: v.number(),
  failed: v.number(),
});
export type DayOfChecks = v.InferOutput<typeof DayOfChecks>;

/** What an executor did on the last 30 calendar days, today last. */
export interface ExecutorHistory {
  days: readonly {
    starts_at: number;
    /** Degraded runs included. */
    succeeded: number;
    failed: number;
    /** Of all runs of the day. */
    downtime_ms: number;
  }[];
  /** Of the last updates, oldest first: how long after its publication a version was running. */
  lags: readonly { ended_at: number; tag: string; lag_ms: number }[];
}

/** The requests to a host in the last 24 hours, the current one last. */
export interface RequestHours {
  host: string;
  hours: readonly { starts_at: number; requests: number }[];
}

const Sources = v.object({
  /** Of enabled trackers. */
  total: v.number(),
  /** Without those that wait. */
  failing: v.number(),
  /** For a host that does not respond, as in `upstream_outages`. */
  waiting: v.number(),
  /** Not checked yet. */
  pending: v.number(),
  last_checked_at: NullableInstant,
});

/** What a fresh installation still lacks. */
const Setup = v.object({
  has_connection: v.boolean(),
  has_tracker: v.boolean(),
  has_executor: v.boolean(),
  has_notifier: v.boolean(),
});
export type Setup = v.InferOutput<typeof Setup>;

/** What needs attention, what is in progress, and the recent past. Lists hold at most 20 entries; `counts` are complete. */
export const StatsView = v.object({
  counts: v.object({
    trackers: v.number(),
    executors: v.number(),
    connections: v.number(),
    credentials: v.number(),
    notifiers: v.number(),
    /**
     * Things that need attention: `awaiting`, `updates`, `bad_runs`, `shared_failures`, `failing_sources`, `shared_source_failures`,
     * `refused_credentials`, `upstream_outages` and `lost` together.
     */
    needs: v.number(),
    awaiting: v.number(),
    updates: v.number(),
    /** Without those of `shared_failures`. */
    bad_runs: v.number(),
    /** Causes, however many runs failed because of them. */
    shared_failures: v.number(),
    /** Without those of `upstream_outages`, `refused_credentials` and `shared_source_failures`. */
    failing_sources: v.number(),
    /** Causes, however many sources fail because of them. */
    shared_source_failures: v.number(),
    /** Credentials that a host refuses, once per host, however many sources use them. */
    refused_credentials: v.number(),
    /** Hosts that do not respond, however many sources wait for them. */
    upstream_outages: v.number(),
    /** Connections whose targets' state is out of date, and targets that are lost. */
    lost: v.number(),
    /** Of these, the connections that were only not checked recently. */
    unchecked_connections: v.number(),
    /** Of these, the targets, without those of `shared_lost_targets`. */
    lost_targets: v.number(),
    /** Of these, the causes that several targets of a connection share. */
    shared_lost_targets: v.number(),
    active_runs: v.number(),
    waiting: v.number(),
    /** Enabled executors whose state is unknown. */
    unknown: v.number(),
  }),
  sources: Sources,
  /** Ready to start manually, the longest published first. */
  updates: v.array(PendingUpdate),
  /** Those that failed for their own reason. Targets that are down first, then the latest. */
  bad_runs: v.array(BadRun),
  /** In the same order. */
  shared_failures: v.array(SharedFailure),
  /** Those that fail for their own reasons. */
  failing_sources: v.array(FailingSource),
  /** The longest failing first. */
  shared_source_failures: v.array(SharedSourceFailure),
  /** The longest refused first. */
  refused_credentials: v.array(RefusedCredential),
  upstream_outages: v.array(UpstreamOutageView),
  lost_connections: v.array(LostConnection),
  /** Those that are lost for their own reason. */
  lost_targets: v.array(LostTarget),
  shared_lost_targets: v.array(SharedLostTargets),
  /** Runs that wait for approval of their plan, the first to expire first. */
  awaiting: v.array(ActiveRun),
  /** Without those of `awaiting`. */
  active_runs: v.array(ActiveRun),
  /** Updates that start automatically: when a window opens, at a minimum age, with a retry. */
  waiting: v.array(PendingUpdate),
  windows: v.array(NextWindow),
  /** The last 30 calendar days, today last. */
  days: v.array(DayOfRuns),
  /** The same days. An hour counts to the day in which it begins. */
  check_days: v.array(DayOfChecks),
  /** Of the runs in these days that stopped something; null when there were none. */
  median_downtime_ms: v.nullable(v.number()),
  setup: Setup,
});
export type StatsView = v.InferOutput<typeof StatsView>;

/** The numbers on every page. */
export const StatusView = v.object({ needs: v.number(), active_runs: v.number(), sources: Sources });
export type StatusView = v.InferOutput<typeof StatusView>;

export const SearchQuery = v.object({
  q: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(100)), ""),
});

/** At most ten of each kind. */
export const SearchView = v.object({
  query: v.string(),
  /** The search words, in any order. */
  terms: v.array(v.string()),
  trackers: v.array(v.object({ name: v.string(), description: v.string(), images: v.array(v.string()) })),
  executors: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      target: v.string(),
      connection: v.string(),
      /** Of a group: the services that follow a tracker. */
      services: v.array(v.string()),
    }),
  ),
  releases: v.array(
    v.object({
      tracker: v.string(),
      source: v.string(),
      tag: v.string(),
      version: v.string(),
      published_at: NullableInstant,
      first_observed_at: Instant,
    }),
  ),
  runs: v.array(v.object({ id: v.string(), executor: v.string(), ...runEntries, created_at: Instant })),
});
export type SearchView = v.InferOutput<typeof SearchView>;
