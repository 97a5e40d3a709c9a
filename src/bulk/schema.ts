import * as v from "valibot";
import { PlanView } from "../executors/plan-schema.ts";
import type { ExecutorView } from "../executors/schema.ts";
import { type Problem, ProblemSchema } from "../messages/schema.ts";
import { PlanHash } from "../runs/schema.ts";
import type { BreakingStep } from "../trackers/notes/schema.ts";
import type { SourceView, TrackerView } from "../trackers/schema.ts";

/** How many executors or trackers are acted on at once. */
export const maxBulk = 500;

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

const seen = {
  id: Id,
  plan_hash: v.pipe(PlanHash, v.description("Hash of the plan as last read: nothing is done if the plan has changed")),
  newest_run_id: v.pipe(
    v.nullable(Id),
    v.description("The executor's `newest_run_id` as last read: nothing is done if there has been another run since"),
  ),
};
const Seen = v.pipe(v.array(v.strictObject(seen)), v.minLength(1), v.maxLength(maxBulk));
const FailedRuns = v.pipe(
  v.array(v.strictObject({ id: Id, run_id: v.pipe(Id, v.description("The failed run as last read")) })),
  v.minLength(1),
  v.maxLength(maxBulk),
);
const Named = v.pipe(v.array(v.strictObject({ id: Id })), v.minLength(1), v.maxLength(maxBulk));

/** Actions on several executors at once. Repeating one changes nothing, and an executor named twice counts once. */
export const BulkInput = v.variant("action", [
  v.strictObject({
    action: v.pipe(v.literal("update"), v.description("Queues a run of the plan with this hash")),
    executors: Seen,
  }),
  v.strictObject({
    action: v.pipe(v.literal("approve"), v.description("Approves the run that waits for it")),
    executors: Seen,
  }),
  v.strictObject({
    action: v.pipe(v.literal("check"), v.description("Checks the trackers that they follow")),
    executors: Named,
  }),
  v.strictObject({ action: v.literal("enable"), executors: Named }),
  v.strictObject({ action: v.literal("disable"), executors: Named }),
  v.strictObject({ action: v.literal("hold"), executors: Named }),
  v.strictObject({ action: v.literal("resume"), executors: Named }),
  v.strictObject({
    action: v.pipe(
      v.literal("dismiss"),
      v.description("Marks the failed last run as needing no attention, if the previous version is running"),
    ),
    executors: FailedRuns,
  }),
  v.strictObject({ action: v.literal("undismiss"), executors: FailedRuns }),
  v.strictObject({
    action: v.pipe(v.literal("delete"), v.description("With their runs and snapshots; what they update keeps running")),
    executors: Named,
  }),
]);
export type BulkInput = v.InferOutput<typeof BulkInput>;
export type BulkAction = BulkInput["action"];

export const bulkActions = [
  "update",
  "check",
  "approve",
  "hold",
  "resume",
  "dismiss",
  "undismiss",
  "enable",
  "disable",
  "delete",
] as const satisfies readonly BulkAction[];

/** Actions that are confirmed first, because they start runs or cannot be undone. */
export const reviewedActions = ["update", "approve", "delete"] as const satisfies readonly BulkAction[];
export type ReviewedAction = (typeof reviewedActions)[number];

export const BulkPlansInput = v.strictObject({
  executor_ids: v.optional(
    v.pipe(
      v.array(Id),
      v.minLength(1),
      v.maxLength(maxBulk),
      v.description(`All with an update if left out, ${maxBulk} at most`),
    ),
  ),
});

const ShownExecutor = v.object({ id: v.string(), name: v.string() });

export const BulkPlansView = v.object({
  executors: v.array(
    v.object({
      ...ShownExecutor.entries,
      /** What `update` has to name. Null if it would do nothing. */
      plan_hash: v.nullable(v.string()),
      newest_run_id: v.nullable(v.string()),
      /** Why `update` would do nothing; null if it would do something. */
      problem: v.nullable(ProblemSchema),
      /** Why this is not a safe update; empty if it is. */
      unsafe: v.array(ProblemSchema),
      /** Null if there was nothing to plan, or no response in time. */
      plan: v.nullable(PlanView),
    }),
  ),
  /** Executors with an update that are left out. */
  omitted_count: v.number(),
});

export type BulkPlansView = v.InferOutput<typeof BulkPlansView>;

const bulkOutcomes = ["done", "unchanged", "refused"] as const;

export const BulkResultView = v.object({
  action: v.picklist(bulkActions),
  /** In the order of the request. */
  results: v.array(
    v.object({
      ...ShownExecutor.entries,
      /** `unchanged`: it was in this state already. `refused`: nothing was done, `problem` says why; the others are not affected. */
      outcome: v.picklist(bulkOutcomes),
      problem: v.nullable(ProblemSchema),
      /** The run that was queued or approved, or that prevents one. */
      run_id: v.nullable(v.string()),
    }),
  ),
});
export type BulkResultView = v.InferOutput<typeof BulkResultView>;
export type BulkResult = BulkResultView["results"][number];

export const trackerBulkActions = ["check", "enable", "disable", "delete"] as const satisfies readonly BulkAction[];
export type TrackerBulkAction = (typeof trackerBulkActions)[number];

/** Actions on several trackers at once, with the same rules as for executors. */
export const TrackerBulkInput = v.strictObject({ action: v.picklist(trackerBulkActions), trackers: Named });

/** What happened to each of several executors or trackers. */
export interface BulkOutcome<Action extends BulkAction> {
  action: Action;
  results: readonly BulkResult[];
}

/** One tracker before it is deleted. */
export interface TrackerReview {
  tracker: Pick<TrackerView, "id" | "name"> & { sources: readonly Pick<SourceView, "config" | "host">[] };
  /** Why it does not take part; null if it does. */
  problem: Problem | null;
}

/** One executor before it is acted on. */
export interface BulkReview {
  executor: ExecutorView;
  /** Why it does not take part; null if it does. */
  problem: Problem | null;
  unsafe: readonly Problem[];
  /** For an update and an approval. */
  plan_hash: string | null;
  /** For an update: what a run would do; null without a plan. */
  plan: PlanView | null;
  /** Breaking changes that the release notes announce in between. */
  breaking: readonly BreakingStep[];
}
