import { type OutageView, servingNow } from "../../src/executors/outage-schema.ts";
import { type Message, says } from "../../src/messages/message.ts";
import { type RunView, withoutServing } from "../../src/runs/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { formatShort, formatSoon } from "../format.ts";
import type { PageContext, Tone } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** The fields of a run that describe its state; the short form in an executor has them too. */
type RunLike = {
  kind: RunView["kind"];
  state: string;
  reason_code: string | null;
  reason_data: Message | null;
  serving: string | null;
  outage: OutageView | null;
  approval?: string | null | undefined;
  approval_until?: number | null | undefined;
};

/** Whether it continues only once approved. */
export function isAwaiting(run: Pick<RunLike, "state" | "approval">): boolean {
  return run.state === "pending" && run.approval === "awaiting";
}

export function isActiveRun(run: { state: string }): boolean {
  return ["pending", "capturing", "updating", "verifying"].includes(run.state);
}

function runTone(run: Pick<RunLike, "state" | "approval">): Tone {
  if (isAwaiting(run)) return "attention";
  switch (run.state) {
    case "succeeded":
      return "current";
    case "degraded":
      return "attention";
    case "failed":
      return "failed";
    case "skipped":
    case "pending":
      return "quiet";
    default:
      return "running";
  }
}

/** How a run stands or ended, in words: "Failed, previous version running". */
export function runWords(ctx: PageContext, run: RunLike): string {
  const t = texts(ctx).runs;
  const { words } = t;
  const serving = servingNow(run);
  switch (run.state) {
    case "pending":
      if (isAwaiting(run)) {
        const until = run.approval_until ?? null;
        return until === null ? words.waits_approval : t.approval.waits_until(formatShort(ctx, until));
      }
      if (run.reason_code === "waiting_for_connection") {
        const other = waitedRun(run.reason_data);
        return other === null ? words.waits_connection : t.waits_for_run(other.executor);
      }
      if (run.reason_code === "waiting_for_window") return words.waits_window;
      return run.reason_code === "waiting_for_runtime" ? words.waits_runtime : t.outcomes.pending;
    case "capturing":
    case "verifying":
    case "skipped":
      return run.state === "skipped" ? skipWords(ctx, run.reason_code) : t.outcomes[run.state];
    case "updating":
      return run.kind === "rollback" ? words.rolling_back : t.outcomes.updating;
    case "succeeded":
      return run.kind === "rollback" ? words.rolled_back : t.outcomes.succeeded;
    case "degraded":
      return run.kind === "rollback" ? words.rollback_degraded : words.degraded;
    default:
      if (run.kind === "rollback") return rollbackFailure(ctx, serving);
      if (serving === "previous") return words.failed_previous;
      if (serving === "desired") return words.failed_desired;
      if (serving === "mixed") return words.failed_mixed;
      return serving === "none" ? words.failed_none : t.outcomes.failed;
  }
}

/** Why a run ended as it did, or what it waits for; what runs now is shown separately. */
export function reasonWords(
  ctx: PageContext,
  { reason_data: reason }: Pick<RunLike, "reason_data">,
  translate = translateMessage,
): string | null {
  return reason === null ? null : translate(ctx.language, withoutServing(reason));
}

/** For a target that is or was down: when the next attempt is, or why there is none. */
export function outageWords(ctx: PageContext, outage: OutageView): string | null {
  const attempt = attemptWords(ctx, outage);
  return attempt === null || outage.outcome !== null ? attempt : texts(ctx).runs.outage.down(attempt);
}

/** The same for places that already say that the target is down. */
export function attemptWords(ctx: PageContext, { outcome, next_try_at: next }: OutageView): string | null {
  const t = texts(ctx).runs.outage;
  if (outcome === "recovered") return null;
  if (outcome !== null) return t.ends[outcome];
  if (next === null || next <= ctx.now) return t.retrying;
  return t.next_attempt(formatSoon(ctx, next));
}

function rollbackFailure(ctx: PageContext, serving: string | null): string {
  const { words } = texts(ctx).runs;
  switch (serving) {
    case "previous":
    case "desired":
    case "mixed":
    case "none":
      return words[`rollback_${serving}`];
    default:
      return words.rollback_failed;
  }
}

/** Whether the run is a rollback and the words of its state do not say so yet. */
export function needsRollbackBadge({ kind, state }: Pick<RunLike, "kind" | "state">): boolean {
  return kind === "rollback" && ["pending", "capturing", "verifying", "skipped"].includes(state);
}

/** The run that a queued one waits for, and the container that both need; null if it waits for something else. */
export function waitedRun(reason: Message | null): { id: string; executor: string; container: string | null } | null {
  if (reason === null) return null;
  if (says(reason, "runs.waits_for_run")) {
    return { id: reason.params.run, executor: reason.params.executor, container: null };
  }
  if (!says(reason, "runs.waits_for_container")) return null;
  const { run: id, executor, container } = reason.params;
  return { id, executor, container };
}

/** What a queued run waits for, with a link to it. */
export function WaitBanner({ ctx, reason }: { ctx: PageContext; reason: Message }) {
  const t = texts(ctx).runs;
  const other = waitedRun(reason);
  if (other === null) {
    return <Banner tone="quiet" title={t.banners.waiting} children={translateSentence(ctx.language, reason)} />;
  }
  return (
    <Banner
      tone="quiet"
      title={t.waits_for_run(other.executor)}
      action={
        <LinkButton ctx={ctx} href={`/runs/${other.id}`}>
          {t.open_other}
        </LinkButton>
      }
    >
      {other.container === null ? t.one_after_other : t.works_on(other.container)}
    </Banner>
  );
}

function skipWords(ctx: PageContext, code: string | null): string {
  const t = texts(ctx).runs;
  return Object.entries(t.skips).find(([key]) => key === code)?.[1] ?? t.outcomes.skipped;
}

interface RunStateProps {
  ctx: PageContext;
  run: RunLike;
  solid?: boolean;
}

export function RunState({ ctx, run, solid = false }: RunStateProps) {
  const title = reasonWords(ctx, run) ?? undefined;
  const icon =
    run.state === "skipped"
      ? "circle-minus"
      : run.kind === "rollback" && run.state === "succeeded"
        ? "undo-2"
        : undefined;
  return (
    <State ctx={ctx} tone={runTone(run)} solid={solid} title={title} icon={icon}>
      {runWords(ctx, run)}
    </State>
  );
}
