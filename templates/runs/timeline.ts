import type { RunDetailView, RunStepView } from "../../src/runs/schema.ts";
import type { StepState } from "../components/steps.tsx";
import { isActiveRun } from "./state.tsx";

/** The steps as people see them; several entries of the journal can belong to one. */
export const shownSteps = [
  "queue",
  "plan",
  "approval",
  "pull",
  "snapshot",
  "create",
  "stop",
  "rename",
  "start",
  "verify",
  "undo",
  "end",
  "remove_old",
  "other",
] as const;
export type ShownStep = (typeof shownSteps)[number];

export interface TimelineEntry {
  step: ShownStep;
  state: StepState;
  started_at: number | null;
  ended_at: number | null;
  /** Of all its journal entries; later ones win. */
  facts: Readonly<Record<string, unknown>>;
  /** The single probes of a health check, the first first. */
  attempts: readonly RunStepView[];
  /** What went wrong, in the words of the engine or the probe. */
  error: string | null;
}

/** What a run does when nothing goes wrong: shown ahead while it goes on, so that nothing below jumps. */
const ahead: readonly ShownStep[] = [
  "plan",
  "pull",
  "snapshot",
  "create",
  "stop",
  "rename",
  "start",
  "verify",
  "remove_old",
];

const states = new Set(["capturing", "updating", "verifying"]);
const ends = new Set(["succeeded", "degraded", "failed", "skipped"]);

function shownStep(step: string): ShownStep {
  if (step === "claim") return "plan";
  if (step === "rename_old" || step === "rename_new") return "rename";
  if (ends.has(step)) return "end";
  return shownSteps.find((known) => known === step) ?? "other";
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The journal of a run as steps in their order: from `begin` to `finish` or `fail`, and what is still to come. */
export function timelineOf(run: RunDetailView): readonly TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  const at = (step: ShownStep) => entries.findIndex((entry) => entry.step === step);
  const put = (step: ShownStep, change: Partial<TimelineEntry>) => {
    const index = at(step);
    const found = entries[index];
    if (found === undefined) {
      entries.push({
        step,
        state: "running",
        started_at: null,
        ended_at: null,
        facts: {},
        attempts: [],
        error: null,
        ...change,
      });
    } else entries[index] = { ...found, ...change };
  };

  for (const item of run.steps) {
    const found = entries[at(shownStep(item.step))];
    const facts = { ...found?.facts, ...item.facts };
    // The plan is done when the run has moved on; what comes after is told by its own steps.
    if (states.has(item.step)) {
      if (entries[at("plan")]?.state === "running") put("plan", { state: "done", ended_at: item.at });
    } else if (item.step === "probe") {
      const verify = entries[at("verify")];
      put("verify", { attempts: [...(verify?.attempts ?? []), item], started_at: verify?.started_at ?? item.at });
    } else if (item.step === "commit" || item.step === "failure" || item.step === "serving") {
      // The end and the reason are told by the run itself.
    } else if (ends.has(item.step)) {
      closeOpen(entries, item);
      put("end", { state: item.phase === "fail" ? "failed" : "done", started_at: item.at, facts: item.facts });
    } else if (item.phase === "begin") {
      const step = shownStep(item.step);
      // A run that was given back makes its plan anew: what it waited for between is no part of that.
      const started_at = item.step === "claim" ? item.at : (found?.started_at ?? item.at);
      put(step, { state: "running", started_at, ended_at: null, facts });
    } else {
      const step = shownStep(item.step);
      const isHalf = item.step === "rename_old" && item.phase === "finish";
      put(step, {
        state: item.phase === "fail" ? "failed" : isHalf ? "running" : "done",
        started_at: found?.started_at ?? item.at,
        ended_at: item.at,
        facts,
        error:
          item.phase === "fail"
            ? (text(item.facts.error) ?? text(item.facts.detail) ?? text(item.facts.message))
            : null,
      });
    }
  }
  if (!isActiveRun(run)) return entries;
  const isTurningBack = entries.some((entry) => entry.step === "undo");
  const missing = isTurningBack ? [] : ahead.filter((step) => at(step) === -1);
  return [
    ...entries,
    ...missing.map((step) => ({
      step,
      state: "waiting" as const,
      started_at: null,
      ended_at: null,
      facts: {},
      attempts: [],
      error: null,
    })),
  ];
}

/** A step that was going on when the run ended did not get further; the plan's fault is the run's reason. */
function closeOpen(entries: TimelineEntry[], end: RunStepView): void {
  for (const [index, entry] of entries.entries()) {
    if (entry.state !== "running") continue;
    const isSkipped = end.step === "skipped" || end.step === "succeeded";
    entries[index] = {
      ...entry,
      state: isSkipped ? "skipped" : "failed",
      ended_at: end.at,
      error: entry.error ?? text(end.facts.reason),
    };
  }
}
