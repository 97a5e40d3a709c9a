import * as v from "valibot";
import { runStates } from "../db/tables.ts";
import {
  FieldDiffView,
  FileNoticeView,
  OutageView,
  PlannedServiceView,
  type Serving,
  type SkipReason,
  servings,
  skipReasons,
  triggers,
} from "../executors/schema.ts";
import type { ExecutorSettings } from "../executors/service.ts";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { issue, type Message, says } from "../messages/message.ts";
import { MessageSchema, ProblemSchema, withSaid } from "../messages/schema.ts";
import { partOutcomes } from "../runtimes/runtime.ts";

export type { StepKind } from "../runtimes/runtime.ts";
export { runStates, type Serving, servings };

export const runKinds = ["update", "rollback"] as const;

/** Why a run failed; skips have their own reasons. */
export const failureReasons = [
  /** The target's plan is no longer the one that was consented to. */
  "target_changed",
  "unreachable",
  "rate_limited",
  "pull_failed",
  "snapshot_failed",
  "update_failed",
  "unhealthy",
  /** The process ended in the middle of the run. */
  "interrupted",
  /** Neither version could be brought to run. */
  "target_down",
  "snapshot_missing",
  "internal_error",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** What is to be said of a run that succeeded. */
export const remarks = ["left_stopped", "started_again"] as const;

/** Why a run that is due has not started yet; not an end. */
const waitReasons = ["waiting_for_connection", "waiting_for_runtime", "waiting_for_window"] as const;

export const reasonCodes = [...skipReasons, ...failureReasons, ...remarks, ...waitReasons] as const;

export interface Reason {
  code: SkipReason | FailureReason | (typeof remarks)[number];
  message: Message;
}

/** A reason without what it says of the whole target as it is now: for places that tell this themselves. */
export function withoutServing(reason: Message): Message {
  return says(reason, "runs.with_serving") ? reason.params.reason : reason;
}

export interface NewAutomaticRun {
  executor_id: string;
  trigger: "immediate" | "window";
  desired_revision: string;
  attempt: number;
}

const PlanHash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, issue("runs.plan_hash_wanted")));

/** What an evaluation sees while a run of its executor waits. */
export interface SeenWhileWaiting {
  settings: ExecutorSettings;
  /** The plan as it would be now; null when there is none. */
  plan_hash: string | null;
  desired_revision: string | null;
  /** Why nothing would be done now; null when something would. */
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
  /** Counts up within the run; with `progress` it is that of the step before. */
  seq: v.number(),
  step: v.string(),
  /** `progress` is not stored: it is what a pull has reached. */
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
  /** `awaiting`: it goes on only with consent to the plan of `plan_hash`, given before `approval_until`. */
  approval: v.nullable(v.picklist(["awaiting", "approved"])),
  approval_until: NullableInstant,
  serving: v.nullable(v.picklist(servings)),
  downtime_ms: v.nullable(v.number()),
  ready_ms: v.nullable(v.number()),
  progress: v.nullable(v.record(v.string(), v.unknown())),
  created_at: Instant,
  started_at: NullableInstant,
  /** When it reached its end state. Its backups are removed after that. */
  ended_at: NullableInstant,
  /** When removing the backups is tried next; null if nothing is left, or after a day without success. */
  cleanup_due_at: NullableInstant,
  /** Null for a run that left nothing down. */
  outage: v.nullable(OutageView),
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
    /** From its stop to the next start of anything under its name; null when it was not stopped. */
    downtime_ms: v.nullable(v.number()),
    /** What went wrong with it. */
    detail: v.nullable(v.string()),
    detail_data: v.nullable(MessageSchema),
    /** Whether the run failed because of it; the others were put back with it. */
    is_cause: v.optional(v.boolean(), false),
  }),
);
export type RunContainer = v.InferOutput<typeof RunContainer>;

/** With the plan that was performed, every step so far, and at the end what was done to each container. */
export const RunDetailView = v.object({
  ...entries,
  containers: v.array(RunContainer),
  plan: v.nullable(v.record(v.string(), v.unknown())),
  steps: v.array(RunStepView),
});
export type RunDetailView = v.InferOutput<typeof RunDetailView>;

/** Plans of earlier versions have no files, or sentences in English alone. */
const ShownPlan = v.object({
  services: v.array(PlannedServiceView),
  diff: v.array(v.object({ ...FieldDiffView.entries, because: v.fallback(FieldDiffView.entries.because, "desired") })),
  carried: v.optional(v.record(v.string(), v.number()), {}),
  files: v.optional(v.array(withSaid("message", FileNoticeView)), []),
  warnings: v.optional(v.array(ProblemSchema), []),
});

/** What pages show of the plan that a run performed; null for a run that ended before there was one. */
export function planOf({ plan }: Pick<RunDetailView, "plan">): v.InferOutput<typeof ShownPlan> | null {
  const parsed = v.safeParse(ShownPlan, plan);
  return parsed.success ? parsed.output : null;
}

export const SnapshotView = v.object({
  id: v.string(),
  executor_id: v.string(),
  executor: v.string(),
  /** The run before whose update it was captured. */
  run_id: v.nullable(v.string()),
  reference: v.string(),
  digest: v.nullable(v.string()),
  image_id: v.string(),
  /** Every image that it needs: of a group there are several. */
  image_ids: v.array(v.string()),
  size_bytes: v.number(),
  is_locked: v.boolean(),
  created_at: Instant,
});
export type SnapshotView = v.InferOutput<typeof SnapshotView>;

/** With the configuration; the values of environment variables are masked. */
export const SnapshotDetailView = v.object({ ...SnapshotView.entries, content: v.unknown() });
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
  /** True when what runs is as the snapshot says. */
  is_noop: v.boolean(),
  /** What restoring it would change, so nothing where `is_noop`; values that look like secrets are masked. */
  diff: v.array(FieldDiffView),
  /** Files that will say something else than what runs, with what to write into them. */
  files: v.array(FileNoticeView),
  refusals: v.array(ProblemSchema),
  warnings: v.array(ProblemSchema),
  /** What it needs; one that is not on the runtime has to be pulled. Null: nobody could tell. */
  images: v.array(v.object({ id: v.string(), is_present: v.nullable(v.boolean()) })),
  /** The plan that a restore would carry out now: give it with the run, and it does just this. */
  plan_hash: v.string(),
  checked_at: Instant,
});
export type SnapshotDiffView = v.InferOutput<typeof SnapshotDiffView>;
