import * as v from "valibot";
import type { Journal } from "../journal.ts";
import { noRestart, restartPolicyOf } from "./carry.ts";
import { type ContainerInspect, isRunning } from "./objects.ts";
import type { RawObject } from "./raw.ts";
import type { EngineStep } from "./steps.ts";

/** Written before the first change, so that the previous container can be restored. No secrets. */
const TargetFacts = v.object({
  old_id: v.nullable(v.string()),
  /** Whether the previous container is to run once restored, and the new one once in place. */
  was_running: v.boolean(),
  is_to_run: v.boolean(),
  /** The new one runs once to its end; absent otherwise, and from earlier versions. */
  is_job: v.optional(v.boolean()),
  old_started_at: v.nullable(v.string()),
  restart_policy: v.record(v.string(), v.unknown()),
  next_restart_policy: v.record(v.string(), v.unknown()),
});
export type TargetFacts = v.InferOutput<typeof TargetFacts>;

export function targetFacts(
  old: ContainerInspect | null,
  isToRun: boolean,
  nextPolicy: RawObject | null,
  isOwed = false,
): TargetFacts {
  const policy = old === null ? noRestart : restartPolicyOf(old);
  return {
    old_id: old?.Id ?? null,
    was_running: old !== null && (isRunning(old) || isOwed),
    is_to_run: isToRun,
    old_started_at: old?.State.StartedAt ?? null,
    restart_policy: policy,
    next_restart_policy: nextPolicy ?? policy,
  };
}

/** The newest facts in the journal, or null if the run never touched the target. */
export function factsOf(journal: Journal): TargetFacts | null {
  for (const entry of [...journal.entries()].reverse()) {
    // Runs of earlier versions wrote it with the pull.
    if (entry.step !== "create" && entry.step !== "pull") continue;
    const facts = v.safeParse(TargetFacts, entry.facts);
    if (facts.success) return facts.output;
  }
  return null;
}

export function hasEntry(
  journal: Journal,
  step: EngineStep,
  ...phases: readonly ("begin" | "finish" | "fail")[]
): boolean {
  return journal.entries().some((entry) => entry.step === step && phases.includes(entry.phase));
}
