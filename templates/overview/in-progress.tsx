import type { ActiveRun, PendingUpdate, StatsView } from "../../src/stats/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import { Elapsed, Time } from "../components/time.tsx";
import { openingStart } from "../executors/window-words.ts";
import type { PageContext } from "../page.ts";
import { RunState, waitedRun } from "../runs/state.tsx";
import { PullProgress } from "../runs/steps.tsx";
import { RunVersions } from "../runs/versions.tsx";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { UpdateVersions } from "./needs.tsx";

/** Runs in progress, and updates that start automatically. */
export function InProgress({ ctx, stats }: { ctx: PageContext; stats: StatsView }) {
  return (
    <Rows id="in-progress">
      {stats.active_runs.map((run) => (
        <ActiveRunRow ctx={ctx} run={run} />
      ))}
      {stats.waiting.map((update) => (
        <WaitingRow ctx={ctx} update={update} />
      ))}
    </Rows>
  );
}

function ActiveRunRow({ ctx, run }: { ctx: PageContext; run: ActiveRun }) {
  const t = texts(ctx);
  return (
    <Row
      ctx={ctx}
      id={`run-${run.run_id}`}
      href={`/runs/${run.run_id}`}
      lead={<RunState ctx={ctx} run={run} />}
      title={run.executor}
      fact={<RunVersions ctx={ctx} run={run} empty="" />}
      meta={[
        t.executors.target_on(run.target, run.connection),
        // Its state already says which run it waits for.
        run.reason_data === null || waitedRun(run.reason_data) !== null
          ? null
          : translateMessage(ctx.language, run.reason_data),
        run.started_at === null ? (
          <>
            {t.overview.queued} <Time ctx={ctx} at={run.created_at} />
          </>
        ) : (
          <Elapsed ctx={ctx} since={run.started_at} />
        ),
      ]}
      action={
        <LinkButton ctx={ctx} href={`/runs/${run.run_id}`} kind="bare">
          {t.overview.watch}
        </LinkButton>
      }
    >
      {run.progress === null ? null : <PullProgress ctx={ctx} run={run} id={`progress-${run.run_id}`} />}
    </Row>
  );
}

function WaitingRow({ ctx, update }: { ctx: PageContext; update: PendingUpdate }) {
  const t = texts(ctx);
  const href = `/executors/${update.executor_id}`;
  const opening = update.waiting?.reason === "window" ? update.waiting.until : null;
  return (
    <Row
      ctx={ctx}
      id={`waits-${update.executor_id}`}
      href={href}
      lead={
        <State ctx={ctx} tone="quiet" icon="calendar-clock">
          {t.overview.lead_words.waits}
        </State>
      }
      title={update.executor}
      fact={<UpdateVersions ctx={ctx} update={update} />}
      meta={[
        <WaitingWords ctx={ctx} waiting={update.waiting} />,
        opening === null ? null : <Time ctx={ctx} at={opening} />,
        t.executors.target_on(update.target, update.connection),
      ]}
      action={
        <LinkButton ctx={ctx} href={href} kind="bare">
          {t.overview.review}
        </LinkButton>
      }
    />
  );
}

function WaitingWords({ ctx, waiting }: { ctx: PageContext; waiting: PendingUpdate["waiting"] }) {
  const t = texts(ctx).overview;
  if (waiting === null) return null;
  const { reason, until } = waiting;
  if (until === null) return <>{t.waits_unknown[reason]}</>;
  if (reason === "window") return <>{t.waits_window(openingStart(ctx, { opens_at: until, closes_at: until }))}</>;
  return (
    <>
      {reason === "age" ? t.waits_age : t.waits_retry} <Time ctx={ctx} at={until} />
    </>
  );
}
