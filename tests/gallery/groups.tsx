import type { UnusedImageView } from "../../src/connections/images-schema.ts";
import type { ServiceObservation } from "../../src/executors/observation-schema.ts";
import type { PlanView } from "../../src/executors/plan-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { say, told, toldAs } from "../../src/messages/message.ts";
import type { RunContainer, RunDetailView, RunStepView } from "../../src/runs/schema.ts";
import { engineSteps } from "../../src/runtimes/engine/steps.ts";
import { PageHeader } from "../../templates/components/page-header.tsx";
import { UnusedImages } from "../../templates/connections/images.tsx";
import { spansAt } from "../../templates/design/progress.tsx";
import { ExecutorPage } from "../../templates/executors/detail.tsx";
import { Layout } from "../../templates/layout.tsx";
import type { PageContext } from "../../templates/page.ts";
import { RunPage } from "../../templates/runs/detail.tsx";
import { composeTarget } from "../support/compose-target.ts";
import { noHistory } from "./sample-context.ts";
import { wholeList } from "./whole-list.ts";

/** Pages of compose groups with sample data: several containers of which one was put back, a plan with files, unused images. */
export const second = 1000;
export const hour = 3_600_000;
export const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
export const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

const tooYoung = (tracker: string) =>
  say("executors.too_young", { tracker, source: "main", channel: "stable", hours: 48 });

function service(name: string, from: string, to: string | null): ServiceObservation {
  const image = `ghcr.io/paperless-ngx/${name}`;
  const desired = { digest: digest("c"), reference: `${image}:${to}`, published_at: null };
  return {
    service: name,
    tracker: name,
    source: "main",
    channel: "stable",
    found: {
      name,
      image: `${image}:${from}`,
      digest: digest("a"),
      image_id: digest("b"),
      state: "running",
      containers: [`paperless-${name}-1`],
      platform: "linux/amd64",
      tag: from,
    },
    desired: to === null ? null : { version: to, tag: to, ...desired },
    difference: to === null ? null : "other_version",
    download: to === null ? null : { from_bytes: 380_000_000, to_bytes: 412_000_000 },
    behind:
      to === null
        ? null
        : { releases: 6, steps: { major: 1, minor: 1, patch: 4 }, days: 51, is_at_least: name === "worker" },
    unmet:
      to === null
        ? {
            code: "too_young",
            ...told(say("executors.of_service", { service: name, said: tooYoung(name) })),
          }
        : null,
  };
}

const services = [
  service("webserver", "2.18.4", "3.0.5"),
  service("worker", "2.18.4", "3.0.5"),
  service("db", "17", null),
];
/** With an image of its own, whose size is not known. */
const broker = { ...service("broker", "8.0", "8.2.1"), download: null };
const planned = [
  ...services,
  { ...broker, desired: broker.desired === null ? null : { ...broker.desired, digest: digest("d") } },
];

export function executor(ctx: PageContext): ExecutorView {
  const reach = { state: "reachable", seen_at: ctx.now, since: null, problem: null } as const;
  return {
    id: id(1),
    name: "paperless",
    description: "",
    is_enabled: true,
    connection_id: id(2),
    connection: { id: id(2), name: "nas", kind: "docker", is_enabled: true, reach },
    target: composeTarget("paperless"),
    bindings: services.map(({ service: name, tracker, source, channel }) => ({
      service: name,
      tracker,
      source,
      channel,
    })),
    trigger: "manual",
    window: null,
    image_selection: "keep_name",
    reference_mode: "tag",
    health_check: { strategy: "auto" },
    restore_on_failure: true,
    allow_downgrade: false,
    minimum_age_hours: 48,
    requires_approval: false,
    approval_hours: 72,
    start_first: true,
    drain_seconds: 10,
    unknown_settings: [],
    unknown_settings_data: [],
    accepted_unknown_settings: [],
    warnings: [],
    state: "update",
    services,
    unbound: [],
    observed_at: ctx.now - hour,
    problem: null,
    waiting: null,
    open_window: null,
    next_windows: [],
    active_run_id: null,
    newest_run_id: null,
    skipped_revision: null,
    held_since: null,
    snoozed_until: null,
    update_revision: null,
    is_version_skipped: false,
    dismissible_run_id: null,
    last_run: null,
    created_at: ctx.now - 100 * hour,
    updated_at: ctx.now - 100 * hour,
  };
}

export const containers = [
  { name: "paperless-broker-1", service: "broker", because: "desired", is_running: true },
  { name: "paperless-webserver-1", service: "webserver", because: "desired", is_running: true },
  { name: "paperless-worker-1", service: "worker", because: "shares", is_running: true },
] as const;

export const diff = [
  { service: "webserver", path: "Image", before: "paperless:2.18.4", after: "paperless:3.0.5", because: "desired" },
  { service: "webserver", path: "Env.PAPERLESS_VERSION", before: "2.18.4", after: "3.0.5", because: "image" },
  { service: "broker", path: "Image", before: "redis:8.0", after: "redis:8.2", because: "desired" },
] as const;

const files = [
  {
    service: "webserver",
    path: "/srv/stacks/paperless/compose.yaml",
    patch:
      "--- compose.yaml\n+++ compose.yaml\n@@ -4 +4 @@\n-    image: ghcr.io/paperless-ngx/webserver:2.18.4\n+    image: ghcr.io/paperless-ngx/webserver:3.0.5",
    is_readable: true,
    ...told(
      say("phrases.joined", {
        items: [
          say("compose.reverts", { image: "ghcr.io/paperless-ngx/webserver:2.18.4" }),
          say("compose.then_nothing"),
        ],
      }),
    ),
  },
  {
    service: "broker",
    path: "/srv/stacks/paperless/.env",
    patch: "REDIS_TAG=8.2",
    is_readable: true,
    ...told(
      say("phrases.joined", {
        items: [
          say("compose.moves", { image: "redis:7.4", running: "redis:8.0" }),
          say("compose.then_recreated", { image: "redis:8.2", cause: say("compose.other_files") }),
          say("compose.also_changes", { services: ["cache"] }),
        ],
      }),
    ),
  },
  {
    service: "worker",
    path: "/srv/stacks/paperless/compose.yaml",
    patch: "",
    is_readable: false,
    ...told(say("compose.shares", { cause: say("compose.not_installed") })),
  },
];

export function GroupPlanSample({ ctx, is_noop = false }: { ctx: PageContext; is_noop?: boolean }) {
  const view: PlanView = {
    target: composeTarget("paperless"),
    services: planned,
    unbound: [],
    unmet: null,
    is_downgrade: false,
    plan: {
      hash: "5f".repeat(32),
      is_noop,
      services: [],
      containers: [...containers],
      detail: {},
      order: "start_first",
      drain_seconds: 10,
      files,
      diff: [...diff],
      carried: { settings: 118, mounts: 9 },
      refusals: [],
      warnings: [
        {
          code: "job",
          ...told(say("phrases.about", { name: "migrate", said: say("refusals.job") })),
        },
      ],
    },
    expected_downtime_ms: 900,
    expected_downtime_runs: 4,
  };
  return (
    <ExecutorPage
      ctx={ctx}
      executor={executor(ctx)}
      runs={[]}
      versions={spansAt(ctx.now)}
      history={noHistory}
      snapshots={wholeList(ctx, [])}
      planned={{ view }}
    />
  );
}

/** The same plan refused, because one container cannot run beside its successor. */
export function RefusedPlanSample({ ctx }: { ctx: PageContext }) {
  const mac = say("refusals.mac_unknown", { networks: ["front"] });
  const refusals = [
    say("refusals.start_first", { name: "webserver", cause: say("refusals.publishes_ports") }),
    say("phrases.about", { name: "broker", said: mac }),
  ].map((message) => ({ code: "start_first", ...told(message) }));
  const view: PlanView = {
    target: composeTarget("paperless"),
    services,
    unbound: [],
    unmet: null,
    is_downgrade: false,
    plan: {
      hash: "5f".repeat(32),
      is_noop: false,
      services: [],
      containers: [...containers],
      detail: {},
      order: "start_first",
      drain_seconds: 10,
      files: [],
      diff: [...diff],
      carried: { settings: 118 },
      refusals,
      warnings: [],
    },
    expected_downtime_ms: null,
    expected_downtime_runs: 0,
  };
  return (
    <ExecutorPage
      ctx={ctx}
      executor={executor(ctx)}
      runs={[]}
      versions={[]}
      history={noHistory}
      snapshots={wholeList(ctx, [])}
      planned={{ view }}
    />
  );
}

const unhealthy = say("readiness.check_fails", { output: "503" });
const unready = say("readiness.needs_healthy", {
  name: "paperless-worker-1",
  needed: "paperless-webserver-1",
  cause: unhealthy,
});
const forbidden = say("engine.refused", { request: "POST /images/1/tag", status: 403, answer: "forbidden" });

export type Noted = readonly [
  step: string,
  phase: RunStepView["phase"],
  container?: string | undefined,
  facts?: object,
];

const journal: readonly Noted[] = [
  ["claim", "begin"],
  ["capturing", "finish"],
  ["pull", "begin"],
  ["pull", "finish", undefined, { was_local: false }],
  ["snapshot", "begin"],
  ["snapshot", "finish", undefined, toldAs("images_not_kept", forbidden)],
  ["updating", "finish"],
  ...["broker", "webserver", "worker"].flatMap((name): Noted[] => [
    ["create", "begin", name],
    ["create", "finish", name],
  ]),
  ...["broker", "webserver"].flatMap((name): Noted[] => [
    ["stop", "begin", name],
    ["stop", "finish", name],
    ["rename_old", "finish", name],
    ["rename_new", "finish", name],
    ["start", "begin", name],
    ["start", "finish", name],
  ]),
  ["wait", "begin", "worker", { for: "paperless-webserver-1" }],
  ["wait", "fail", "worker", { for: "paperless-webserver-1", ...toldAs("error", unready) }],
  ["undo", "begin", "webserver", { is_remade: true }],
  ["undo", "finish", "webserver", { state: "untouched" }],
];

export function GroupRunSample({ ctx }: { ctx: PageContext }) {
  const at = ctx.now - 17 * hour;
  const steps = journal.map(([step, phase, container, facts], index): RunStepView => {
    const named = container === undefined ? {} : { container: `paperless-${container}-1` };
    return { seq: index + 1, step, phase, facts: { ...named, ...facts }, at: at + index * second };
  });
  const ended = at + (steps.length + 1) * second;
  const message = say("runs.failed", { kind: "update", container: null, cause: unready });
  const last = {
    seq: steps.length + 1,
    step: "failed",
    phase: "fail",
    facts: toldAs("reason", message),
    at: ended,
  } as const;
  const outcome = (index: number, told: Partial<RunContainer>): RunContainer => {
    const { name, service: from, because } = containers[index] ?? containers[0];
    const nothing = {
      outcome: "updated",
      downtime_ms: null,
      detail: null,
      detail_data: null,
      is_cause: false,
    } as const;
    return { container: name, service: from, because, ...nothing, ...told };
  };
  const run: RunDetailView = {
    id: id(3),
    executor_id: id(1),
    executor: "paperless",
    kind: "update",
    state: "failed",
    trigger: "window",
    attempt: 1,
    reason_code: "update_failed",
    ...toldAs(
      "reason",
      say("runs.with_serving", { reason: message, kind: "update", serving: "mixed", is_resting: false }),
    ),
    from: { tag: "2.18.4", digest: null },
    to: { tag: "3.0.5", digest: null },
    snapshot_id: null,
    ignore_window: false,
    plan_hash: "5f".repeat(32),
    approval: null,
    approval_until: null,
    serving: "mixed",
    downtime_ms: 3100,
    ready_ms: null,
    progress: null,
    created_at: at,
    started_at: at,
    ended_at: ended,
    cleanup_due_at: null,
    outage: null,
    logs: [],
    containers: [
      outcome(0, { downtime_ms: 1200 }),
      outcome(1, {
        outcome: "put_back",
        downtime_ms: 3100,
        ...toldAs("detail", unhealthy),
        is_cause: true,
      }),
      outcome(2, { outcome: "untouched", ...toldAs("detail", unready) }),
    ],
    plan: {
      services: [
        {
          service: "webserver",
          from: { reference: "ghcr.io/paperless-ngx/webserver:2.18.4", digest: null, image_id: digest("b") },
          to: { reference: "ghcr.io/paperless-ngx/webserver:3.0.5", digest: digest("c") },
        },
      ],
      containers,
      diff,
      carried: { settings: 118 },
      warnings: [],
    },
    steps: [...steps, last],
  };
  return (
    <RunPage ctx={ctx} run={run} executor={executor(ctx)} steps={engineSteps(true)} snapshot={null} is_live={false} />
  );
}

export function UnusedImagesSample({ ctx }: { ctx: PageContext }) {
  const items: UnusedImageView[] = [
    {
      id: digest("1"),
      references: ["ghcr.io/paperless-ngx/paperless-ngx:2.17.1"],
      size_bytes: 1_412_000_000,
      created_at: ctx.now - 900 * hour,
      reason: "repository",
      named_by: [],
    },
    {
      id: digest("2"),
      references: [],
      size_bytes: 88_000_000,
      created_at: ctx.now - 90 * hour,
      reason: "untagged",
      named_by: [],
    },
    {
      id: digest("3"),
      references: ["ghcr.io/paperless-ngx/paperless-ngx:2.18.4"],
      size_bytes: 1_398_000_000,
      created_at: ctx.now - 300 * hour,
      reason: "needed",
      named_by: [
        {
          snapshot_id: id(5),
          executor_id: id(1),
          executor: "paperless",
          is_locked: false,
          created_at: ctx.now - 20 * hour,
        },
      ],
    },
  ];
  const list = { page: wholeList(ctx, items), count: items.length, others: 3 };
  return (
    <Layout ctx={ctx} title="nas" section="connections">
      <PageHeader ctx={ctx} title="nas" />
      <UnusedImages ctx={ctx} connection={{ ...executor(ctx).connection, last_check: null }} found={{ list }} />
    </Layout>
  );
}
