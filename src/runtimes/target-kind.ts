import type { Message } from "../messages/types.ts";
import type { PlannedContainer } from "./containers-detail.ts";
import type { JournalEntry } from "./journal.ts";
import type { PlanDetail, PlannedPart } from "./plan.ts";
import type { Artifact } from "./target.ts";

/** What all targets of a kind share; declared by the runtimes that have them. */
export interface TargetKind {
  kind: string;
  /** "Container", "Deployment". */
  title: Message;
  /** Whether a target has several services, and its parts may be targets themselves. */
  is_group: boolean;
  /**
   * Whether the runtime itself replaces what runs and judges the result. Such targets have no start order, no measured downtime, and no
   * snapshots unless the kind has `saved_as`; their sessions have `settle`.
   */
  is_declarative: boolean;
  /** For a declarative kind whose runs save the previous state: its name on pages. */
  saved_as?: Message;
  /** Whether the runtime itself keeps trying to run the desired state: then Tidemark does not retry a target that a run left down. */
  keeps_trying?: boolean;
  /** What its services run. */
  artifact: Artifact["kind"];
  /** In the order in which a run takes these steps. */
  steps: readonly StepKind[];
  /** The parts that a run works on, in start order; read from a plan's detail. */
  parts(detail: PlanDetail): readonly PlannedPart[];
  /** What was done to each part; null for a kind with one part, or if the run ended before it reached any part. */
  outcomes?(detail: PlanDetail, entries: readonly JournalEntry[]): readonly PartOutcome[] | null;
}

/**
 * `updated`: it runs its new artifact; `moved`: it was recreated because another one was replaced; `put_back`: the previous one was
 * restored; `removed`: the previous one is gone and was not replaced; `down`: it could not be started.
 */
export const partOutcomes = ["updated", "moved", "put_back", "untouched", "removed", "down"] as const;

export interface PartOutcome {
  /** The part's name. */
  container: string;
  service: string;
  because: PlannedContainer["because"];
  outcome: (typeof partOutcomes)[number];
  /** From its stop to the next start of anything under its name; null if it was not stopped. */
  downtime_ms: number | null;
  /** Why it failed. */
  detail: string | null;
  detail_data: Message | null;
  /** Whether the run failed because of this part; the others were restored with it. */
  is_cause: boolean;
}

/**
 * A step that runs of a kind of target journal. Downtime lasts from `stop` to `start`; `undo` restores the previous version. The facts
 * name the `container` if a step concerns one of several parts.
 */
export interface StepKind {
  name: string;
  /** Steps with the same name here are shown as one. */
  shown_as?: string;
  /** Whether it changes what runs; a run that took no such step has touched nothing. */
  touches: boolean;
  /** Whether a run in progress lists it ahead. */
  is_expected: boolean;
  /** `prepare`: for all parts together, before the snapshot; `change`: for each part; `finish`: for each part, after the health check. */
  phase: "prepare" | "change" | "finish";
  /** Its name before, during and after it. */
  words: Readonly<Record<"waiting" | "running" | "done" | "failed", Message>>;
}
