import type { OutageView } from "../../src/executors/outage-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { say, toldAs } from "../../src/messages/message.ts";
import type { RunDetailView } from "../../src/runs/schema.ts";
import { engineSteps } from "../../src/runtimes/engine/steps.ts";
import { ExecutorsPage } from "../../templates/executors/list.tsx";
import type { PageContext } from "../../templates/page.ts";
import { RunPage } from "../../templates/runs/detail.tsx";
import { before, runOf } from "./group-runs.tsx";
import { executor, hour, id, type Noted, second } from "./groups.tsx";
import { wholeList } from "./whole-list.ts";

/** A target that a run left down, and the same when it runs again. */
const refusal = say("engine.refused", {
  request: "POST /containers/3f1/start",
  status: 500,
  answer: "driver failed programming external connectivity: address already in use",
});

const tries: readonly Noted[] = [1, 2, 3].flatMap((number): Noted[] => [
  ["bring_up", "begin", undefined, { number }],
  ["bring_up", "fail", undefined, { number, ...toldAs("error", refusal) }],
]);

const failed: readonly Noted[] = [
  ...before.slice(0, -2),
  ["start", "fail", "webserver", toldAs("error", refusal)],
  ["undo", "begin", "webserver"],
  ["undo", "fail", "webserver", toldAs("error", refusal)],
  ["failed", "fail", undefined, toldAs("reason", refusal)],
  ...tries,
];

const outageOf = (ctx: PageContext, changes: Partial<OutageView>): OutageView => ({
  since: ctx.now - 2 * hour,
  tries: 3,
  next_try_at: ctx.now + 40 * second,
  outcome: null,
  ...toldAs("detail", refusal),
  serving: null,
  ended_at: null,
  ...changes,
});

const downReason = say("runs.with_serving", {
  reason: say("runs.failed", { kind: "update", container: "paperless-webserver-1", cause: refusal }),
  kind: "update",
  serving: "none",
  is_resting: false,
});

const downRun = {
  state: "failed",
  reason_code: "target_down",
  ...toldAs("reason", downReason),
  serving: "none",
  downtime_ms: null,
  ready_ms: null,
} as const satisfies Partial<RunDetailView>;

export function DownSample({ ctx }: { ctx: PageContext }) {
  const run = runOf(ctx, failed, { ...downRun, outage: outageOf(ctx, {}) });
  return <RunPage ctx={ctx} run={run} executor={executor(ctx)} steps={engineSteps(true)} snapshot={null} is_live />;
}

export function RecoveredSample({ ctx }: { ctx: PageContext }) {
  const ended = {
    next_try_at: null,
    outcome: "recovered",
    serving: "previous",
    detail: null,
    detail_data: null,
  } as const;
  const outage = outageOf(ctx, { ...ended, tries: 4, ended_at: ctx.now - hour });
  const steps: Noted[] = [...failed, ["bring_up", "begin"], ["bring_up", "finish", undefined, { serving: "previous" }]];
  const run = runOf(ctx, steps, { ...downRun, outage, downtime_ms: hour });
  return (
    <RunPage ctx={ctx} run={run} executor={executor(ctx)} steps={engineSteps(true)} snapshot={null} is_live={false} />
  );
}

export function DownExecutorsSample({ ctx }: { ctx: PageContext }) {
  const last = {
    id: id(4),
    kind: "update",
    state: "failed",
    reason_code: "target_down",
    ...toldAs("reason", downReason),
    serving: "none",
    downtime_ms: null,
    from_tag: "2.18.4",
    to_tag: "3.0.5",
    started_at: ctx.now - hour,
    ended_at: ctx.now - hour,
  } as const;
  const recovered = outageOf(ctx, { next_try_at: null, outcome: "recovered", serving: "previous" });
  const executors: ExecutorView[] = [
    { ...executor(ctx), state: "failed", last_run: { ...last, outage: outageOf(ctx, {}) } },
    { ...executor(ctx), id: id(8), name: "recovered", state: "failed", last_run: { ...last, outage: recovered } },
  ];
  return <ExecutorsPage {...wholeList(ctx, executors)} snapshots={new Map()} />;
}
