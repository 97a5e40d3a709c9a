import type { RunView } from "../../src/runs/schema.ts";
import { LinkButton, SharedButton, SharedForm } from "../components/button.tsx";
import {
  type ListBodyProps,
  ListChanges,
  type ListFilter,
  ListPage,
  type ListProps,
} from "../components/list-page.tsx";
import { Badge } from "../components/state.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Duration, Time } from "../components/time.tsx";
import { sent } from "../executors/actions.tsx";
import type { Notice, PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { needsRollbackBadge, RunState } from "./state.tsx";
import { RunVersions } from "./versions.tsx";

export interface RunsPageProps extends ListProps<RunView> {
  /** The ids of the shown runs that can be dismissed. */
  dismissible: ReadonlySet<string>;
  executor: { id: string; name: string } | null;
}

const listId = "runs-list";
const outcomes = ["succeeded", "degraded", "failed", "skipped"] as const;

export function RunsPage(props: RunsPageProps) {
  const { ctx } = props;
  const t = texts(ctx).runs;
  return (
    <ListPage
      {...runsBody(props)}
      section="runs"
      icon="list-checks"
      texts={t}
      action={
        <LinkButton ctx={ctx} href="/executors" kind="main">
          {t.empty_action}
        </LinkButton>
      }
      actions={null}
    />
  );
}

/** A row of the open list after an action on its executor, and what was done. */
export function RunChange({ changed, notice, ...props }: RunsPageProps & { changed: string; notice: Notice }) {
  return <ListChanges {...runsBody(props)} changed={[rowId(changed)]} notice={notice} />;
}

function rowId(runId: string): string {
  return `run-${runId}`;
}

/** Filters and rows: replaced by filtering, and followed by an open page. */
export function runsBody({ executor, dismissible, ...props }: RunsPageProps): ListBodyProps {
  const { ctx } = props;
  const t = texts(ctx).runs;
  const only: ListFilter[] =
    executor === null
      ? []
      : [
          {
            name: "executor_id",
            title: texts(ctx).common.executor,
            options: [[executor.id, t.filter_executor(executor.name)]],
          },
        ];
  return {
    ...props,
    id: listId,
    caption: t.title,
    filters: [
      {
        name: "state",
        title: texts(ctx).common.outcome,
        options: outcomes.map((value) => [value, t.outcomes[value]]),
      },
      { name: "trigger", title: t.trigger, options: Object.entries(t.trigger_short) },
      ...only,
    ],
    table: runsTable(ctx, props.items, dismissible),
    children: <SharedForm ctx={ctx} target={`#${listId}`} />,
  };
}

interface RunsTableProps {
  ctx: PageContext;
  runs: readonly RunView[];
}

/** The runs of one executor, on its page. */
export function RunsTable({ ctx, runs }: RunsTableProps) {
  const { columns, rows } = runsTable(ctx, runs, null);
  // The address of that page sorts its snapshots.
  const unsorted = columns.map((column) => ({ ...column, sort: undefined }));
  return <Table ctx={ctx} caption={texts(ctx).runs.title} columns={unsorted} rows={rows} is_list />;
}

/** On an executor's page, without `dismissible`, its name would be in every row; what can be done is above them. */
function runsTable(ctx: PageContext, runs: readonly RunView[], dismissible: ReadonlySet<string> | null) {
  const t = texts(ctx).runs;
  const versions = { key: "versions", title: texts(ctx).common.version, grows: true, leads: true };
  return {
    columns: [
      ...(dismissible === null
        ? [versions]
        : [{ key: "executor", title: texts(ctx).common.executor, grows: true, sort: "executor" }, versions]),
      { key: "outcome", title: texts(ctx).common.outcome, card_label: "none", grows: true },
      { key: "trigger", title: t.trigger, wide_only: true },
      { key: "downtime", title: texts(ctx).common.downtime, align: "end", sort: "-downtime" },
      { key: "time", title: t.time, align: "end", sort: "-time", leads: true },
    ] satisfies Column[],
    rows: runs.map((run) => ({
      id: rowId(run.id),
      href: `/runs/${run.id}`,
      shows: [run, dismissible?.has(run.id)],
      cells: {
        executor: run.executor,
        versions: (
          <span class="change">
            <RunVersions ctx={ctx} run={run} />{" "}
            {needsRollbackBadge(run) ? <Badge icon="undo-2">{t.rollback}</Badge> : null}
          </span>
        ),
        outcome: <RunState ctx={ctx} run={run} />,
        trigger: t.trigger_short[run.trigger],
        downtime:
          run.downtime_ms === null ? <span class="quiet absent">–</span> : <Duration ctx={ctx} ms={run.downtime_ms} />,
        time: <Time ctx={ctx} at={run.started_at ?? run.created_at} />,
      },
      ...(dismissible === null
        ? {}
        : {
            actions: (
              <>
                <Retry ctx={ctx} run={run} />
                {dismissible.has(run.id) ? <Dismiss ctx={ctx} run={run} /> : null}
              </>
            ),
          }),
    })),
  };
}

/** For a failed run while the previous version runs. */
function Dismiss({ ctx, run }: { ctx: PageContext; run: RunView }) {
  return (
    <SharedButton
      ctx={ctx}
      {...sent(run.executor_id, { action: "dismiss", run_id: run.id })}
      kind="bare"
      small
      icon="check"
      label={texts(ctx).runs.dismiss_of(run.executor)}
    />
  );
}

/** For a run that did not do what it was for: shows what a run would do now. */
function Retry({ ctx, run }: { ctx: PageContext; run: RunView }) {
  if (run.kind !== "update" || (run.state !== "failed" && run.state !== "skipped")) return null;
  return (
    <LinkButton
      ctx={ctx}
      href={`/executors/${run.executor_id}/run`}
      kind="bare"
      small
      icon="rotate-ccw"
      label={texts(ctx).runs.retry_of(run.executor)}
      opens_dialog
    />
  );
}
