import type { ExecutorView } from "../../src/executors/schema.ts";
import { State } from "../components/state.tsx";
import { formatRelative, formatShort } from "../format.ts";
import type { PageContext, Tone } from "../page.ts";
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
};

interface ExecutorStateProps {
  ctx: PageContext;
  executor: ExecutorView;
  solid?: boolean;
}

/** What is the case with an executor, in words. */
export function ExecutorState({ ctx, executor, solid = false }: ExecutorStateProps) {
  const t = texts(ctx).executors;
  if (!executor.is_enabled && executor.state !== "running") {
    return (
      <State ctx={ctx} tone="quiet" icon="pause" solid={solid}>
        {t.state_words.disabled}
      </State>
    );
  }
  const { problem } = executor;
  const isAsking = executor.state === "waiting" && executor.waiting?.reason === "approval";
  return (
    <State
      ctx={ctx}
      tone={isAsking ? "attention" : tones[executor.state]}
      solid={solid}
      icon={executor.state === "waiting" && !isAsking ? "calendar-clock" : undefined}
      title={problem === null ? undefined : translateMessage(ctx.language, problem.message)}
    >
      {words(ctx, executor)}
    </State>
  );
}

function words(ctx: PageContext, executor: ExecutorView): string {
  const t = texts(ctx).executors;
  switch (executor.state) {
    case "failed":
      if (executor.last_run?.serving === "none") return t.state_words.target_down;
      return executor.last_run?.serving === "previous" ? t.state_words.failed_previous : t.state_words.failed;
    case "waiting":
      return waitingWords(ctx, executor);
    case "unknown":
      return executor.problem === null ? unknownWords(executor, t) : problemWords(executor.problem.code, t);
    default:
      return t.states[executor.state];
  }
}

function unknownWords(executor: ExecutorView, t: Words): string {
  // Of a group that is otherwise known: the services that nobody can judge, by the first reason.
  const unmet = executor.services.find((service) => service.unmet !== null)?.unmet;
  if (unmet) return problemWords(unmet.code, t);
  return executor.observed_at === null ? t.state_words.not_looked : t.state_words.restarted;
}

function problemWords(code: string, t: Words): string {
  const known = Object.entries(t.problems).find(([key]) => key === code);
  return known?.[1] ?? t.problems.other;
}

function waitingWords(ctx: PageContext, { waiting, next_windows }: ExecutorView): string {
  const t = texts(ctx).executors;
  if (waiting === null) return t.states.waiting;
  const { reason, until } = waiting;
  if (reason === "window") {
    const [next] = next_windows;
    return next === undefined ? t.state_words.waits_window : `${t.triggers.window} ${openingStart(ctx, next)}`;
  }
  const base = t.state_words[`waits_${reason}`];
  if (until === null) return base;
  // No time at which it comes: one after which it does not.
  if (reason === "approval") return texts(ctx).runs.approval.waits_until(formatShort(ctx, until));
  return `${base} · ${until > ctx.now ? formatRelative(ctx.language, until, ctx.now) : formatShort(ctx, until)}`;
}
