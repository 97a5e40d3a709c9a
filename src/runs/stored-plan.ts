import * as v from "valibot";
import type { ConnectionService } from "../connections/service.ts";
import { detailOf } from "../executors/plan-schema.ts";
import type { JournalEntry } from "../runtimes/journal.ts";
import { containerOf } from "../runtimes/journal-times.ts";
import type { PlanDetail, PlannedPart, UpdatePlan } from "../runtimes/plan.ts";
import type { TargetKind } from "../runtimes/target-kind.ts";

/** The fields that are read back from a run's stored plan. */
export interface StoredPlan extends Pick<UpdatePlan, "services" | "owed"> {
  kind: TargetKind;
  parts: readonly PlannedPart[];
  detail: PlanDetail;
}

const PlanColumn = v.looseObject({
  ref: v.object({ kind: v.string() }),
  services: v.array(
    v.object({
      service: v.string(),
      from: v.object({
        reference: v.string(),
        digest: v.nullable(v.string()),
        image_id: v.string(),
        is_running: v.boolean(),
      }),
      to: v.object({ reference: v.string(), digest: v.nullable(v.string()), is_running: v.boolean() }),
    }),
  ),
  owed: v.optional(v.array(v.string()), []),
});

/** The plan stored with a run; null if there is none. */
export function storedPlan(column: unknown, findKind: ConnectionService["targetKind"]): StoredPlan | null {
  const parsed = v.safeParse(PlanColumn, column);
  if (!parsed.success) return null;
  const { ref, services, owed } = parsed.output;
  const kind = findKind(ref.kind);
  const detail = detailOf(parsed.output);
  return { kind, services, owed, detail, parts: kind.parts(detail) };
}

/** The steps that change what runs. */
export function touchingSteps({ steps }: TargetKind): readonly string[] {
  return steps.filter(({ touches }) => touches).map(({ name }) => name);
}

/** Whether the run changed what runs. */
export function hasTouched(kind: TargetKind, entries: readonly JournalEntry[]): boolean {
  const touching = touchingSteps(kind);
  return entries.some(({ step }) => touching.includes(step));
}

/** The part at which an update failed; null if there is only one to choose from. */
export function failedPart(plan: StoredPlan | null, entries: readonly JournalEntry[]): string | null {
  if (plan === null || plan.parts.length < 2) return null;
  const failed = entries.findLast((entry) => entry.phase === "fail");
  return failed === undefined ? null : containerOf(failed);
}
