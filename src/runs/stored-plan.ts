import * as v from "valibot";
import type { StoredPlan } from "./context.ts";

const PlanColumn = v.object({
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
  containers: v.optional(
    v.array(
      v.object({
        name: v.string(),
        service: v.string(),
        because: v.picklist(["desired", "shares", "restarts"]),
        is_running: v.boolean(),
      }),
    ),
    [],
  ),
  owed: v.optional(v.array(v.string()), []),
});

/** What is read again of a plan that was stored with its run; null where there is none. */
export function storedPlan(column: unknown): StoredPlan | null {
  const parsed = v.safeParse(PlanColumn, column);
  return parsed.success ? parsed.output : null;
}
