import { servingNow } from "../../src/executors/outage-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Problem } from "../../src/messages/schema.ts";
import type { IconName } from "../components/icons.ts";
import { State } from "../components/state.tsx";
import { formatRelative, formatShort } from "../format.ts";
import type { PageContext, Tone } from "../page.ts";
import { outageWords, waitedRun } from "../runs/state.tsx";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { openingStart } from "./window-words.ts";

type Words = ReturnType<typeof texts>["executors"];

const tones: Readonly<Record<ExecutorView["state"], Tone>> = {
  current: "current",
  update: "update",
  waiting: "update",
  running: "running",
  failed: "failed",
  unknown: "unknown",
  held: "quiet",
  snoozed: "quiet",
  skipped: "quiet",
  dismissed: "quiet",
};

/** Where the tone's own icon says too little. */
const icons: Readonly<Partial<Record<ExecutorView["state"], IconName>>> = {
  waiting: "calendar-clock",
  held: "pause",
  skipped: "circle-minus",
  dismissed: "circle-x",
};

interface ExecutorStateProps {
  ctx: PageContext;
  executor: ExecutorView;
  solid?: boolean;
}

/** The state of an executor, in words. */
export function ExecutorState({ ctx, executor, solid = false }: ExecutorStateProps) {
  const t = texts(ctx).executors;
  if (!executor.is_enabled && executor.state !== "running") {
    return (
      <State ctx={ctx} tone="quiet" icon="pause" solid={solid}>
        {t.state_words.disabled}
      </State>
    );
  }
  const told =
    executor.problem?.message_data ?? (executor.state === "waiting" ? (executor.waiting?.message_data ?? null) : null);
  const isLooking = executor.state === "unknown" && isFirstLook(executor);
  const isAsking = executor.state === "waiting" && executor.waiting?.reason === "approval";
  return (
    <State
      ctx={ctx}
      tone={isAsking ? "attention" : isLooking ? "running" : tones[executor.state]}
      solid={solid}
      icon={isAsking ? undefined : icons[executor.state]}
      title={told === null ? undefined : translateMessage(ctx.language, told)}
    >
      {words(ctx, executor)}
    </State>
  );
}

function words(ctx: PageContext, executor: ExecutorView): string {
  const t = texts(ctx).executors;
  switch (executor.state) {
    case "failed":
      return failedWords(ctx, executor, t);
    case "waiting":
      return waitingWords(ctx, executor);
    case "snoozed":
      return executor.snoozed_until === null
        ? t.states.snoozed
        : t.state_words.snoozed_until(formatShort(ctx, executor.snoozed_until));
    case "unknown":
      return executor.problem === null ? unknownWords(executor, t) : problemWords(executor.problem.code, t);
    case "current":
    case "update": {
      const [state, how] = [t.states[executor.state], standstill(ctx, executor)];
      return how === null ? state : t.state_words.standing_still(state, how);
    }
    default:
      return t.states[executor.state];
  }
}

/** What all of it is instead of running. A group may have services that have done their work. */
function standstill(ctx: PageContext, { services }: ExecutorView): string | null {
  const [state, ...others] = new Set(services.map(({ found }) => found?.state ?? "unknown"));
  if (state === undefined || state === "running" || state === "unknown" || others.length > 0) return null;
  return texts(ctx).connections.target_states[state];
}

function failedWords(ctx: PageContext, { last_run: last }: ExecutorView, t: Words): string {
  const serving = last === null ? null : servingNow(last);
  switch (serving) {
    case "none":
      return last?.outage?.outcome === null
        ? (outageWords(ctx, last.outage) ?? t.state_words.target_down)
        : t.state_words.target_down;
    case "previous":
    case "desired":
    case "mixed":
      return t.state_words[`failed_${serving}`];
    default:
      return t.state_words.failed;
  }
}

/** Not inspected yet; that happens right after it is added. */
export function isFirstLook(executor: Pick<ExecutorView, "observed_at" | "problem" | "connection">): boolean {
  return executor.observed_at === null && executor.problem === null && executor.connection.is_enabled;
}

function unknownWords(executor: ExecutorView, t: Words): string {
  // In a group that is otherwise known, services that cannot be judged: show the first reason.
  const unmet = executor.services.find((service) => service.unmet !== null)?.unmet;
  if (unmet) return problemWords(unmet.code, t);
  // What was found cannot be read any more.
  if (executor.observed_at !== null) return t.problems.other;
  return isFirstLook(executor) ? t.state_words.looking : t.state_words.not_looked;
}

/** What prevents a target from being updated, in a few words. */
function problemWords(code: string, t: Words): string {
  const known = Object.entries(t.problems).find(([key]) => key === code);
  return known?.[1] ?? t.problems.other;
}

/** A state that is unknown, by its reason. */
export function ProblemState({ ctx, problem }: { ctx: PageContext; problem: Omit<Problem, "message"> }) {
  return (
    <State ctx={ctx} tone="unknown" title={translateMessage(ctx.language, problem.message_data)}>
      {problemWords(problem.code, texts(ctx).executors)}
    </State>
  );
}

function waitingWords(ctx: PageContext, { waiting, next_windows }: ExecutorView): string {
  const t = texts(ctx).executors;
  if (waiting === null) return t.states.waiting;
  const { reason, until, message_data } = waiting;
  const other = reason === "connection" ? waitedRun(message_data) : null;
  if (other !== null) return texts(ctx).runs.waits_for_run(other.executor);
  if (reason === "window") {
    const [next] = next_windows;
    return next === undefined ? t.state_words.waits_window : `${t.triggers.window} ${openingStart(ctx, next)}`;
  }
  const base = t.state_words[`waits_${reason}`];
  if (until === null) return base;
  // `until` is when it expires, not when it starts.
  if (reason === "approval") return texts(ctx).runs.approval.waits_until(formatShort(ctx, until));
  return `${base} · ${until > ctx.now ? formatRelative(ctx.language, until, ctx.now) : formatShort(ctx, until)}`;
}
