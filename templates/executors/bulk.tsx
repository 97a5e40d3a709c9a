import {
  type BulkAction,
  type BulkResult,
  type BulkResultView,
  type BulkReview,
  maxBulk,
  type ReviewedAction,
} from "../../src/bulk/schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Problem } from "../../src/messages/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Icon } from "../components/icon.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import type { SelectionAction, SelectionBarProps } from "../components/selection.tsx";
import { State } from "../components/state.tsx";
import { formatDuration } from "../format.ts";
import { Layout } from "../layout.tsx";
import type { PageContext, Tone } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { ExecutorVersions } from "./versions.tsx";

export const bulkPath = "/executors/bulk";

const icons = {
  update: "play",
  approve: "check",
  check: "refresh-cw",
  hold: "pause",
  resume: "play",
  enable: "play",
  disable: "circle-minus",
  delete: "trash",
} as const;

/** What can be done with the executors of a list, as far as one of them calls for it. */
export function executorSelection({
  ctx,
  items,
  next_cursor,
  is_first_page,
  asked,
  counts,
}: ListProps<ExecutorView>): Omit<SelectionBarProps, "ctx" | "form"> {
  const t = texts(ctx).bulk.actions;
  const offer = (name: BulkAction, isOffered = true): readonly SelectionAction[] =>
    isOffered ? [{ name, word: t[name], icon: icons[name] }] : [];
  const matching = counts.state?.[asked.filters.state ?? ""] ?? 0;
  const isWhole = is_first_page && next_cursor === null;
  // Of what other pages have, nothing is known.
  const some = (calls: (executor: ExecutorView) => boolean) => !isWhole || items.some(calls);
  return {
    action: bulkPath,
    buttons: [
      ...offer("update"),
      ...offer(
        "approve",
        some(({ waiting }) => waiting?.reason === "approval"),
      ),
      ...offer("check"),
    ],
    more: [
      ...offer("hold"),
      ...offer(
        "resume",
        some(({ held_since }) => held_since !== null),
      ),
      ...offer(
        "enable",
        some(({ is_enabled }) => !is_enabled),
      ),
      ...offer(
        "disable",
        some(({ is_enabled }) => is_enabled),
      ),
      ...offer("delete"),
    ],
    matching: isWhole || matching > maxBulk ? null : matching,
  };
}

interface BulkQuestionProps {
  ctx: PageContext;
  action: ReviewedAction;
  reviews: readonly BulkReview[];
  /** For a deletion: how many have snapshots, which are deleted too. */
  snapshot_count: number;
  error?: Message | undefined;
}

/** The one question before several executors are updated, approved or deleted: what each would do, and which are left out. */
export function BulkQuestion(props: BulkQuestionProps) {
  const { ctx, action, reviews, snapshot_count, error } = props;
  const t = texts(ctx).bulk;
  const [ready, others] = [reviews.filter(takesPart), reviews.filter((review) => !takesPart(review))];
  if (ready.length === 0) {
    return (
      <NothingAsked
        ctx={ctx}
        title={t.nothing[action]}
        section="executors"
        heading={t.nothing[action]}
        back="/executors"
      >
        {reviews.length === 0 ? (
          <p>{t.none_selected}</p>
        ) : (
          <LeftOut ctx={ctx} reviews={others} title={t.left_out(others.length)} />
        )}
      </NothingAsked>
    );
  }
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.titles[action](ready.length)}
      verb={t.verbs[action]}
      kind={action === "delete" ? "danger" : "main"}
      action={`${bulkPath}/confirmed`}
      fields={{ _action: action }}
      cancel_href="/executors"
      type_name={action === "delete" && snapshot_count > 0 ? String(ready.length) : undefined}
      error={error}
    >
      <p>{t[`${action}_text`]}</p>
      {action === "delete" && snapshot_count > 0 ? <p>{t.delete_snapshots(snapshot_count)}</p> : null}
      <Rows>
        {ready.map((review) => (
          <Included ctx={ctx} action={action} review={review} />
        ))}
      </Rows>
      {others.length === 0 ? null : <LeftOut ctx={ctx} reviews={others} title={t.left_out(others.length)} />}
    </Confirm>
  );
}

/** Before all safe updates are made: which these are, and why the others are not. */
export function SafeQuestion({
  ctx,
  reviews,
  omitted_count,
}: Pick<BulkQuestionProps, "ctx" | "reviews"> & { omitted_count: number }) {
  const t = texts(ctx).bulk;
  const isSafe = (review: BulkReview) => takesPart(review) && review.unsafe.length === 0;
  const [safe, others] = [reviews.filter(isSafe), reviews.filter((review) => !isSafe(review))];
  const left = (
    <>
      {others.length === 0 ? null : <LeftOut ctx={ctx} reviews={others} title={t.not_safe(others.length)} />}
      {omitted_count === 0 ? null : <p>{t.not_looked_at(omitted_count)}</p>}
    </>
  );
  if (safe.length === 0) {
    const heading = reviews.length === 0 ? t.nothing.update : t.none_safe;
    return (
      <NothingAsked ctx={ctx} title={heading} section="executors" heading={heading} back="/executors">
        {reviews.length === 0 ? <p>{t.no_update}</p> : left}
      </NothingAsked>
    );
  }
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.safe_title(safe.length)}
      verb={t.verbs.update}
      kind="main"
      action={`${bulkPath}/confirmed`}
      fields={{ _action: "update" }}
      cancel_href="/executors"
    >
      <p>{t.safe_text}</p>
      <p>{t.update_text}</p>
      <Rows>
        {safe.map((review) => (
          <Included ctx={ctx} action="update" review={review} />
        ))}
      </Rows>
      {left}
    </Confirm>
  );
}

/** Leads to that question. */
export function UpdateSafe({ ctx, small }: { ctx: PageContext; small?: boolean }) {
  return (
    <LinkButton ctx={ctx} href={`${bulkPath}?safe=1`} small={small} icon="play">
      {texts(ctx).bulk.update_safe}
    </LinkButton>
  );
}

function takesPart({ problem }: BulkReview): boolean {
  return problem === null;
}

/** What the answer names: it is refused if the plan or the newest run is another one by then. */
export function seenValue({ executor, plan_hash }: BulkReview): string {
  return `${executor.id} ${plan_hash ?? "-"} ${executor.newest_run_id ?? "-"}`;
}

function Included({ ctx, action, review }: { ctx: PageContext; action: ReviewedAction; review: BulkReview }) {
  const { executor, plan, unsafe } = review;
  const t = texts(ctx);
  const id = `include-${executor.id}`;
  // A deletion is confirmed by its number, which a box less would change.
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

function Notes({ ctx, problems }: { ctx: PageContext; problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="bulk-notes">
      {problems.map(({ message_data }) => (
        <li>
          <Icon name="triangle-alert" /> {translateMessage(ctx.language, message_data)}
        </li>
      ))}
    </ul>
  );
}

function LeftOut({ ctx, reviews, title }: { ctx: PageContext; reviews: readonly BulkReview[]; title: string }) {
  return (
    <section class="bulk-left">
      <h2>{title}</h2>
      <Rows>
        {reviews.map(({ executor, problem, unsafe }) => (
          <Row ctx={ctx} title={executor.name} href={`/executors/${executor.id}`}>
            <Notes ctx={ctx} problems={problem === null ? unsafe : [problem]} />
          </Row>
        ))}
      </Rows>
    </section>
  );
}

const doneTones: Readonly<Record<BulkAction, Tone>> = {
  update: "running",
  approve: "running",
  check: "running",
  hold: "current",
  resume: "current",
  enable: "current",
  disable: "current",
  delete: "current",
};

/** What happened to each executor, what was not done first. */
export function BulkResultPage({ ctx, result }: { ctx: PageContext; result: BulkResultView }) {
  const t = texts(ctx).bulk;
  const { action, results } = result;
  const title = bulkSummary(ctx, result);
  const order = ["refused", "unchanged", "done"];
  return (
    <Layout ctx={ctx} title={title} section="executors">
      <PageHeader
        ctx={ctx}
        title={title}
        actions={
          <>
            {action === "update" || action === "approve" ? (
              <LinkButton ctx={ctx} href="/runs">
                {t.to_runs}
              </LinkButton>
            ) : null}
            <LinkButton ctx={ctx} href="/executors" kind="main">
              {t.to_list}
            </LinkButton>
          </>
        }
      />
      <Rows>
        {results
          .toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
          .map((each) => (
            <ResultRow ctx={ctx} action={action} result={each} />
          ))}
      </Rows>
    </Layout>
  );
}

function ResultRow({ ctx, action, result }: { ctx: PageContext; action: BulkAction; result: BulkResult }) {
  const t = texts(ctx).bulk;
  const { id, name, outcome, problem, run_id } = result;
  const isGone = (action === "delete" && outcome === "done") || problem?.code === "not_found";
  const tone = outcome === "done" ? doneTones[action] : outcome === "refused" ? "attention" : "quiet";
  return (
    <Row
      ctx={ctx}
      lead={
        <State ctx={ctx} tone={tone}>
          {outcome === "done" ? t.done[action] : t.outcomes[outcome]}
        </State>
      }
      title={name}
      href={run_id !== null ? `/runs/${run_id}` : isGone ? undefined : `/executors/${id}`}
      meta={problem === null ? [] : [translateMessage(ctx.language, problem.message_data)]}
    />
  );
}

/** "Started 3 updates" */
export function bulkSummary(ctx: PageContext, { action, results }: BulkResultView): string {
  return texts(ctx).bulk.results[action](results.filter(({ outcome }) => outcome === "done").length);
}
