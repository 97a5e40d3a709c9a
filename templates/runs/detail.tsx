import { type OutageView, servingNow } from "../../src/executors/outage-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { planOf, type RunDetailView, type SnapshotView } from "../../src/runs/schema.ts";
import type { StepKind } from "../../src/runtimes/target-kind.ts";
import { LinkButton } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Live } from "../components/live.tsx";
import { Banner, Partial } from "../components/notice.tsx";
import { Columns, PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Duration, Elapsed, Time } from "../components/time.tsx";
import { Changes, carriedCount, Files } from "../executors/plan.tsx";
import { formatDuration, formatNumber, joinSentences } from "../format.ts";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { NotesSection } from "../trackers/notes.tsx";
import { ApprovalBanner } from "./approval.tsx";
import { RunLogs } from "./logs.tsx";
import {
  isActiveRun,
  isAwaiting,
  needsRollbackBadge,
  outageWords,
  RunState,
  reasonWords,
  WaitBanner,
} from "./state.tsx";
import { RunSteps } from "./steps.tsx";
import { RunVersions } from "./versions.tsx";

export interface RunPageProps {
  ctx: PageContext;
  run: RunDetailView;
  executor: ExecutorView;
  /** The kinds of steps that runs on such a target have. */
  steps: readonly StepKind[];
  /** The snapshot that this run saved before it touched the target; null if it saved none or it has been removed. */
  snapshot: SnapshotView | null;
  /** More will follow: the run is in progress, or cleans up after its end. */
  is_live: boolean;
}

export function RunPage(props: RunPageProps) {
  const { ctx, run, executor, steps, is_live } = props;
  const t = texts(ctx).runs;
  return (
    <Layout ctx={ctx} title={`${run.executor} · ${t.kinds[run.kind]}`} section="runs" live={is_live}>
      <PageHeader
        ctx={ctx}
        parent={{ title: t.title, href: "/runs" }}
        title={
          <>
            <bdi>{run.executor}</bdi>{" "}
            <span id="run-versions">
              <RunVersions ctx={ctx} run={run} empty="" />
            </span>
          </>
        }
        state={
          <>
            <span id="run-state">
              <RunState ctx={ctx} run={run} solid />
            </span>
            <RunBadge ctx={ctx} run={run} />
          </>
        }
        actions={<RunActions {...props} />}
      />
      <RunBanner {...props} />
      <Columns aside={<RunFacts ctx={ctx} run={run} executor={executor} snapshot={props.snapshot} />}>
        <Section title={t.happened} aside={<RunSummary ctx={ctx} run={run} />}>
          <RunSteps ctx={ctx} run={run} target={executor.target} kinds={steps} />
        </Section>
        <RunLogs ctx={ctx} run={run} />
        <RunPlanPart ctx={ctx} run={run} />
        <RunNotes ctx={ctx} run={run} executor={executor} />
      </Columns>
      <RunLive {...props} />
    </Layout>
  );
}

/** Once nothing more will follow, an empty element replaces the listener, and the stream is not reopened. */
function RunLive({ ctx, run, is_live }: RunPageProps) {
  if (!is_live) return <div id="run-live" />;
  return <Live ctx={ctx} id="run-live" events={`/runs/${run.id}/stream`} poll={`/runs/${run.id}/parts`} />;
}

/**
 * The parts of the page that change during a run; each replaces the one on the page. Their places stay the same throughout, so that nothing
 * jumps.
 */
export const runParts = {
  "run-versions": (props: RunPageProps) => (
    <span id="run-versions">
      <RunVersions ctx={props.ctx} run={props.run} empty="" />
    </span>
  ),
  "run-state": (props: RunPageProps) => (
    <span id="run-state">
      <RunState ctx={props.ctx} run={props.run} solid />
    </span>
  ),
  "run-badge": RunBadge,
  "run-actions": RunActions,
  "run-banner": RunBanner,
  "run-summary": ({ ctx, run }: RunPageProps) => <RunSummary ctx={ctx} run={run} />,
  "run-steps": ({ ctx, run, executor, steps }: RunPageProps) => (
    <RunSteps ctx={ctx} run={run} target={executor.target} kinds={steps} />
  ),
  "run-facts": RunFacts,
  "run-logs": RunLogs,
  "run-plan": ({ ctx, run }: RunPageProps) => <RunPlanPart ctx={ctx} run={run} />,
  "run-live": RunLive,
} as const;

/** One part, as a message of the stream. */
export function RunPartial({ part, props }: { part: keyof typeof runParts; props: RunPageProps }) {
  const Part = runParts[part];
  // A morph would keep the listening element, and with it the connection.
  return (
    <Partial target={`#${part}`} swap={part === "run-live" ? "outerHTML" : "outerMorph"}>
      <Part {...props} />
    </Partial>
  );
}

/** Says that it is a rollback as long as the words of its state do not. */
function RunBadge({ ctx, run }: Pick<RunPageProps, "ctx" | "run">) {
  return (
    <span id="run-badge">
      {needsRollbackBadge(run) ? <Badge icon="undo-2">{texts(ctx).runs.rollback}</Badge> : null}
    </span>
  );
}

/** The set of words that fits the run. */
function wordsFor({ run, executor }: Pick<RunPageProps, "run" | "executor">): "rollback" | "group" | "single" {
  if (run.kind === "rollback") return "rollback";
  return executor.target.is_group ? "group" : "single";
}

function RunActions({ ctx, run, executor, snapshot, is_live }: RunPageProps) {
  const t = texts(ctx).runs;
  const isDown = run.outage?.outcome === null;
  const isOver = !isActiveRun(run) && (isDown || !is_live) && executor.active_run_id === null;
  const mayRetry = isOver && (run.state === "failed" || run.state === "skipped");
  const hasChanged =
    run.state === "succeeded" ||
    run.state === "degraded" ||
    ["desired", "mixed", "none"].includes(servingNow(run) ?? "");
  return (
    <span class="actions" id="run-actions">
      {isOver && snapshot !== null && hasChanged ? (
        <LinkButton
          ctx={ctx}
          href={`/executors/${run.executor_id}/snapshots/${snapshot.id}/restore`}
          icon="undo-2"
          opens_dialog
        >
          {t.roll_back}
        </LinkButton>
      ) : null}
      {mayRetry ? (
        <LinkButton
          ctx={ctx}
          href={
            run.kind === "rollback" && run.snapshot_id !== null
              ? `/executors/${run.executor_id}/snapshots/${run.snapshot_id}/restore`
              : `/executors/${run.executor_id}/run`
          }
          icon="rotate-ccw"
          opens_dialog
        >
          {texts(ctx).common.retry}
        </LinkButton>
      ) : null}
      {run.state === "failed" || run.state === "degraded" ? (
        <LinkButton ctx={ctx} href={`/executors/${run.executor_id}/logs`} icon="scroll-text">
          {texts(ctx).logs.title}
        </LinkButton>
      ) : null}
      <LinkButton ctx={ctx} href={`/executors/${run.executor_id}`}>
        {t.open_executor}
      </LinkButton>
    </span>
  );
}

/** The outcome in one sentence, with the reason below. */
function RunBanner(props: RunPageProps) {
  const { ctx, run, executor } = props;
  const t = texts(ctx).runs.banners;
  const words = t[wordsFor({ run, executor })];
  const reason = reasonWords(ctx, run, translateSentence);
  const banner = (() => {
    switch (run.state) {
      case "pending":
        if (isAwaiting(run)) return <ApprovalBanner ctx={ctx} run_id={run.id} until={run.approval_until} />;
        return run.reason_data === null ? null : <WaitBanner ctx={ctx} reason={run.reason_data} />;
      case "skipped":
        return <Banner tone="quiet" title={t.unchanged} children={reason} />;
      case "degraded":
        return (
          <Banner tone="attention" title={words.degraded}>
            {reason === null ? null : <p>{withCode(reason)}</p>}
            <LogsLink ctx={ctx} run={run} />
          </Banner>
        );
      case "succeeded":
        return reason === null ? null : <Banner tone="quiet">{reason}</Banner>;
      case "failed":
        return <FailureBanner {...props} />;
      default:
        return null;
    }
  })();
  return (
    <div class="banner-slot" id="run-banner">
      {banner}
    </div>
  );
}

function FailureBanner({ ctx, run, executor, steps, snapshot }: RunPageProps) {
  const t = texts(ctx).runs.banners;
  if (run.outage?.outcome === "recovered") return <RecoveredBanner ctx={ctx} run={run} outage={run.outage} />;
  const words = t[wordsFor({ run, executor })];
  const { serving } = run;
  const isTrying = run.outage?.outcome === null;
  const reason = reasonWords(ctx, run, translateSentence);
  const wasTouched = run.steps.some(({ step }) => steps.some(({ name, touches }) => touches && name === step));
  const wasUndone = run.steps.some(({ step, phase }) => step === "undo" && phase === "finish");
  const title =
    serving === null || serving === "unknown"
      ? wasTouched
        ? t.unknown
        : t.unchanged
      : serving === "previous" && !wasTouched
        ? words.previous_untouched
        : serving === "previous" && executor.target.is_declarative && !wasUndone
          ? t.previous_kept
          : words[serving];
  return (
    <Banner tone={run.serving === "previous" ? "attention" : "failed"} title={title}>
      {reason === null ? null : <p>{withCode(reason)}</p>}
      <LogsLink ctx={ctx} run={run} />
      {run.outage === null ? null : <p>{outageWords(ctx, run.outage)}</p>}
      {isTrying || run.serving === "none" ? (
        <p>
          {joinSentences(ctx.language, [
            ...(isTrying ? [t.still_trying] : []),
            snapshot === null ? t.without_snapshot : t.with_snapshot,
          ])}
        </p>
      ) : null}
    </Banner>
  );
}

/** The reason often is in what the container wrote. */
function LogsLink({ ctx, run }: Pick<RunPageProps, "ctx" | "run">) {
  const names = [...new Set(run.logs.filter(({ lines }) => lines.length > 0).map(({ container }) => container))];
  if (names.length === 0) return null;
  return (
    <p>
      <a href="#run-logs">{texts(ctx).runs.logs.of(names.join(ctx.language === "zh" ? "、" : ", "))}</a>
    </p>
  );
}

/** The run failed; the target that it left down runs again. */
function RecoveredBanner({ ctx, run, outage }: { ctx: PageContext; run: RunDetailView; outage: OutageView }) {
  const t = texts(ctx).runs.banners;
  const { serving, since, ended_at: ended } = outage;
  const time = formatDuration(ctx.language, Math.max(1000, (ended ?? since) - since));
  const isUpdate = run.kind === "update" && (serving === "previous" || serving === "desired");
  const reason = reasonWords(ctx, run, translateSentence);
  return (
    <Banner tone="attention" title={t.recovered[isUpdate ? serving : "other"]}>
      <p>{outage.detail === null ? t.recovered_text(time, outage.tries) : t.recovered_by_others(time)}</p>
      {reason === null ? null : <p>{withCode(reason)}</p>}
    </Banner>
  );
}

/** The run in one line: its trigger, its duration and its downtime. */
function RunSummary({ ctx, run }: { ctx: PageContext; run: RunDetailView }) {
  const t = texts(ctx).runs;
  return (
    <p class="meta" id="run-summary">
      <span>{t.triggers[run.trigger]}</span>
      {run.started_at === null ? null : run.ended_at === null ? (
        <span>
          <Elapsed ctx={ctx} since={run.started_at} />
        </span>
      ) : (
        <span>{durationWords(ctx, run, run.ended_at - run.started_at)}</span>
      )}
      {run.downtime_ms === null ? null : (
        <span>{texts(ctx).common.down(formatDuration(ctx.language, run.downtime_ms))}</span>
      )}
    </p>
  );
}

/** Shorter health checks are not worth mentioning. */
const tellableMs = 1_000;

/** Adds the health check's time: most runs mostly watch the new version, which cannot be any quicker. */
function durationWords(ctx: PageContext, run: RunDetailView, ms: number): string {
  const t = texts(ctx).runs;
  const took = t.took(formatDuration(ctx.language, ms));
  const checks = run.steps.filter(({ step }) => step === "verify");
  const began = checks.find(({ phase }) => phase === "begin")?.at;
  const ended = checks.findLast(({ phase }) => phase === "finish" || phase === "fail")?.at;
  if (began === undefined || ended === undefined || ended - began < tellableMs) return took;
  return `${took}${ctx.language === "zh" ? "，" : ", "}${t.watched(formatDuration(ctx.language, ended - began))}`;
}

function RunFacts({ ctx, run, executor, snapshot }: Omit<RunPageProps, "is_live" | "steps">) {
  const t = texts(ctx);
  const { strategy } = executor.health_check;
  const known = Object.entries(t.executors.strategies).find(([key]) => key === strategy);
  const serving = servingNow(run);
  return (
    <section id="run-facts">
      <header class="section-header">
        <h2>{t.common.details}</h2>
      </header>
      <Facts
        items={[
          [
            t.runs.runs_on,
            <Link ctx={ctx} href={`/connections/${executor.connection.id}`}>
              {executor.connection.name}
            </Link>,
          ],
          [t.runs.started, <Time ctx={ctx} at={run.started_at} empty={t.runs.not_yet} />],
          isAwaiting(run) ? [t.runs.approval.until, <Time ctx={ctx} at={run.approval_until} form="short" />] : null,
          run.ended_at === null ? null : [t.runs.ended, <Time ctx={ctx} at={run.ended_at} />],
          ...outageFacts(ctx, run.outage),
          // The end is the verdict; removing backups afterwards does not change it.
          run.cleanup_due_at === null || run.ended_at === null
            ? null
            : [t.runs.clearing, <Time ctx={ctx} at={run.cleanup_due_at} form="short" />],
          run.ready_ms === null ? null : [t.runs.ready, <Duration ctx={ctx} ms={run.ready_ms} />],
          serving === null ? null : [t.runs.serving, t.runs.servings[wordsFor({ run, executor })][serving]],
          [t.runs.health, known?.[1] ?? ""],
          snapshot === null
            ? null
            : [
                t.runs.snapshot,
                <Link ctx={ctx} href={`/executors/${run.executor_id}#snapshots`}>
                  <Time ctx={ctx} at={snapshot.created_at} form="short" />
                </Link>,
              ],
        ]}
      />
    </section>
  );
}

/** Down since when, how many attempts and when the next one is; or when the target recovered. */
function outageFacts(ctx: PageContext, outage: OutageView | null): Parameters<typeof Facts>[0]["items"] {
  if (outage === null) return [];
  const t = texts(ctx).runs.outage;
  const { since, tries, next_try_at: next, outcome, ended_at: ended } = outage;
  return [
    [t.since, <Time ctx={ctx} at={since} />],
    [t.tries, formatNumber(ctx.language, tries)],
    next === null ? null : [t.next, <Time ctx={ctx} at={next} form="short" />],
    ended === null ? null : [outcome === "recovered" ? t.recovered : t.ended, <Time ctx={ctx} at={ended} />],
  ];
}

/** What the versions of this run changed; not for a rollback, which undoes that. */
function RunNotes({ ctx, run, executor }: Pick<RunPageProps, "ctx" | "run" | "executor">) {
  const binding = executor.bindings[0];
  if (binding === undefined || run.kind === "rollback" || run.to.tag === null) return null;
  const { tracker, channel } = binding;
  return <NotesSection ctx={ctx} tracker={tracker} channel={channel} from={run.from.tag} to={run.to.tag} />;
}

/** With the previous version back, the compose file is correct as it is. */
function isFileBehind({ state, serving }: RunDetailView): boolean {
  return state === "succeeded" || state === "degraded" || serving === "desired" || serving === "mixed";
}

function RunPlanPart({ ctx, run }: { ctx: PageContext; run: RunDetailView }) {
  const t = texts(ctx).runs;
  const plan = planOf(run);
  const services = run.containers.map((each) => each.service);
  if (plan === null && isActiveRun(run)) return <section id="run-plan" />;
  return (
    <Section
      id="run-plan"
      title={t.plan}
      aside={
        run.plan_hash === null ? undefined : (
          <span class="mono" title={run.plan_hash}>
            {texts(ctx).common.plan_hash(run.plan_hash.slice(0, 12))}
          </span>
        )
      }
    >
      {plan === null ? (
        <Panel>
          <p class="quiet">{t.no_plan}</p>
        </Panel>
      ) : (
        <>
          <Changes ctx={ctx} diff={plan.diff} carried={carriedCount(plan.carried)} services={services} />
          {isFileBehind(run) ? <Files ctx={ctx} files={plan.files} /> : null}
        </>
      )}
    </Section>
  );
}
