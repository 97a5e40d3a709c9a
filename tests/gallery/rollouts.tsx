import type { ExecutorView } from "../../src/executors/schema.ts";
import { type Message, plain, say, toldAs } from "../../src/messages/message.ts";
import type { RunDetailView, RunStepView } from "../../src/runs/schema.ts";
import type { RolloutPod, RolloutProgress } from "../../src/runtimes/journal.ts";
import { kubernetes } from "../../src/runtimes/kubernetes/index.ts";
import type { PageContext } from "../../templates/page.ts";
import { RunPage } from "../../templates/runs/detail.tsx";
import { runOf } from "./group-runs.tsx";
import { executor, second } from "./groups.tsx";

/** A Deployment whose new pods crash: while its rollout is followed, and after it failed. */
const steps = kubernetes.target_kinds.find(({ kind }) => kind === "deployment")?.steps ?? [];
const crash = say("kubernetes.crash_loop", { container: "web", restarts: 3, exit_code: 1, reason: "Error" });
const waits = say("kubernetes.pods_wait", { pods: 2, why: crash });
const counts = { desired: 3, updated: 2, ready: 2, available: 2, old: 2 };

const pod = (name: string, told: Partial<RolloutPod>): RolloutPod => ({
  ...{ name, is_new: true, state: "ready", restarts: 0, why: null },
  ...told,
});

const rollout: RolloutProgress = {
  part: "",
  desired: 3,
  new: { name: "6d4cf56db6", pods: 2, ready: 0, available: 0 },
  old: { name: "5b9c7d8f44", pods: 2, ready: 2, available: 2 },
  pods: [
    pod("paperless-web-6d4cf56db6-x7k2p", { state: "failing", restarts: 3, why: crash }),
    pod("paperless-web-6d4cf56db6-m4v9c", { state: "starting" }),
    pod("paperless-web-5b9c7d8f44-2hq8d", { is_new: false }),
    pod("paperless-web-5b9c7d8f44-t6w1n", { is_new: false }),
    pod("paperless-web-5b9c7d8f44-9zr5b", { is_new: false, state: "ending" }),
  ],
  why: null,
  more_pods: 14,
};

const lines = [
  "[2026-11-20 21:13:58 +0100] INFO  Starting paperless-ngx 3.0.5",
  "[2026-11-20 21:13:59 +0100] INFO  Connecting to postgresql://[redacted]@db:5432/paperless",
  "Traceback (most recent call last):",
  '  File "/usr/src/paperless/src/manage.py", line 12, in <module>',
  "    execute_from_command_line(sys.argv)",
  '  File "/usr/local/lib/python3.12/site-packages/django/core/management/__init__.py", line 442, in execute_from_command_line',
  "django.db.migrations.exceptions.InconsistentMigrationHistory: Migration documents.1061 is applied before its dependency documents.1060 on database 'default'.",
];

function rolloutRun(
  ctx: PageContext,
  told: Partial<RunDetailView>,
  end: readonly [RunStepView["phase"], RunStepView["facts"]] | null,
) {
  const run = runOf(
    ctx,
    [
      ["claim", "begin"],
      ["capturing", "finish"],
      ["snapshot", "begin"],
      ["snapshot", "finish"],
      ["updating", "finish"],
      ["patch", "begin"],
      ["patch", "finish"],
      ["verifying", "finish"],
      ["rollout", "begin"],
      ...(end === null ? [] : ([["rollout", end[0], undefined, end[1]]] as const)),
    ],
    { plan: null, containers: [], downtime_ms: null, ready_ms: null, snapshot_id: null, ...told },
  );
  const at = ctx.now - 40 * second;
  const pod = "paperless-web-6d4cf56db6-x7k2p";
  const log = { id: "log", pod, is_previous: true, ...toldAs("why", null), problem: null, at };
  const forbidden: Message = say("kubernetes.logs_forbidden", { namespace: "paperless" });
  const logs: RunDetailView["logs"] = [
    { ...log, container: "web", lines },
    { ...log, container: "migrate", is_previous: false, lines: [], ...toldAs("why", forbidden) },
    { ...log, container: "proxy", lines: [] },
  ];
  return { ...run, logs };
}

const target = (ctx: PageContext): ExecutorView => ({
  ...executor(ctx),
  target: {
    ...executor(ctx).target,
    ...{ kind: "deployment", id: "paperless/web", title: "Deployment", title_data: plain("Deployment") },
    ...{ is_group: true, is_declarative: true },
  },
});

export function RolloutSample({ ctx }: { ctx: PageContext }) {
  const said = say("kubernetes.rolling", counts);
  const detail = toldAs("detail", say("kubernetes.because", { said, why: waits }));
  const progress = { step: "rollout", done: 0, total: 3, ...detail, rollout };
  const run = rolloutRun(ctx, { state: "verifying", serving: null, ended_at: null, progress }, null);
  return <RunPage ctx={ctx} run={run} executor={target(ctx)} steps={steps} snapshot={null} is_live />;
}

export function FailedRolloutSample({ ctx }: { ctx: PageContext }) {
  const cause = say("kubernetes.because", {
    said: say("kubernetes.deadline_exceeded", { said: plain('ReplicaSet "web-6d4cf56db6" has timed out progressing') }),
    why: waits,
  });
  const reason = toldAs("reason", say("runs.unhealthy", { kind: "update", cause }));
  const run = rolloutRun(ctx, { state: "failed", reason_code: "unhealthy", serving: "previous", ...reason }, [
    "fail",
    { ...counts, rollout, ...toldAs("error", cause) },
  ]);
  return <RunPage ctx={ctx} run={run} executor={target(ctx)} steps={steps} snapshot={null} is_live={false} />;
}
