import * as v from "valibot";
import { RolloutView, type RunDetailView } from "../../src/runs/schema.ts";
import { withCode } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import type { IconName } from "../components/icons.ts";
import { classes, type PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

type Revision = v.InferOutput<typeof RolloutView>["new"];
type Pod = v.InferOutput<typeof RolloutView>["pods"][number];

interface RolloutProps {
  ctx: PageContext;
  rollout: v.InferOutput<typeof RolloutView>;
  /** Whether the version that is coming is an earlier one. */
  is_back: boolean;
  state: "running" | "failed";
}

/** The rollout in the facts of a step or in the progress of a run; null if there is none. */
export function rolloutIn(facts: Readonly<Record<string, unknown>> | null): RolloutProps["rollout"] | null {
  const parsed = v.safeParse(RolloutView, facts?.rollout);
  return parsed.success ? parsed.output : null;
}

/** What is coming and what is going, as two bars on one scale, and the pods beneath. */
export function Rollout({ ctx, rollout, is_back, state }: RolloutProps) {
  const t = texts(ctx).runs.rollout;
  const { part, desired, new: fresh, old, why, pods, more_pods } = rollout;
  const most = Math.max(desired, fresh.pods, old.pods, 1);
  const words = is_back ? t.back : t.forward;
  return (
    <div class="rollout" id="rollout">
      {part === "" ? null : <p class="rollout-part">{part}</p>}
      <RevisionBar
        ctx={ctx}
        title={words.new}
        revision={fresh}
        max={most}
        tone={state}
        text={t.coming(fresh, desired)}
      />
      <RevisionBar ctx={ctx} title={words.old} revision={old} max={most} tone="quiet" text={t.going(old)} />
      {why === null ? null : <p class="rollout-why">{withCode(translateMessage(ctx.language, why))}</p>}
      {pods.length === 0 ? null : (
        <ul class="rollout-pods" aria-label={t.pods}>
          {pods.map((pod) => (
            <PodRow ctx={ctx} pod={pod} name={pod.is_new ? words.new : words.old} is_live={state === "running"} />
          ))}
          {more_pods === 0 ? null : <li class="quiet">{t.more(more_pods)}</li>}
        </ul>
      )}
    </div>
  );
}

interface RevisionBarProps {
  ctx: PageContext;
  title: string;
  revision: Revision;
  max: number;
  tone: "running" | "failed" | "quiet";
  /** The counts in words: the bar repeats them for the eye. */
  text: string;
}

function RevisionBar({ title, revision, max, tone, text }: RevisionBarProps) {
  const share = (count: number) => `${((Math.min(count, max) / max) * 100).toFixed(1)}%`;
  return (
    <div class="rollout-revision">
      <p class="rollout-title">
        <span>{title}</span> {revision.name === "" ? null : <span class="version">{revision.name}</span>}
      </p>
      <p class="rollout-counts">{text}</p>
      <svg class={classes("bar", tone)} aria-hidden="true">
        <rect class="bar-ground" width="100%" height="100%" />
        <rect class="bar-begun" width={share(revision.pods)} height="100%" />
        <rect class="bar-value" width={share(revision.available)} height="100%" />
      </svg>
    </div>
  );
}

const podIcons: Readonly<Record<Pod["state"], IconName>> = {
  ready: "check",
  starting: "loader-circle",
  failing: "circle-x",
  ending: "circle-minus",
};

interface PodRowProps {
  ctx: PageContext;
  pod: Pod;
  /** Of its version. */
  name: string;
  is_live: boolean;
}

function PodRow({ ctx, pod, name, is_live }: PodRowProps) {
  const t = texts(ctx).runs.rollout;
  // Nothing turns in a picture of the past.
  const icon = pod.state === "starting" && !is_live ? "circle-dashed" : podIcons[pod.state];
  return (
    <li class={classes("rollout-pod", pod.state)}>
      <Icon name={icon} />
      <div>
        <div class="rollout-line">
          <p class="version">{pod.name}</p>
          <p class="meta">
            <span>{name}</span>
            <span class="rollout-state">{t.states[pod.state]}</span>
            {pod.restarts === 0 ? null : <span>{t.restarts(pod.restarts)}</span>}
          </p>
        </div>
        {pod.why === null ? null : <p class="rollout-why">{withCode(translateMessage(ctx.language, pod.why))}</p>}
      </div>
    </li>
  );
}

/** Whether a step or a run leads to an earlier version. */
export function leadsBack(run: Pick<RunDetailView, "kind">, step: string): boolean {
  return step === "undo" || run.kind === "rollback";
}
