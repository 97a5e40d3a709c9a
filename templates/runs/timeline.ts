import { type Message, saidAt } from "../../src/messages/message.ts";
import type { RunDetailView, RunStepView } from "../../src/runs/schema.ts";
import type { StepKind } from "../../src/runtimes/target-kind.ts";
import type { StepState } from "../components/steps.tsx";
import { isActiveRun } from "./state.tsx";

/** Steps that every run has; the target's kind declares the others. */
const commonSteps = ["queue", "plan", "approval", "snapshot", "verify", "end", "bring_up", "other"] as const;
export type CommonStep = (typeof commonSteps)[number];

export function isCommon(step: string): step is CommonStep {
  return commonSteps.some((known) => known === step);
}

export interface TimelineEntry {
  /** A common step, or one that the target's kind declares; it can stand for several journal entries. */
  step: string;
  state: StepState;
  started_at: number | null;
  ended_at: number | null;
  /** Merged from all its journal entries; later ones win. */
  facts: Readonly<Record<string, unknown>>;
  /** The probes of a health check, or the attempts to bring the target up, oldest first. */
  attempts: readonly RunStepView[];
  /** What failed, in the words of the engine or the probe. */
  error: Message | null;
}

/** The steps of a run without failures: shown in advance while it is in progress, so that nothing below jumps. */
function ahead(kinds: readonly StepKind[]): readonly string[] {
  const expected = (phase: StepKind["phase"]) =>
    kinds.filter((each) => each.is_expected && each.phase === phase).map(shownAs);
  return ["plan", ...expected("prepare"), "snapshot", ...expected("change"), "verify", ...expected("finish")];
}

const shownAs = ({ name, shown_as }: StepKind) => shown_as ?? name;

const states = new Set(["capturing", "updating", "verifying"]);
const ends = new Set(["succeeded", "degraded", "failed", "skipped"]);

function shownStep(kinds: readonly StepKind[], step: string): string {
  if (step === "claim") return "plan";
  if (ends.has(step)) return "end";
  const declared = kinds.find(({ name }) => name === step);
  if (declared !== undefined) return shownAs(declared);
  return isCommon(step) ? step : "other";
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** What was done to one of several containers. */
export interface ContainerTimeline {
  container: string;
  state: StepState;
  started_at: number | null;
  ended_at: number | null;
  parts: readonly TimelineEntry[];
}

/** A run on several containers: the shared steps, and between them each container on its own. */
export interface GroupTimeline {
  before: readonly TimelineEntry[];
  containers: readonly ContainerTimeline[];
  after: readonly TimelineEntry[];
}

function containerOf(item: RunStepView): string | null {
  return text(item.facts.container);
}

/** The names of a run's containers in plan order; without a plan, those in the journal. */
export function containersIn(run: RunDetailView): readonly string[] {
  const planned = Array.isArray(run.plan?.containers) ? run.plan.containers : [];
  const names = planned.flatMap((each) => text(each?.name) ?? []);
  return names.length > 0 ? names : [...new Set(run.steps.flatMap((item) => containerOf(item) ?? []))];
}

/** Null for a run on one container, which is shown step by step. */
export function groupTimelineOf(run: RunDetailView, kinds: readonly StepKind[]): GroupTimeline | null {
  const names = containersIn(run);
  if (names.length < 2) return null;
  const ofParts = new Set(kinds.filter(({ phase }) => phase !== "prepare").map(shownAs));
  const order = ahead(kinds);
  const early = new Set(["queue", "approval", ...order.slice(0, order.indexOf("snapshot") + 1)]);
  const isOwn = (item: RunStepView) => containerOf(item) !== null && ofParts.has(shownStep(kinds, item.step));
  const steps = toldSteps(run.steps);
  const shared = withAhead(
    run,
    kinds,
    entriesOf(
      kinds,
      steps.filter((item) => !isOwn(item)),
    ),
  ).filter(({ step, state }) => state !== "waiting" || !ofParts.has(step));
  const isActive = isActiveRun(run);
  return {
    before: shared.filter(({ step }) => early.has(step)),
    containers: names.map((container) => {
      const parts = entriesOf(
        kinds,
        steps.filter((item) => isOwn(item) && containerOf(item) === container),
      );
      return { container, parts, ...spanOf(parts, isActive) };
    }),
    after: shared.filter(({ step }) => !early.has(step)),
  };
}

function spanOf(parts: readonly TimelineEntry[], isActive: boolean): Omit<ContainerTimeline, "container" | "parts"> {
  return {
    state: stateOf(parts, isActive),
    started_at: parts[0]?.started_at ?? null,
    ended_at: parts.at(-1)?.ended_at ?? null,
  };
}

function stateOf(parts: readonly TimelineEntry[], isActive: boolean): StepState {
  if (parts.length === 0) return isActive ? "waiting" : "skipped";
  if (parts.some(({ state }) => state === "failed")) return "failed";
  const undo = parts.find(({ step }) => step === "undo");
  if (undo !== undefined) return undo.state === "done" ? "undone" : undo.state;
  if (parts.some(({ step, state }) => step === "start" && state === "done")) return "done";
  return isActive ? "running" : "skipped";
}

/** The journal of a run as steps in order: from `begin` to `finish` or `fail`, followed by those to come. */
export function timelineOf(run: RunDetailView, kinds: readonly StepKind[]): readonly TimelineEntry[] {
  return withAhead(run, kinds, entriesOf(kinds, toldSteps(run.steps)));
}

/** An attempt after the end shows only its result: its work on containers would mix with the run's own steps. */
function toldSteps(steps: readonly RunStepView[]): readonly RunStepView[] {
  const first = steps.findIndex(({ step }) => step === "bring_up");
  if (first === -1) return steps;
  const isTold = ({ step }: RunStepView) => step === "bring_up" || step === "remove_old";
  return [...steps.slice(0, first), ...steps.slice(first).filter(isTold)];
}

function entriesOf(kinds: readonly StepKind[], items: readonly RunStepView[]): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  const at = (step: string) => entries.findIndex((entry) => entry.step === step);
  const put = (step: string, change: Partial<TimelineEntry>) => {
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

  for (const item of items) {
    const found = entries[at(shownStep(kinds, item.step))];
    const facts = { ...found?.facts, ...item.facts };
    // A run released after planning checks its plan again; the step keeps its first time.
    if (item.step === "claim" && found?.state === "done") continue;
    // The plan is done once the run has moved on; later steps report for themselves.
    if (states.has(item.step)) {
      if (entries[at("plan")]?.state === "running") put("plan", { state: "done", ended_at: item.at });
    } else if (item.step === "probe") {
      const verify = entries[at("verify")];
      put("verify", { attempts: [...(verify?.attempts ?? []), item], started_at: verify?.started_at ?? item.at });
    } else if (item.step === "commit" || item.step === "failure" || item.step === "serving") {
      // The run itself shows its end and reason.
    } else if (ends.has(item.step)) {
      closeOpen(entries, item);
      put("end", { state: item.phase === "fail" ? "failed" : "done", started_at: item.at, facts: item.facts });
    } else if (item.phase === "begin") {
      const step = shownStep(kinds, item.step);
      put(step, { state: "running", started_at: found?.started_at ?? item.at, ended_at: null, facts });
    } else {
      const step = shownStep(kinds, item.step);
      const isHalf = item.step === "rename_old" && item.phase === "finish";
      const tries = step === "bring_up" ? [...(found?.attempts ?? []), item] : (found?.attempts ?? []);
      put(step, {
        state: item.phase === "fail" ? "failed" : isHalf ? "running" : "done",
        started_at: found?.started_at ?? item.at,
        ended_at: item.at,
        facts,
        attempts: tries,
        error:
          item.phase === "fail"
            ? (saidAt(item.facts, "error") ?? saidAt(item.facts, "detail") ?? saidAt(item.facts, "message"))
            : null,
      });
    }
  }
  return entries;
}

function withAhead(
  run: RunDetailView,
  kinds: readonly StepKind[],
  entries: readonly TimelineEntry[],
): readonly TimelineEntry[] {
  if (!isActiveRun(run)) return entries;
  const at = (step: string) => entries.findIndex((entry) => entry.step === step);
  const isTurningBack = entries.some((entry) => entry.step === "undo");
  const missing = isTurningBack ? [] : ahead(kinds).filter((step) => at(step) === -1);
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

/** A step in progress when the run ended got no further; without an error of its own it shows the run's reason. */
function closeOpen(entries: TimelineEntry[], end: RunStepView): void {
  for (const [index, entry] of entries.entries()) {
    if (entry.state !== "running") continue;
    const isSkipped = end.step === "skipped" || end.step === "succeeded";
    entries[index] = {
      ...entry,
      state: isSkipped ? "skipped" : "failed",
      ended_at: end.at,
      error: entry.error ?? saidAt(end.facts, "reason"),
    };
  }
}
