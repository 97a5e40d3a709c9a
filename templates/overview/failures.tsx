import type { Child } from "hono/jsx";
import type { BadRun, SharedFailure } from "../../src/stats/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { Menu } from "../components/menu.tsx";
import { Time } from "../components/time.tsx";
import { OfferItems, offersFor } from "../executors/actions.tsx";
import { bulkPath, failedValue } from "../executors/bulk.tsx";
import { askedAfter } from "../executors/row-actions.tsx";
import { formatDuration } from "../format.ts";
import { type PageContext, withQuery } from "../page.ts";
import { attemptWords, reasonWords } from "../runs/state.tsx";
import { RunVersions } from "../runs/versions.tsx";
import { texts } from "../texts/texts.ts";
import { Need, SharedNeed, undecided } from "./need.tsx";

/** The latest snapshots, by executor. */
export type Snapshots = ReadonlyMap<string, string>;

/** What became of the target of runs like this, in a word and its colour. */
function failureState({ state, is_down }: Pick<SharedFailure, "state" | "is_down">) {
  return { word: is_down ? "down" : state, tone: state === "failed" ? "failed" : "attention" } as const;
}

interface FailureProps {
  ctx: PageContext;
  snapshots: Snapshots;
  is_first: boolean;
}

export function BadRunRow({ ctx, run, snapshots, is_first }: FailureProps & { run: BadRun }) {
  const t = texts(ctx);
  const { word, tone } = failureState({ state: run.state, is_down: run.serving === "none" });
  return (
    <Need
      ctx={ctx}
      id={run.executor_id}
      href={`/runs/${run.run_id}`}
      tone={tone}
      word={t.overview.lead_words[word]}
      title={run.executor}
      fact={<Serving ctx={ctx} run={run} />}
      meta={[...endOf(ctx, run), reasonWords(ctx, run)]}
      is_first={is_first}
      verb={t.overview.see_why}
      more={<BadRunActs ctx={ctx} run={run} snapshots={snapshots} />}
    />
  );
}

/** Several that failed for one reason: the reason once, and each of them where it is unfolded. */
export function SharedFailureRow({ ctx, failure, snapshots, is_first }: FailureProps & { failure: SharedFailure }) {
  const t = texts(ctx);
  const { runs, run_count, host, connection } = failure;
  const { word, tone } = failureState(failure);
  const dismissible = runs.filter(({ is_dismissible }) => is_dismissible);
  const canRetry = failure.state === "failed" && failure.kind === "update";
  return (
    <SharedNeed
      ctx={ctx}
      tone={tone}
      word={t.overview.lead_words[word]}
      title={host ?? connection}
      meta={[<Time ctx={ctx} at={failure.ended_at} />, reasonWords(ctx, failure)]}
      action={
        <>
          {canRetry ? (
            <LinkButton
              ctx={ctx}
              href={withQuery(bulkPath, { action: "update", ids: runs.map((run) => run.executor_id).join(",") })}
              kind={is_first ? "main" : "plain"}
            >
              {t.overview.retry_all(runs.length, run_count)}
            </LinkButton>
          ) : null}
          {dismissible.length === 0 ? null : (
            <ActionForm
              ctx={ctx}
              action={bulkPath}
              fields={{ _action: "dismiss", ids: dismissible.map(failedValue).join(","), next: "/" }}
            >
              {t.overview.dismiss_all(dismissible.length, run_count)}
            </ActionForm>
          )}
        </>
      }
      members={runs}
      total={run_count}
      more_href={withQuery("/runs", { state: failure.state })}
      row={(run) => ({
        href: `/runs/${run.run_id}`,
        fact: <Serving ctx={ctx} run={run} />,
        meta: endOf(ctx, run),
        action: <BadRunActs ctx={ctx} run={run} snapshots={snapshots} />,
      })}
    />
  );
}

/** The versions of a run, and which of them is running; without the latter where the row says that none is. */
function Serving({ ctx, run }: { ctx: PageContext; run: BadRun }) {
  const t = texts(ctx).overview;
  const words = run.kind === "rollback" ? t.serving_rollback : t.serving;
  return (
    <>
      <RunVersions ctx={ctx} run={run} empty="" />{" "}
      {run.serving === null || run.serving === "none" ? null : <span class="quiet">{words[run.serving]}</span>}
    </>
  );
}

function endOf(ctx: PageContext, run: BadRun): readonly Child[] {
  return [
    <Time ctx={ctx} at={run.ended_at} />,
    run.downtime_ms === null ? null : texts(ctx).common.down(formatDuration(ctx.language, run.downtime_ms)),
    run.outage === null ? null : attemptWords(ctx, run.outage),
  ];
}

/** What can be done about a failed run beside reading why. */
function BadRunActs({ ctx, run, snapshots }: { ctx: PageContext; run: BadRun; snapshots: Snapshots }) {
  const { executor_id: id } = run;
  const asked = askedAfter(ctx, run, snapshots.get(id) ?? null);
  const offers = run.is_dismissible ? offersFor({ ...undecided, id, dismissible_run_id: run.run_id }) : [];
  if (asked.length + offers.length === 0) return null;
  return (
    <Menu
      id={`actions-${id}`}
      label={texts(ctx).executors.acts.menu_of(run.executor)}
      items={
        <>
          {asked.map(({ word, href, icon }) => (
            <LinkButton ctx={ctx} kind="entry" href={href} icon={icon} opens_dialog>
              {word}
            </LinkButton>
          ))}
          <OfferItems ctx={ctx} id={id} offers={offers} />
        </>
      }
    />
  );
}
