import * as v from "valibot";
import type { PlanDetail } from "./plan.ts";

/** The containers that a run replaces. */
export const PlannedContainers = v.array(
  v.object({
    name: v.string(),
    /** The target's service; for a container outside the target, its own name. */
    service: v.string(),
    /**
     * `desired`: its service gets another image; `shares`: it shares namespaces, volumes or links with a replaced container and is
     * recreated for the new ID; `restarts`: its compose file asks for a restart with a replaced container.
     */
    because: v.picklist(["desired", "shares", "restarts"]),
    /** Whether it will be started; a running container is never left stopped. */
    is_running: v.boolean(),
  }),
);
export type PlannedContainer = v.InferOutput<typeof PlannedContainers>[number];

/** What a plan for containers has of its own: every replaced container, in the order in which the new ones start. */
export interface ContainersDetail extends PlanDetail {
  containers: readonly PlannedContainer[];
}

/** None for another kind of target, and for a plan from before they were stored. */
export function containersOf({ containers }: PlanDetail): PlannedContainer[] {
  const parsed = v.safeParse(PlannedContainers, containers);
  return parsed.success ? parsed.output : [];
}
