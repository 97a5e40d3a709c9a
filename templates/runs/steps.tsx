import type { Child } from "hono/jsx";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { type Message, saidAt } from "../../src/messages/message.ts";
import { planOf, type RunContainer, type RunDetailView, type RunStepView } from "../../src/runs/schema.ts";
import type { StepKind } from "../../src/runtimes/target-kind.ts";
import { Code, withCode } from "../components/code.tsx";
import { Progress } from "../components/progress.tsx";
import { type Step, Steps } from "../components/steps.tsx";
import { Duration, Time } from "../components/time.tsx";
import { Digest, Reference } from "../components/version.tsx";
import { carriedCount } from "../executors/plan.tsx";
import { formatBytes, formatDuration, formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { leadsBack, Rollout, rolloutIn } from "./rollout.tsx";
import { isActiveRun, outageWords, runWords } from "./state.tsx";
import {
  type ContainerTimeline,
  containersIn,
  groupTimelineOf,
  isCommon,
  type TimelineEntry,
  timelineOf,
} from "./timeline.ts";

/** Attempts shown individually; earlier ones are only counted. */
const shownAttempts = 5;

interface RunStepsProps {
  ctx: PageContext;
  run: RunDetailView;
  /** `is_group`: it has several services, which the words of shared steps must reflect. */
  target: Pick<ExecutorView["target"], "is_group" | "is_declarative">;
  /** The steps that the target's kind declares. */
  kinds: readonly StepKind[];
}

interface StepProps extends RunStepsProps {
  /** Parsed once for all steps. */
  plan: ReturnType<typeof planOf>;
}

/** What the runtime replaces by itself has no snapshot, and its rollout is its health check. */
function isToCome({ target }: RunStepsProps, { step, state }: TimelineEntry): boolean {
  return !target.is_declarative || state !== "waiting" || (step !== "snapshot" && step !== "verify");
}

/** The steps so far and those to come. Each step keeps its ID, so that an event changes it in place. */
export function RunSteps(given: RunStepsProps) {
  const { ctx, run, kinds } = given;
  const props: StepProps = { ...given, plan: planOf(run) };
  const group = groupTimelineOf(run, kinds);
  const steps =
    group === null
      ? timelineOf(run, kinds)
          .filter((entry) => isToCome(props, entry))
          .map((entry) => stepOf(props, entry))
      : [
          ...group.before.map((entry) => stepOf(props, entry)),
          ...group.containers.map((each, index) => containerStep(props, each, index)),
          ...group.after.map((entry) => stepOf(props, entry)),
        ];
  return <Steps ctx={ctx} id="run-steps" steps={steps} />;
}

/** One container of several: its outcome, with its own steps below. */
function containerStep({ ctx, run, kinds }: RunStepsProps, each: ContainerTimeline, index: number): Step {
  const t = texts(ctx).runs;
  const { container, state, started_at, parts } = each;
  const told = run.containers.find((found) => found.container === container);
  const error = told?.detail_data ?? parts.findLast((part) => part.error !== null)?.error ?? null;
  return {
    id: `step-container-${index}`,
    state: told === undefined ? state : containerState(told),
    title: (
      <>
        <span class="version">{container}</span> {told?.is_cause === true ? <b>{t.container_cause}</b> : null}
        {told?.is_cause === true ? (ctx.language === "zh" ? "，" : ", ") : null}
        {told === undefined
          ? null
          : run.kind === "rollback" && told.outcome === "updated"
            ? t.container_rolled_back
            : t.container_outcomes[told.outcome]}
      </>
    ),
    started_at,
    duration_ms: workOf(each),
    ...optional(
      "detail",
      joined([
        told === undefined || told.because === "desired" ? null : t.container_because[told.because],
        told === undefined || told.downtime_ms === null
          ? null
          : texts(ctx).common.down(formatDuration(ctx.language, told.downtime_ms)),
      ]),
    ),
    ...optional(
      "content",
      parts.length === 0 && error === null ? null : (
        <ContainerParts ctx={ctx} kinds={kinds} parts={parts} error={error} />
      ),
    ),
  };
}

/** The time spent on this container: between its steps others had theirs, and at the end all were watched. */
function workOf({ ended_at, parts }: ContainerTimeline): number | null {
  if (ended_at === null) return null;
  return parts.reduce((sum, part) => {
    const { started_at: from, ended_at: to } = part;
    return from === null || to === null ? sum : sum + durationOf(part, to - from);
  }, 0);
}

/** Highlights the container that the run failed for, or that is down; the others only went along. */
function containerState({ outcome, is_cause }: RunContainer): Step["state"] {
  if (is_cause || outcome === "down") return "failed";
  if (outcome === "updated" || outcome === "moved") return "done";
  return outcome === "put_back" ? "undone" : "skipped";
}

interface ContainerPartsProps {
  ctx: PageContext;
  kinds: readonly StepKind[];
  parts: readonly TimelineEntry[];
  error: Message | null;
}

function ContainerParts({ ctx, kinds, parts, error }: ContainerPartsProps) {
  return (
    <div class="probes">
      {error === null ? null : <EngineSays ctx={ctx} text={error} />}
      {parts.map((part) => (
        <p class="meta">
          {part.started_at === null ? null : (
            <span>
              <Time ctx={ctx} at={part.started_at} form="precise" />
            </span>
          )}
          <span>{partWords(ctx, kinds, part)}</span>
          {part.started_at === null || part.ended_at === null ? null : (
            <span>
              <Duration ctx={ctx} ms={durationOf(part, part.ended_at - part.started_at)} />
            </span>
          )}
        </p>
      ))}
    </div>
  );
}

/** Each step has words for each state; a skipped or undone one uses those of waiting. */
type StepWord = keyof StepKind["words"];

function keyOf(state: Step["state"]): StepWord {
  return state === "skipped" || state === "undone" ? "waiting" : state;
}

function wordsOf(ctx: PageContext, kinds: readonly StepKind[], step: string): Readonly<Record<StepWord, string>> {
  const declared = kinds.find(({ name, shown_as }) => (shown_as ?? name) === step)?.words;
  const t = texts(ctx).runs.steps;
  if (declared === undefined) return t[isCommon(step) ? step : "other"];
  const said = (state: StepWord) => translateMessage(ctx.language, declared[state]);
  return { waiting: said("waiting"), running: said("running"), done: said("done"), failed: said("failed") };
}

/** The action, and for a wait what it waited for. */
function partWords(ctx: PageContext, kinds: readonly StepKind[], { step, state, facts }: TimelineEntry): string {
  const t = texts(ctx).runs;
  if (step === "end") return "";
  const key = keyOf(state);
  if (step === "wait" && facts.job === true) return t.job[key];
  const words = wordsOf(ctx, kinds, step)[key];
  if (step === "undo" && facts.is_remade === true) return `${words} (${t.remade})`;
  return step === "wait" && typeof facts.for === "string" ? `${words} (${facts.for})` : words;
}

function stepOf(props: StepProps, entry: TimelineEntry): Step {
  const { ctx, run } = props;
  const { step, state, started_at, ended_at } = entry;
  const isInstant = step === "queue" || step === "end";
  return {
    id: `step-${step}`,
    state,
    title: titleOf(props, entry),
    started_at,
    duration_ms:
      started_at === null || ended_at === null || isInstant ? null : durationOf(entry, ended_at - started_at),
    ...optional("detail", joined(detailOf(props, entry))),
    ...optional("content", contentOf(ctx, run, entry)),
  };
}

function optional<K extends "detail" | "content">(key: K, value: Child | null): Partial<Record<K, Child>> {
  return value === null ? {} : ({ [key]: value } as Partial<Record<K, Child>>);
}

/** The engine's plug-in measures the gap to the millisecond; the journal's own times include its writes. */
function durationOf({ step, facts }: TimelineEntry, measured: number): number {
  const { stopping_at: from, stopped_at: to } = facts;
  return step === "stop" && typeof from === "number" && typeof to === "number" ? to - from : measured;
}

function titleOf({ ctx, run, plan, target, kinds }: StepProps, { step, state, facts }: TimelineEntry): Child {
  const t = texts(ctx).runs;
  if (step === "end") return runWords(ctx, run);
  const references = [...new Set((plan?.services ?? []).flatMap(({ to }) => to.reference.split("@", 1)))];
  const isMany = target.is_group && containersIn(run).length !== 1;
  const words =
    step === "wait" && facts.job === true
      ? t.job
      : step === "verify" && isMany
        ? t.group_steps.verify
        : wordsOf(ctx, kinds, step);
  const title = words[keyOf(state)];
  if (step !== "pull") return title;
  return (
    <>
      {title}
      {references.map((reference) => (
        <>
          {" "}
          <Reference>{reference}</Reference>
        </>
      ))}
    </>
  );
}

function joined(facts: readonly (Child | null)[]): Child | null {
  const present = facts.filter((fact) => fact !== null && fact !== "");
  return present.length === 0 ? null : (
    <p class="meta">
      {present.map((fact) => (
        <span>{withCode(fact)}</span>
      ))}
    </p>
  );
}

function detailOf({ ctx, run, plan }: StepProps, entry: TimelineEntry): readonly (Child | null)[] {
  const t = texts(ctx).runs;
  const { facts, state } = entry;
  const detail = saidAt(facts, "detail");
  switch (entry.step) {
    case "queue":
      return [t.triggers[run.trigger], run.attempt > 1 ? t.attempt(run.attempt) : null];
    case "plan":
      return [plan === null || state !== "done" ? null : t.compared(carriedCount(plan.carried) + plan.diff.length)];
    case "approval":
      return [approvalWords(ctx, run, entry)];
    case "pull": {
      // Each of several services has its own digest, listed in the plan below.
      const digest = plan?.services.length === 1 ? (plan.services[0]?.to.digest ?? null) : null;
      return [
        digest === null || state === "waiting" ? null : <Digest ctx={ctx} value={digest} />,
        facts.was_local === true ? t.local_image : null,
      ];
    }
    case "snapshot":
      return [
        state === "done" ? t.encrypted : null,
        saidAt(facts, "images_not_kept") === null ? null : t.images_not_kept,
      ];
    case "rename":
      return [
        typeof facts.from === "string" && typeof facts.to === "string" && state === "done"
          ? t.renamed(facts.from, facts.to)
          : null,
      ];
    case "start":
      return [
        facts.is_skipped === true ? t.stayed_stopped : null,
        state === "done" && run.downtime_ms !== null && run.serving !== "previous"
          ? texts(ctx).common.down(formatDuration(ctx.language, run.downtime_ms))
          : null,
      ];
    case "verify":
      return [
        entry.attempts.length > 0 ? t.attempts(entry.attempts.length) : null,
        detail === null ? null : translateMessage(ctx.language, detail),
        state === "done" && run.ready_ms !== null ? t.ready_after(formatDuration(ctx.language, run.ready_ms)) : null,
      ];
    case "bring_up":
      return [
        run.outage === null ? null : outageWords(ctx, run.outage),
        run.outage?.outcome === "recovered" && run.downtime_ms !== null
          ? texts(ctx).common.down(formatDuration(ctx.language, run.downtime_ms))
          : null,
      ];
    case "wait":
      return [facts.job !== true && typeof facts.for === "string" ? t.waited_for(facts.for) : null];
    case "undo":
      return [
        facts.is_remade === true ? t.remade : null,
        state === "done" && run.downtime_ms !== null
          ? texts(ctx).common.down(formatDuration(ctx.language, run.downtime_ms))
          : null,
      ];
    default:
      return [detail === null || state !== "done" ? null : translateMessage(ctx.language, detail)];
  }
}

function approvalWords(ctx: PageContext, run: RunDetailView, { state, facts }: TimelineEntry): string | null {
  const t = texts(ctx).runs.approval;
  if (state === "running")
    return run.approval_until === null ? null : t.waits_until(formatShort(ctx, run.approval_until));
  const words = state === "done" ? Object.entries(t.via) : Object.entries(t.why);
  return words.find(([key]) => key === (state === "done" ? facts.via : facts.why))?.[1] ?? null;
}

function contentOf(ctx: PageContext, run: RunDetailView, entry: TimelineEntry): Child | null {
  if (entry.step === "pull" && entry.state === "running")
    return <PullProgress ctx={ctx} run={run} id="pull-progress" />;
  if (entry.state === "running" && run.progress?.step === entry.step) {
    return <StepProgress ctx={ctx} run={run} id="step-progress" />;
  }
  const rollout = entry.state === "failed" ? rolloutIn(entry.facts) : null;
  if (rollout !== null) {
    // Once the run has ended, its banner says why; a failure of the way back stands only here.
    const isTold = entry.step !== "undo" && !isActiveRun(run);
    return (
      <div class="probes">
        {entry.error === null || isTold ? null : <EngineSays ctx={ctx} text={entry.error} />}
        <Rollout ctx={ctx} rollout={rollout} is_back={leadsBack(run, entry.step)} state="failed" />
      </div>
    );
  }
  if (entry.step === "verify" && entry.attempts.length > 0 && entry.state !== "done") {
    return <Attempts ctx={ctx} attempts={entry.attempts} />;
  }
  if (entry.step === "bring_up" && entry.attempts.length > 0 && entry.state !== "done") {
    return <Attempts ctx={ctx} attempts={entry.attempts} name={texts(ctx).runs.outage.try_number} />;
  }
  const notKept = saidAt(entry.facts, "images_not_kept");
  if (entry.step === "snapshot" && notKept !== null) return <EngineSays ctx={ctx} text={notKept} />;
  const isToldAlready =
    entry.step === "plan" || entry.step === "approval" || entry.step === "verify" || entry.step === "end";
  if (entry.error === null || isToldAlready || entry.state === "skipped") return null;
  return <EngineSays ctx={ctx} text={entry.error} />;
}

function EngineSays({ ctx, text }: { ctx: PageContext; text: Message }) {
  return <Code ctx={ctx} text={translateMessage(ctx.language, text)} what={texts(ctx).runs.engine_says} />;
}

function said(ctx: PageContext, facts: RunStepView["facts"]): string {
  const found = saidAt(facts, "detail") ?? saidAt(facts, "error");
  return found === null ? "" : translateMessage(ctx.language, found);
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** As far as the engine reports it: without a total there is no share to draw. */
export function PullProgress({ ctx, run, id }: { ctx: PageContext; run: Pick<RunDetailView, "progress">; id: string }) {
  const t = texts(ctx).runs;
  const { language } = ctx;
  const bytes = number(run.progress?.bytes);
  const total = number(run.progress?.total_bytes);
  const layers = number(run.progress?.layers_total);
  const done = number(run.progress?.layers_done) ?? 0;
  const facts = [
    bytes === null || total === null ? null : t.bytes_of(formatBytes(language, bytes), formatBytes(language, total)),
    layers === null || layers === 0 ? null : t.layers_of(done, layers),
  ].filter((fact) => fact !== null);
  return (
    <Progress id={id} label={t.pulling} value={bytes ?? 0} max={total}>
      {facts.length === 0 ? undefined : facts.join(" · ")}
    </Progress>
  );
}

function StepProgress({ ctx, run, id }: { ctx: PageContext; run: RunDetailView; id: string }) {
  const progress = run.progress ?? {};
  const detail = saidAt(progress, "detail");
  const words = detail === null ? "" : translateMessage(ctx.language, detail);
  const rollout = rolloutIn(progress);
  if (rollout !== null) {
    return (
      <div class="progress" id={id}>
        <Rollout ctx={ctx} rollout={rollout} is_back={leadsBack(run, String(progress.step))} state="running" />
      </div>
    );
  }
  return (
    <Progress id={id} label={words} value={number(progress.done) ?? 0} max={number(progress.total)}>
      {words === "" ? undefined : words}
    </Progress>
  );
}

/** The last attempts one by one: their results and how long they took. */
function Attempts(props: {
  ctx: PageContext;
  attempts: readonly RunStepView[];
  /** "Attempt 3". */
  name?: (count: number) => string;
}) {
  const { ctx, attempts, name = texts(ctx).runs.attempt_number } = props;
  const t = texts(ctx).runs;
  const shown = attempts.slice(-shownAttempts);
  const rest = attempts.length - shown.length;
  return (
    <div class="probes">
      {rest > 0 ? <p class="quiet">{t.earlier_attempts(rest)}</p> : null}
      {shown.map(({ facts, at }) => (
        <p class="meta" id={`attempt-${String(facts.number)}`}>
          <span>
            <Time ctx={ctx} at={at} form="precise" />
          </span>
          <span>{name(number(facts.number) ?? 0)}</span>
          <span>{withCode(said(ctx, facts))}</span>
          {typeof facts.duration_ms === "number" ? (
            <span>
              <Duration ctx={ctx} ms={facts.duration_ms} />
            </span>
          ) : null}
        </p>
      ))}
    </div>
  );
}
