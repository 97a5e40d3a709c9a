import type { ExecutorView } from "../../src/executors/schema.ts";
import { triggers } from "../../src/executors/settings-schema.ts";
import { SharedForm } from "../components/button.tsx";
import { Clip } from "../components/clip.tsx";
import { AddButton, type ListBodyProps, ListChanges, ListPage, type ListProps } from "../components/list-page.tsx";
import { Time } from "../components/time.tsx";
import { formatDuration } from "../format.ts";
import type { Notice, PageContext } from "../page.ts";
import { runWords } from "../runs/state.tsx";
import { texts } from "../texts/texts.ts";
import { executorSelection, UpdateSafe } from "./bulk.tsx";
import { RowActions } from "./row-actions.tsx";
import { ExecutorState } from "./state.tsx";
import { ExecutorVersions } from "./versions.tsx";
import { openingStart } from "./window-words.ts";

const states = [
  "update",
  "waiting",
  "running",
  "failed",
  "unknown",
  "current",
  "held",
  "snoozed",
  "skipped",
  "dismissed",
] as const;

export interface ExecutorsPageProps extends ListProps<ExecutorView> {
  /** The latest snapshot of each executor that has any. */
  snapshots: ReadonlyMap<string, string>;
}

const listId = "executors-list";

interface ExecutorsWholePageProps extends ExecutorsPageProps {
  /** There is nothing yet that an executor could update. */
  needs_connection?: boolean;
}

export function ExecutorsPage({ needs_connection = false, ...props }: ExecutorsWholePageProps) {
  const { ctx } = props;
  const t = texts(ctx).executors;
  return (
    <ListPage
      {...executorsBody(props)}
      section="executors"
      icon="rocket"
      texts={needs_connection ? { ...t, empty_text: [t.empty_text, <br />, t.no_connection] } : t}
      action={<AddButton ctx={ctx} section={needs_connection ? "connections" : "executors"} />}
    />
  );
}

interface ExecutorChangeProps extends ExecutorsPageProps {
  /** The id of the executor. */
  changed: string;
  notice: Notice;
}

/** A row of the open list after an action on it, and what was done. */
export function ExecutorChange({ changed, notice, ...props }: ExecutorChangeProps) {
  return <ListChanges {...executorsBody(props)} changed={[rowId(changed)]} notice={notice} />;
}

function rowId(executorId: string): string {
  return `executor-${executorId}`;
}

/** Filters and rows: replaced by filtering. */
export function executorsBody(props: ExecutorsPageProps): ListBodyProps {
  const { ctx, items: executors, snapshots } = props;
  const t = texts(ctx).executors;
  return {
    ...props,
    id: listId,
    caption: t.title,
    filters: [
      {
        name: "state",
        title: texts(ctx).common.state_title,
        options: states.map((value) => [value, t.states[value]]),
      },
      { name: "trigger", title: t.trigger, options: triggers.map((value) => [value, t.triggers[value]]) },
    ],
    selection: executorSelection(props),
    actions: (
      <>
        {(props.counts.state?.update ?? 0) > 0 ? <UpdateSafe ctx={ctx} /> : null}
        <AddButton ctx={ctx} section="executors" />
      </>
    ),
    table: {
      columns: [
        { key: "name", title: texts(ctx).common.executor, grows: true, sort: "name" },
        { key: "target", title: texts(ctx).common.target, clips: true, sort: "target" },
        { key: "versions", title: texts(ctx).common.version, grows: true, leads: true },
        { key: "state", title: texts(ctx).common.state_title, card_label: "none", grows: true, sort: "state" },
        { key: "trigger", title: t.trigger, wide_only: true },
        { key: "run", title: t.last_run, align: "end", sort: "-run" },
      ],
      rows: executors.map((executor) => ({
        id: rowId(executor.id),
        href: `/executors/${executor.id}`,
        muted: !executor.is_enabled,
        shows: [shownOf(executor), snapshots.get(executor.id)],
        choice: { value: executor.id, label: texts(ctx).selection.choose(executor.name) },
        cells: {
          name: executor.name,
          target: (
            <span class="clip-first">
              <Clip>{executor.target.id}</Clip> <span class="quiet">· {executor.connection.name}</span>
            </span>
          ),
          versions: <ExecutorVersions ctx={ctx} executor={executor} />,
          state: <ExecutorState ctx={ctx} executor={executor} />,
          // The state of a waiting executor already says when the window opens.
          trigger:
            executor.waiting?.reason === "window" ? t.triggers.window : <TriggerWords ctx={ctx} executor={executor} />,
          run: <LastRun ctx={ctx} executor={executor} />,
        },
        titles: {
          target: t.target_on(executor.target.id, executor.connection.name),
          run: executor.last_run === null ? undefined : runWords(ctx, executor.last_run),
        },
        actions: <RowActions ctx={ctx} executor={executor} snapshot_id={snapshots.get(executor.id) ?? null} />,
      })),
    },
    children: <SharedForm ctx={ctx} target={`#${listId}`} />,
  };
}

function shownOf({ observed_at: _looked, connection: { reach, ...connection }, ...executor }: ExecutorView) {
  return { ...executor, connection, reach: [reach.state, reach.problem] };
}

/** "Immediate"; for a window also when it opens next. */
export function TriggerWords({ ctx, executor }: { ctx: PageContext; executor: ExecutorView }) {
  const t = texts(ctx).executors;
  const [next] = executor.next_windows;
  if (executor.trigger !== "window") return <>{t.triggers[executor.trigger]}</>;
  if (executor.open_window !== null) {
    return (
      <>
        {t.triggers.window}, {t.next_words.open_now}
      </>
    );
  }
  return (
    <>
      {t.triggers.window}
      {next === undefined ? null : ` ${openingStart(ctx, next)}`}
    </>
  );
}

function LastRun({ ctx, executor }: { ctx: PageContext; executor: ExecutorView }) {
  const { last_run: run } = executor;
  if (run === null) return <span class="quiet">{texts(ctx).executors.no_run}</span>;
  return (
    <>
      <Time ctx={ctx} at={run.ended_at ?? run.started_at} />
      {run.downtime_ms === null ? null : (
        <small class="quiet num" title={texts(ctx).common.downtime}>
          {" "}
          {formatDuration(ctx.language, run.downtime_ms)}
        </small>
      )}
    </>
  );
}
