import type { RunView } from "../../src/runs/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { NothingMatches } from "../components/empty.tsx";
import { ListFrame, type ListProps } from "../components/list-page.tsx";
import { Filters, Pagination } from "../components/navigation.tsx";
import { Badge } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Duration, Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { needsRollbackBadge, RunState } from "./state.tsx";
import { RunVersions } from "./versions.tsx";

interface RunsPageProps extends ListProps<RunView> {
  state: RunView["state"] | null;
  executor: { id: string; name: string } | null;
}

const outcomes = ["succeeded", "degraded", "failed", "skipped"] as const;

export function RunsPage({ ctx, items: runs, next_cursor, is_first_page, state, executor }: RunsPageProps) {
  const t = texts(ctx).runs;
  return (
    <ListFrame
      ctx={ctx}
      section="runs"
      icon="list-checks"
      texts={t}
      is_empty={runs.length === 0 && is_first_page && state === null && executor === null}
      action={
        <LinkButton ctx={ctx} href="/executors" kind="main">
          {t.empty_action}
        </LinkButton>
      }
    >
      <Filters
        ctx={ctx}
        groups={[
          {
            name: "state",
            title: texts(ctx).common.outcome,
            current: state,
            options: outcomes.map((value) => ({ title: t.outcomes[value], value })),
          },
          ...(executor === null
            ? []
            : [
                {
                  name: "executor_id",
                  title: texts(ctx).common.executor,
                  current: executor.id,
                  options: [{ title: t.filter_executor(executor.name), value: executor.id }],
                },
              ]),
        ]}
      />
      {runs.length === 0 ? <NothingMatches ctx={ctx} href="/runs" /> : <RunsTable ctx={ctx} runs={runs} />}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
    </ListFrame>
  );
}

interface RunsTableProps {
  ctx: PageContext;
  runs: readonly RunView[];
  /** For an executor's page, where its name would be in every row. */
  without_executor?: boolean;
}

export function RunsTable({ ctx, runs, without_executor = false }: RunsTableProps) {
  const t = texts(ctx).runs;
  const versions = { key: "versions", title: texts(ctx).common.version, grows: true };
  return (
    <Table
      ctx={ctx}
      caption={t.title}
      columns={[
        ...(without_executor
          ? [versions]
          : [{ key: "executor", title: texts(ctx).common.executor, grows: true }, versions]),
        { key: "outcome", title: texts(ctx).common.outcome, card_label: "none" },
        { key: "trigger", title: t.trigger, wide_only: true },
        { key: "downtime", title: texts(ctx).common.downtime, align: "end" },
        { key: "time", title: t.time, align: "end" },
      ]}
      rows={runs.map((run) => ({
        id: `run-${run.id}`,
        href: `/runs/${run.id}`,
        cells: {
          executor: run.executor,
          versions: (
            <div>
              <RunVersions ctx={ctx} run={run} />{" "}
              {needsRollbackBadge(run) ? <Badge icon="undo-2">{t.rollback}</Badge> : null}
            </div>
          ),
          outcome: <RunState ctx={ctx} run={run} />,
          trigger: t.trigger_short[run.trigger],
          downtime:
            run.downtime_ms === null ? <span class="quiet">–</span> : <Duration ctx={ctx} ms={run.downtime_ms} />,
          time: <Time ctx={ctx} at={run.started_at ?? run.created_at} />,
        },
      }))}
    />
  );
}
