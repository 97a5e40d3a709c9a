import * as v from "valibot";
import type { PlanDetail, PlannedContainer } from "./runtime.ts";

/** What a plan for containers has of its own: every replaced container, in the order in which the new ones start. */
export interface ContainersDetail extends PlanDetail {
  containers: readonly PlannedContainer[];
}

export const PlannedContainers = v.array(
  v.object({
    name: v.string(),
    service: v.string(),
    because: v.picklist(["desired", "shares", "restarts"]),
    is_running: v.boolean(),
  }),
);

/** None for another kind of target, and for a plan from before they were stored. */
export function containersOf({ containers }: PlanDetail): v.InferOutput<typeof PlannedContainers> {
  const parsed = v.safeParse(PlannedContainers, containers);
  return parsed.success ? parsed.output : [];
}
