import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";

/** Why another version of a service runs than before. */
const versionCauses = ["first_seen", "run", "rolled_back", "outside"] as const;
export type VersionCause = (typeof versionCauses)[number];

/** A version of a service, from when to when it was running. */
export const VersionSpanView = v.object({
  service: v.string(),
  /** Of the image or the chart; null if the target had no such service. */
  reference: v.nullable(v.string()),
  tag: v.nullable(v.string()),
  digest: v.nullable(v.string()),
  /** Why it runs: by a run, `rolled_back` by one, changed `outside` Tidemark, or already there at the first look. */
  cause: v.picklist(versionCauses),
  run_id: v.nullable(v.string()),
  from_at: Instant,
  /** Null if it is the last one seen. */
  until_at: NullableInstant,
});
export type VersionSpanView = v.InferOutput<typeof VersionSpanView>;

/** Of one of the executors that follow a tracker. */
export interface VersionSpanUnderTracker extends VersionSpanView {
  executor_id: string;
  executor: string;
}

/** The newest first; at most 200, and at most 50 of each service. */
export const VersionSpansView = v.object({ items: v.array(VersionSpanView) });
