import type { BulkAction, BulkOutcome, BulkReview, ReviewedAction } from "../../src/bulk/schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { RunView } from "../../src/runs/schema.ts";
import type { BadRun } from "../../src/stats/schema.ts";
import {
  BulkConfirm,
  BulkGonePage,
  BulkOutcomePage,
  LeftOut,
  Notes,
  selectionOf,
  summaryOf,
} from "../components/bulk.tsx";
import { LinkButton } from "../components/button.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { Row } from "../components/rows.tsx";
import type { SelectionBarProps } from "../components/selection.tsx";
import { State } from "../components/state.tsx";
import { formatDuration } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, url, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { ExecutorVersions } from "./versions.tsx";

export const bulkPath = "/executors/bulk";

/** What can be done with the executors of a list, as far as one of them calls for it. */
export function executorSelection(list: ListProps<ExecutorView>): Omit<SelectionBarProps, "ctx"> {
  const { matching, offer } = selectionOf(list);
  return {
    form: "executors-selection",
    action: bulkPath,
    buttons: [
      ...offer("update"),
      ...offer("approve", ({ waiting }) => waiting?.reason === "approval", "waiting"),
      ...offer("check"),
    ],
    more: [
      ...offer("hold"),
      ...offer("resume", ({ held_since }) => held_since !== null),
      ...offer("enable", ({ is_enabled }) => !is_enabled),
      ...offer("disable", ({ is_enabled }) => is_enabled),
      ...offer("delete"),
    ],
    matching,
  };
}

interface BulkQuestionProps {
  ctx: PageContext;
  action: ReviewedAction;
  reviews: readonly BulkReview[];
  /** Where it was asked for. */
  back: string;
  /** For a deletion: how many have snapshots, which are deleted too. */
  snapshot_count: number;
  error?: Message | undefined;
}

/** The one question before several executors are updated, approved or deleted: what each would do, and which are left out. */
export function BulkQuestion({ ctx, action, reviews, back, snapshot_count, error }: BulkQuestionProps) {
  const t = texts(ctx).bulk;
  const ready = reviews.filter(takesPart);
  const hasSnapshots = action === "delete" && snapshot_count > 0;
  return (
    <BulkConfirm
      {...{ ctx, action, error, back, path: bulkPath, section: "executors" }}
      title={t.titles[action](ready.length)}
      verb={t.verbs[action]}
      nothing={reviews.length === 0 ? t.none_selected : t.nothing[action]}
      type_name={hasSnapshots ? String(ready.length) : undefined}
      ready={ready.map((review) => <Included ctx={ctx} action={action} review={review} />)}
      left={
        reviews.length === 0 ? (
          <p>{t.select_one}</p>
        ) : (
          <Others ctx={ctx} reviews={reviews.filter((review) => !takesPart(review))} title={t.left_out} />
        )
      }
    >
      <p>{t[`${action}_text`]}</p>
      {hasSnapshots ? <p>{t.delete_snapshots(snapshot_count)}</p> : null}
    </BulkConfirm>
  );
}

/** While many plans are made: asks for the question, which takes its place. */
export function Planning({ ctx, count }: { ctx: PageContext; count: number }) {
  const t = texts(ctx).bulk;
  const title = t.planning(count);
  return (
    <Layout ctx={ctx} title={title} section="executors">
      <section class="confirm" hx-get={url(ctx, ctx.path)} hx-trigger="load" hx-swap="outerHTML">
        <h1>{title}</h1>
        <p role="status" class="scripted">
          <State ctx={ctx} tone="running">
            {t.planning_text}
          </State>
        </p>
        <p class="unscripted">
          <LinkButton ctx={ctx} href={withQuery(ctx.path, { whole: "1" })} kind="main">
            {t.show_plans}
          </LinkButton>
        </p>
      </section>
    </Layout>
  );
}

/** Before all safe updates are made: which these are, and why the others are not. */
export function SafeQuestion({
  ctx,
  reviews,
  back,
  omitted_count,
}: Pick<BulkQuestionProps, "ctx" | "reviews" | "back"> & { omitted_count: number }) {
  const t = texts(ctx).bulk;
  const isSafe = (review: BulkReview) => takesPart(review) && review.unsafe.length === 0;
  const safe = reviews.filter(isSafe);
  const unannounced = safe.filter(({ breaking }) => breaking.some(({ notes }) => notes === "no_source")).length;
  return (
    <BulkConfirm
      {...{ ctx, back, path: bulkPath, section: "executors", action: "update" }}
      title={t.safe_title(safe.length)}
      verb={t.verbs.update}
      nothing={reviews.length === 0 ? t.nothing.update : t.none_safe}
      ready={safe.map((review) => <Included ctx={ctx} action="update" review={review} />)}
      left={
        <>
          {reviews.length === 0 ? <p>{t.no_update}</p> : null}
          <Others ctx={ctx} reviews={reviews.filter((review) => !isSafe(review))} title={t.not_safe} />
          {omitted_count === 0 ? null : <p>{t.not_looked_at(omitted_count)}</p>}
        </>
      }
    >
      <p>{t.safe_text}</p>
      {unannounced === 0 ? null : <p>{t.safe_without_notes(unannounced, safe.length)}</p>}
      <p>{t.update_text}</p>
    </BulkConfirm>
  );
}

/** Leads to that question. */
export function UpdateSafe({ ctx, small }: { ctx: PageContext; small?: boolean }) {
  const back = ctx.path === "/executors" ? null : ctx.path;
  return (
    <LinkButton ctx={ctx} href={withQuery(`${bulkPath}?safe=1`, { back })} small={small} icon="play">
      {texts(ctx).bulk.update_safe}
    </LinkButton>
  );
}

function takesPart({ problem }: BulkReview): boolean {
  return problem === null;
}

interface OthersProps extends Pick<BulkQuestionProps, "ctx" | "reviews"> {
  title: (count: number) => string;
}

function Others({ ctx, reviews, title }: OthersProps) {
  const entries = reviews.map(({ executor: { id, name }, problem, unsafe }) => ({
    ...{ name, href: `/executors/${id}` },
    problems: problem === null ? unsafe : [problem],
  }));
  return <LeftOut ctx={ctx} title={title(entries.length)} entries={entries} />;
}

/** What the question submits: it is refused if the plan or the newest run is another one by then. */
function seenValue({ executor, plan_hash }: BulkReview): string {
  return `${executor.id} ${plan_hash ?? "-"} ${executor.newest_run_id ?? "-"}`;
}

/** What dismissing several failed runs, and its undoing, names of each. */
export function failedValue({ executor_id, run_id }: Pick<BadRun, "executor_id" | "run_id">): string {
  return `${executor_id} ${run_id}`;
}

function Included({ ctx, action, review }: { ctx: PageContext; action: ReviewedAction; review: BulkReview }) {
  const { executor, plan, unsafe } = review;
  const t = texts(ctx);
  const id = `include-${executor.id}`;
  // A deletion is confirmed by entering how many there are, so none can be unticked.
  const isFixed = action === "delete";
  const downtime = plan === null || executor.target.is_declarative ? null : plan.expected_downtime_ms;
  return (
    <Row
      ctx={ctx}
      lead={
        isFixed ? undefined : (
          <input
            type="checkbox"
            id={id}
            name="executor"
            value={seenValue(review)}
            checked
            autocomplete="off"
            aria-label={t.bulk.include(executor.name)}
          />
        )
      }
      title={
        isFixed ? (
          <>
            <input type="hidden" name="executor" value={seenValue(review)} />
            {executor.name}
          </>
        ) : (
          <label for={id}>{executor.name}</label>
        )
      }
      fact={isFixed ? undefined : <ExecutorVersions ctx={ctx} executor={{ ...executor, ...(plan ?? {}) }} is_whole />}
      meta={[
        t.executors.target_on(executor.target.id, executor.connection.name),
        downtime === null ? null : t.bulk.expected_downtime(formatDuration(ctx.language, downtime)),
      ]}
    >
      <Notes ctx={ctx} problems={unsafe} />
    </Row>
  );
}

interface BulkResultPageProps extends Pick<BulkQuestionProps, "ctx" | "back"> {
  result: BulkOutcome<BulkAction>;
  runs: ReadonlyMap<string, RunView>;
}

/** What happened to each executor. */
export function BulkResultPage({ result, ...page }: BulkResultPageProps) {
  const { ctx } = page;
  return (
    <BulkOutcomePage
      {...page}
      section="executors"
      title={bulkSummary(ctx, result)}
      outcome={result}
      to_list={texts(ctx).bulk.to_list}
      actions={result.action === "update" || result.action === "approve" ? <ToRuns ctx={ctx} /> : null}
      pathOf={({ id, run_id }) => (run_id === null ? `/executors/${id}` : `/runs/${run_id}`)}
    />
  );
}

export function BulkResultGone({ ctx }: { ctx: PageContext }) {
  const { gone_text, to_list } = texts(ctx).bulk;
  return <BulkGonePage {...{ ctx, to_list }} section="executors" text={gone_text} actions={<ToRuns ctx={ctx} />} />;
}

function ToRuns({ ctx }: { ctx: PageContext }) {
  return (
    <LinkButton ctx={ctx} href="/runs">
      {texts(ctx).bulk.to_runs}
    </LinkButton>
  );
}

export function bulkSummary(ctx: PageContext, result: BulkOutcome<BulkAction>): string {
  return summaryOf(ctx, texts(ctx).bulk.results, result);
}
