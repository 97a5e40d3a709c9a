import * as v from "valibot";
import { TargetServiceView } from "../connections/schema.ts";
import { say, told } from "../messages/message.ts";
import { MessageSchema, type Problem, ProblemSchema } from "../messages/schema.ts";
import { PlannedContainers } from "../runtimes/containers-detail.ts";
import type { UpdateStep } from "../trackers/notes/schema.ts";
import { ServiceObservation, ShownTarget, UnmetView } from "./observation-schema.ts";

/** One setting that a plan changes, in the runtime's own terms. */
export const FieldDiffView = v.object({
  service: v.string(),
  path: v.string(),
  before: v.nullable(v.string()),
  after: v.nullable(v.string()),
  because: v.picklist(["desired", "image", "chart", "runtime"]),
});

/** A file that will not match what runs, with the edit that makes it match. */
export const FileNoticeView = v.object({
  service: v.string(),
  path: v.nullable(v.string()),
  patch: v.string(),
  is_readable: v.boolean(),
  message: v.string(),
  message_data: MessageSchema,
});

export const PlannedServiceView = v.object({
  service: v.string(),
  from: v.object({ reference: v.string(), digest: v.nullable(v.string()), image_id: v.string() }),
  to: v.object({ reference: v.string(), digest: v.nullable(v.string()) }),
});

/** A stored plan's detail. Earlier releases stored its members beside the common ones. */
export function detailOf(plan: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { detail } = plan;
  return typeof detail === "object" && detail !== null ? { ...detail } : plan;
}

/** What a run would do now. */
export const PlanView = v.object({
  target: ShownTarget,
  services: v.array(ServiceObservation),
  unbound: v.array(TargetServiceView),
  /** The first condition that a run would not meet; null if it could start. */
  unmet: v.nullable(UnmetView),
  /** The version is not an onward move, such as a downgrade; a run for it is approved by sending the plan's hash. */
  is_downgrade: v.boolean(),
  /** Null if an unmet condition leaves nothing to plan. */
  plan: v.nullable(
    v.object({
      hash: v.string(),
      is_noop: v.boolean(),
      services: v.array(PlannedServiceView),
      /** Every container that is replaced, in the order in which the new ones start; none for other kinds of target. */
      containers: v.optional(PlannedContainers, []),
      /** The plan's detail, in the form of the target's kind. */
      detail: v.optional(v.record(v.string(), v.unknown()), {}),
      order: v.picklist(["stop_first", "start_first"]),
      drain_seconds: v.number(),
      /** Files that will not match what runs, with the edits that make them match. */
      files: v.array(FileNoticeView),
      diff: v.array(FieldDiffView),
      carried: v.record(v.string(), v.number()),
      refusals: v.array(ProblemSchema),
      warnings: v.array(ProblemSchema),
    }),
  ),
  /** The median of the last runs that stopped something, five at most; null before the first. */
  expected_downtime_ms: v.nullable(v.number()),
  /** How many runs the median is from. */
  expected_downtime_runs: v.number(),
});
export type PlanView = v.InferOutput<typeof PlanView>;

/** Why a manual run of this plan would do nothing; null if it would do something. A downgrade is approved by the plan's hash. */
export function whyNoRun({ plan, unmet }: PlanView): Problem | null {
  const reason = unmet ?? plan?.refusals[0] ?? null;
  if (reason !== null) return reason;
  if (plan !== null && !plan.is_noop) return null;
  return { code: "already_current", ...told(say("executors.already_current")) };
}

/** The moves of a plan that was made now. */
export function stepsOfPlan({ services }: Pick<PlanView, "services">): readonly UpdateStep[] {
  return services.flatMap(({ tracker, source, channel, found, desired }) => {
    const from = found?.tag ?? null;
    if (from === null || desired === null || desired.tag === from) return [];
    return [{ tracker, source, channel, from, to: desired.tag }];
  });
}
