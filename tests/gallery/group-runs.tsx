import type { ExecutorView } from "../../src/executors/schema.ts";
import { plain, say, told, toldAs } from "../../src/messages/message.ts";
import type {
  RunContainer,
  RunDetailView,
  RunStepView,
  SnapshotDiffView,
  SnapshotView,
} from "../../src/runs/schema.ts";
import { engineSteps } from "../../src/runtimes/engine/steps.ts";
import { ExecutorPage } from "../../templates/executors/detail.tsx";
import { ExecutorsPage } from "../../templates/executors/list.tsx";
import type { PageContext } from "../../templates/page.ts";
import { RunPage } from "../../templates/runs/detail.tsx";
import { SnapshotRestore } from "../../templates/snapshots/questions.tsx";
import { containers, diff, digest, executor, hour, id, type Noted, second } from "./groups.tsx";
import { noHistory } from "./sample-context.ts";
import { wholeList } from "./whole-list.ts";

/** Pages of compose groups: how runs of them ended, a rollback, one that is new and one that waits. */
const names = ["broker", "webserver", "worker"];
const fault = say("readiness.restarted", { count: 3, exit_code: 1 });

const swapped = names.flatMap((name): Noted[] =>
  ["create", "stop", "rename_old", "rename_new", "start"].flatMap((step): Noted[] => [
    [step, "begin", name],
    [step, "finish", name],
  ]),
);

export const before: readonly Noted[] = [
  ["claim", "begin"],
  ["capturing", "finish"],
  ["pull", "begin"],
  ["pull", "finish"],
  ["snapshot", "begin"],
  ["snapshot", "finish"],
  ["updating", "finish"],
  ...swapped,
  ["verifying", "finish"],
  ["verify", "begin"],
];

export function runOf(ctx: PageContext, noted: readonly Noted[], told: Partial<RunDetailView>): RunDetailView {
  const at = ctx.now - 2 * hour;
  // The health check is what takes long.
  const lateMs = (index: number) => (index > before.length - 1 ? 28 * second : 0);
  const steps = noted.map(([step, phase, container, facts], index): RunStepView => {
    const named = container === undefined ? {} : { container: `paperless-${container}-1` };
    return { seq: index + 1, step, phase, facts: { ...named, ...facts }, at: at + index * 300 + lateMs(index) };
  });
  return {
    id: id(4),
    executor_id: id(1),
    executor: "paperless",
    kind: "update",
    state: "succeeded",
    trigger: "manual",
    attempt: 1,
    reason_code: null,
    ...toldAs("reason", null),
    logs: [],
    from: { tag: "2.18.4", digest: null },
    to: { tag: "3.0.5", digest: null },
    snapshot_id: null,
    ignore_window: false,
    plan_hash: "5f".repeat(32),
    approval: null,
    approval_until: null,
    serving: "desired",
    downtime_ms: 3100,
    ready_ms: 11_000,
    progress: null,
    created_at: at,
    started_at: at,
    ended_at: (steps.at(-1)?.at ?? at) + second,
    cleanup_due_at: null,
    outage: null,
    containers: [],
    plan: {
      services: ["webserver", "broker"].map((service) => ({
        service,
        from: { reference: `ghcr.io/paperless-ngx/${service}:2.18.4`, digest: null, image_id: digest("b") },
        to: { reference: `ghcr.io/paperless-ngx/${service}:3.0.5`, digest: digest("c") },
      })),
      containers,
      diff,
      carried: { settings: 118 },
      warnings: [],
    },
    steps,
    ...told,
  };
}

function outcomes(told: (container: string) => Partial<RunContainer>): RunContainer[] {
  return containers.map(({ name, service, because }) => ({
    container: name,
    service,
    because,
    outcome: because === "desired" ? "updated" : "moved",
    downtime_ms: 3100,
    detail: null,
    detail_data: null,
    is_cause: false,
    ...told(name),
  }));
}

/** All of it put back, because one container did not stay up. */
export function PutBackSample({ ctx }: { ctx: PageContext }) {
  const verdict = say("phrases.about", { name: "paperless-worker-1", said: fault });
  const detail = toldAs("detail", verdict);
  const message = say("runs.unhealthy", { kind: "update", cause: verdict });
  const back = names.flatMap((name): Noted[] => [
    ["undo", "begin", name],
    ["undo", "finish", name, { state: "untouched" }],
  ]);
  const run = runOf(
    ctx,
    [
      ...before,
      ["probe", "fail", undefined, { number: 1, duration_ms: 12, ...detail }],
      ["verify", "fail", undefined, { ...detail, attempts: 1 }],
      ...back,
      ["failed", "fail", undefined, toldAs("reason", message)],
    ],
    {
      state: "failed",
      reason_code: "unhealthy",
      ...toldAs(
        "reason",
        say("runs.with_serving", { reason: message, kind: "update", serving: "previous", is_resting: false }),
      ),
      serving: "previous",
      ready_ms: null,
      containers: outcomes((name) => ({
        outcome: "put_back",
        ...(name === "paperless-worker-1" ? { ...toldAs("detail", fault), is_cause: true } : {}),
      })),
    },
  );
  return (
    <RunPage ctx={ctx} run={run} executor={executor(ctx)} steps={engineSteps(true)} snapshot={null} is_live={false} />
  );
}

export function RolledBackSample({ ctx }: { ctx: PageContext }) {
  const said = say("readiness.running", { seconds: 10 });
  const detail = toldAs("detail", say("phrases.about", { name: "paperless-webserver-1", said }));
  const run = runOf(
    ctx,
    [...before, ["verify", "finish", undefined, { ...detail, attempts: 1 }], ["succeeded", "finish"]],
    {
      kind: "rollback",
      from: { tag: "3.0.5", digest: null },
      to: { tag: "2.18.4", digest: null },
      containers: outcomes(() => ({})),
    },
  );
  return (
    <RunPage ctx={ctx} run={run} executor={executor(ctx)} steps={engineSteps(true)} snapshot={null} is_live={false} />
  );
}

/** `target`: what differs from a compose group. */
export function RollbackQuestionSample({
  ctx,
  target,
}: {
  ctx: PageContext;
  target?: Partial<ExecutorView["target"]>;
}) {
  const snapshot: SnapshotView = {
    id: id(5),
    executor_id: id(1),
    executor: "paperless",
    run_id: null,
    reference: "ghcr.io/paperless-ngx/webserver:2.18.4",
    digest: digest("c"),
    image_id: digest("a"),
    image_ids: [],
    size_bytes: 14_000,
    is_locked: false,
    created_at: ctx.now - 20 * hour,
  };
  const view: SnapshotDiffView = {
    snapshot_id: id(5),
    is_noop: false,
    diff: [...diff],
    files: [],
    refusals: [],
    warnings: [],
    images: [{ id: digest("a"), is_present: true }],
    plan_hash: "5f".repeat(32),
    checked_at: ctx.now,
  };
  const known = executor(ctx);
  const shown = { ...known, target: { ...known.target, ...target } };
  return <SnapshotRestore ctx={ctx} executor={shown} snapshot={snapshot} compared={{ view }} />;
}

const long = "the-paperless-of-the-whole-family-and-the-office";

function newOne(ctx: PageContext): ExecutorView {
  const description = "Scans of the office, kept for ten years, and what the family does not want to lose";
  return { ...executor(ctx), state: "unknown", services: [], observed_at: null, description };
}

function waitingOne(ctx: PageContext): ExecutorView {
  const message = say("runs.waits_for_run", { run: id(4), executor: long, connection: "nas" });
  const waiting = { reason: "connection", until: null, ...told(message) } as const;
  return { ...executor(ctx), id: id(6), name: "billing", state: "waiting", waiting, active_run_id: id(7) };
}

/** One that nobody has looked at yet. */
export function NewExecutorSample({ ctx }: { ctx: PageContext }) {
  return (
    <ExecutorPage
      ctx={ctx}
      executor={newOne(ctx)}
      runs={[]}
      versions={[]}
      history={noHistory}
      snapshots={wholeList(ctx, [])}
      planned={{ failure: plain("Not now") }}
    />
  );
}

/** One whose run waits for another. */
export function WaitingExecutorSample({ ctx }: { ctx: PageContext }) {
  return (
    <ExecutorPage
      ctx={ctx}
      executor={waitingOne(ctx)}
      runs={[]}
      versions={[]}
      history={noHistory}
      snapshots={wholeList(ctx, [])}
      planned={{ failure: plain("Not now") }}
    />
  );
}

export function ExecutorsSample({ ctx }: { ctx: PageContext }) {
  const last = {
    id: id(4),
    kind: "update",
    state: "failed",
    reason_code: "update_failed",
    ...toldAs("reason", plain("The update failed")),
    serving: "mixed",
    outage: null,
    downtime_ms: 3100,
    from_tag: "2.18.4",
    to_tag: "3.0.5",
    started_at: ctx.now - hour,
    ended_at: ctx.now - hour,
  } as const;
  const executors: ExecutorView[] = [
    { ...executor(ctx), id: id(8), name: long, state: "failed", last_run: last },
    waitingOne(ctx),
    { ...newOne(ctx), id: id(9), name: "new-one" },
    executor(ctx),
  ];
  return <ExecutorsPage {...wholeList(ctx, executors)} snapshots={new Map()} />;
}
