import type { Child } from "hono/jsx";
import { classes, type PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";
import { Duration, Elapsed, Time } from "./time.tsx";

export type StepState = "done" | "running" | "failed" | "skipped" | "waiting" | "undone";

export interface Step {
  id: string;
  state: StepState;
  title: Child;
  /** Facts below the title. */
  detail?: Child;
  /** When it began; null while it waits. */
  started_at: number | null;
  /** How long it took; counts up while it runs. */
  duration_ms?: number | null | undefined;
  /** A progress bar, attempts, an engine's message. */
  content?: Child;
}

const stepIcons: Readonly<Record<StepState, IconName>> = {
  done: "check",
  running: "loader-circle",
  failed: "x",
  skipped: "circle-minus",
  waiting: "circle-dashed",
  undone: "undo-2",
};

/** Steps in order, with their times; each has its id so that events can replace it alone. */
export function Steps({ ctx, steps, id }: { ctx: PageContext; steps: readonly Step[]; id?: string }) {
  return (
    <ol class="panel steps" id={id}>
      {steps.map((step) => (
        <StepItem ctx={ctx} step={step} />
      ))}
    </ol>
  );
}

function StepItem({ ctx, step }: { ctx: PageContext; step: Step }) {
  return (
    <li class={classes("step", step.state)} id={step.id} aria-current={step.state === "running" ? "step" : undefined}>
      <span class="step-mark">
        <Icon name={stepIcons[step.state]} label={texts(ctx).common.steps[step.state]} />
      </span>
      <p class="step-title">{step.title}</p>
      <p class="step-time">
        {typeof step.duration_ms === "number" ? (
          <Duration ctx={ctx} ms={step.duration_ms} />
        ) : step.state === "running" && step.started_at !== null ? (
          <Elapsed ctx={ctx} since={step.started_at} />
        ) : null}
        {step.started_at === null ? null : <Time ctx={ctx} at={step.started_at} form="precise" />}
      </p>
      {step.detail === undefined ? null : <div class="step-detail">{step.detail}</div>}
      {step.content === undefined ? null : <div class="step-content">{step.content}</div>}
    </li>
  );
}
