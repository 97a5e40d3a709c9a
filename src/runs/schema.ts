import * as v from "valibot";
import { runStates } from "../db/tables.ts";
import { type SkipReason, skipReasons } from "../executors/observation-schema.ts";
import { OutageView, servings } from "../executors/outage-schema.ts";
import { FieldDiffView, FileNoticeView, PlannedServiceView } from "../executors/plan-schema.ts";
import type { ExecutorSettings } from "../executors/service.ts";
import { triggers } from "../executors/settings-schema.ts";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { anyText, type ListShape } from "../forms/page.ts";
import { issue, type Message, says } from "../messages/message.ts";
import { MessageSchema, ProblemSchema, withSaid } from "../messages/schema.ts";
import { partOutcomes } from "../runtimes/target-kind.ts";

export { runStates };

export const runKinds = ["update", "rollback"] as const;

/** Why a run failed; skips have their own reasons. */
export const failureReasons = [
  /** The plan is no longer the approved one. */
  "target_changed",
  "unreachable",
  "rate_limited",
  "pull_failed",
  "snapshot_failed",
  "update_failed",
  "unhealthy",
  /** The process ended during the run. */
  "interrupted",
  /** Neither version could be started. */
  "target_down",
  "snapshot_missing",
  "internal_error",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Remarks on a run that succeeded. */
const remarks = ["left_stopped", "started_again"] as const;

/** Why a due run has not started yet; these do not end it. */
const waitReasons = ["waiting_for_connection", "waiting_for_runtime", "waiting_for_window"] as const;

export const reasonCodes = [...skipReasons, ...failureReasons, ...remarks, ...waitReasons] as const;

export interface Reason {
  code: SkipReason | FailureReason | (typeof remarks)[number];
  message: Message;
}

/** A reason without the target's current state, for places that show that themselves. */
export function withoutServing(reason: Message): Message {
  return says(reason, "runs.with_serving") ? reason.params.reason : reason;
}

export interface NewAutomaticRun {
  executor_id: string;
  trigger: "immediate" | "window";
  desired_revision: string;
  attempt: number;
}

export const PlanHash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, issue("runs.plan_hash_wanted")));

/** What an evaluation finds while a run of its executor waits. */
export interface SeenWhileWaiting {
  settings: ExecutorSettings;
  /** Hash of the plan as of now; null if there is none. */
  plan_hash: string | null;
  desired_revision: string | null;
  /** Why a run would do nothing now; null if it would do something. */
  unmet: Message | null;
}

export const RunInput = v.strictObject({
  plan_hash: v.optional(
    v.pipe(
      PlanHash,
      v.title("Plan"),
      v.description(
        "The run is refused if the plan's hash has changed by then. It approves a downgrade, and a rollback that replaces an unknown container",
      ),
    ),
  ),
  newest_run_id: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
      v.title("Newest run"),
      v.description(
        "The executor's `newest_run_id` as last read: refused if there has been another run since, so that sending it twice starts one run",
      ),
    ),
  ),
  ignore_window: v.optional(v.pipe(v.boolean(), v.title("Ignore the maintenance window")), true),
  snapshot_id: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(64),
      v.title("Snapshot"),
      v.description("Rolls back to this snapshot instead of updating"),
    ),
  ),
});
export type RunInput = v.InferOutput<typeof RunInput>;

export const decisions = ["approve", "refuse"] as const;

export const ApprovalInput = v.strictObject({
  decision: v.optional(
    v.pipe(
      v.picklist(decisions),
      v.title("Decision"),
      v.metadata({ option_titles: { approve: "Approve", refuse: "Refuse" } }),
    ),
    "approve",
  ),
  plan_hash: v.pipe(
    PlanHash,
    v.title("Plan"),
    v.description("Hash of the plan that you decide on; refused if it is no longer the run's"),
  ),
});
export type ApprovalInput = v.InferOutput<typeof ApprovalInput>;

export const RunStepView = v.object({
  /** Increases within the run; with `progress` it is that of the previous step. */
  seq: v.number(),
  step: v.string(),
  /** `progress` is not stored: it reports how far the step has got. */
  phase: v.picklist(["begin", "finish", "fail", "progress"]),
  facts: v.record(v.string(), v.unknown()),
  at: Instant,
});
export type RunStepView = v.InferOutput<typeof RunStepView>;

const Version = v.object({ tag: v.nullable(v.string()), digest: v.nullable(v.string()) });

const entries = {
  id: v.string(),
  executor_id: v.string(),
  executor: v.string(),
  kind: v.picklist(runKinds),
  state: v.picklist(runStates),
  trigger: v.picklist(triggers),
  attempt: v.number(),
  reason_code: v.nullable(v.picklist(reasonCodes)),
  reason: v.nullable(v.string()),
  reason_data: v.nullable(MessageSchema),
  from: Version,
  to: Version,
  snapshot_id: v.nullable(v.string()),
  ignore_window: v.boolean(),
  plan_hash: v.nullable(v.string()),
  /** `awaiting`: continues only once the plan of `plan_hash` is approved, before `approval_until`. */
  approval: v.nullable(v.picklist(["awaiting", "approved"])),
  approval_until: NullableInstant,
  serving: v.nullable(v.picklist(servings)),
  downtime_ms: v.nullable(v.number()),
  ready_ms: v.nullable(v.number()),
  progress: v.nullable(v.record(v.string(), v.unknown())),
  created_at: Instant,
  started_at: NullableInstant,
  /** When it reached its end state; its backups are removed after that. */
  ended_at: NullableInstant,
  /** Next attempt to remove the backups; null if nothing is left, or after a day without success. */
  cleanup_due_at: NullableInstant,
  /** Null if the run left nothing down. */
  outage: v.nullable(OutageView),
};

const runTriggers = ["manual", "immediate", "window"] as const;

export const snapshotList: ListShape = {
  sorts: ["-time", "reference", "size"],
  filters: { lock: ["locked", "unlocked"] },
  texts: { executor_id: anyText },
  searched: "Part of the image, version or digest",
};

export const runList: ListShape = {
  sorts: ["-time", "executor", "downtime"],
  filters: { state: runStates, trigger: runTriggers },
  texts: { executor_id: anyText },
  searched: "Part of the executor's name",
};

export const RunView = v.object(entries);
export type RunView = v.InferOutput<typeof RunView>;

export const RunContainer = withSaid(
  "detail",
  v.object({
    container: v.string(),
    service: v.string(),
    because: v.picklist(["desired", "shares", "restarts"]),
    outcome: v.picklist(partOutcomes),
    /** From its stop to the next start under its name; null if it was not stopped or is still down. */
    downtime_ms: v.nullable(v.number()),
    /** Why it failed. */
    detail: v.nullable(v.string()),
    detail_data: v.nullable(MessageSchema),
    /** Whether the run failed because of it; the others were restored with it. */
    is_cause: v.optional(v.boolean(), false),
  }),
);
export type RunContainer = v.InferOutput<typeof RunContainer>;

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Revision = v.object({ name: v.string(), pods: Count, ready: Count, available: Count });

/** `RolloutProgress` as it is stored with a step's facts or a run's progress. */
export const RolloutView = v.object({
  part: v.string(),
  desired: Count,
  new: Revision,
  old: Revision,
  why: v.nullable(MessageSchema),
  pods: v.array(
    v.object({
      name: v.string(),
      is_new: v.boolean(),
      state: v.picklist(["ready", "starting", "failing", "ending"]),
      restarts: Count,
      why: v.nullable(MessageSchema),
    }),
  ),
  more_pods: Count,
});

/** What a failed container wrote last: masked, and at most 20 lines. */
export const RunLogView = v.object({
  id: v.string(),
  /** Blank for a runtime without pods. */
  pod: v.string(),
  container: v.string(),
  /** Written before its last restart. */
  is_previous: v.boolean(),
  /** Empty if it wrote nothing, or could not be read. */
  lines: v.array(v.string()),
  /** Why it could not be read. */
  why: v.nullable(v.string()),
  why_data: v.nullable(MessageSchema),
  problem: v.pipe(v.nullable(ProblemSchema), v.description("Why the stored lines cannot be decrypted")),
  at: Instant,
});
export type RunLogView = v.InferOutput<typeof RunLogView>;

/** With the plan of the run, every step so far and, at the end, what was done to each container. */
export const RunDetailView = v.object({
  ...entries,
  containers: v.array(RunContainer),
  plan: v.nullable(v.record(v.string(), v.unknown())),
  steps: v.array(RunStepView),
  /** Of the containers that failed. */
  logs: v.array(RunLogView),
});
export type RunDetailView = v.InferOutput<typeof RunDetailView>;

/** Plans of earlier releases lack files, or have sentences in English only. */
const ShownPlan = v.object({
  services: v.array(PlannedServiceView),
  diff: v.array(v.object({ ...FieldDiffView.entries, because: v.fallback(FieldDiffView.entries.because, "desired") })),
  carried: v.optional(v.record(v.string(), v.number()), {}),
  files: v.optional(v.array(withSaid("message", FileNoticeView)), []),
  warnings: v.optional(v.array(ProblemSchema), []),
});

/** What pages show of the plan that a run performed; null if the run ended before it had one. */
export function planOf({ plan }: Pick<RunDetailView, "plan">): v.InferOutput<typeof ShownPlan> | null {
  const parsed = v.safeParse(ShownPlan, plan);
  return parsed.success ? parsed.output : null;
}

export const SnapshotView = v.object({
  id: v.string(),
  executor_id: v.string(),
  executor: v.string(),
  /** The run that captured it before its update. */
  run_id: v.nullable(v.string()),
  reference: v.string(),
  digest: v.nullable(v.string()),
  image_id: v.string(),
  /** All images that it needs; a group has several. */
  image_ids: v.array(v.string()),
  size_bytes: v.number(),
  is_locked: v.boolean(),
  created_at: Instant,
});
export type SnapshotView = v.InferOutput<typeof SnapshotView>;

/** With the configuration; values of environment variables are masked. */
export const SnapshotDetailView = v.object({
  ...SnapshotView.entries,
  content: v.unknown(),
  /** Why its content cannot be read. */
  problem: v.nullable(ProblemSchema),
});
export type SnapshotDetailView = v.InferOutput<typeof SnapshotDetailView>;

export const SnapshotPatch = v.strictObject({
  is_locked: v.pipe(v.boolean(), v.title("Locked"), v.description("A locked snapshot is never removed automatically")),
});

const exportFormats = ["script", "compose"] as const;

export const SnapshotExportQuery = v.strictObject({
  format: v.optional(
    v.pipe(v.picklist(exportFormats), v.description("A shell script for the engine's command line, or a compose file")),
    "script",
  ),
  with_secrets: v.optional(
    v.pipe(
      v.picklist(["true", "false"]),
      v.transform((text) => text === "true"),
      v.description("Without secrets, they become variables to set when restoring"),
    ),
    "false",
  ),
});

export const SnapshotDiffView = v.object({
  snapshot_id: v.string(),
  /** True if what runs matches the snapshot. */
  is_noop: v.boolean(),
  /** What a restore would change, so nothing if `is_noop`; values that look like secrets are masked. */
  diff: v.array(FieldDiffView),
  /** Files that will not match what runs, with the edits that make them match. */
  files: v.array(FileNoticeView),
  refusals: v.array(ProblemSchema),
  warnings: v.array(ProblemSchema),
  /** The images it needs; those not present have to be pulled. Null: unknown. */
  images: v.array(v.object({ id: v.string(), is_present: v.boolean() })),
  /** The plan that a restore would perform now; pass it with the run to get exactly this one. */
  plan_hash: v.string(),
  checked_at: Instant,
});
export type SnapshotDiffView = v.InferOutput<typeof SnapshotDiffView>;
