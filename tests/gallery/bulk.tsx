import type { BulkReview, TrackerReview } from "../../src/bulk/schema.ts";
import type { PlanView } from "../../src/executors/plan-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { type Message, say, told } from "../../src/messages/message.ts";
import { BulkQuestion, BulkResultPage } from "../../templates/executors/bulk.tsx";
import type { PageContext } from "../../templates/page.ts";
import { TrackerBulkQuestion, TrackerBulkResultPage } from "../../templates/trackers/bulk.tsx";
import { executor as group } from "./groups.tsx";

const problem = (said: Message) => ({ code: said.code, ...told(said) });
const hash = "3f".repeat(32);

/** Executors of one container each, from one version to the next. */
function reviews(ctx: PageContext): readonly BulkReview[] {
  const base = group(ctx);
  const [service] = base.services;
  if (service === undefined) throw new Error("The sample has a service");
  const single = (name: string, from: string, to: string): ExecutorView => ({
    ...base,
    ...{ id: name, name, state: "update", target: { ...base.target, id: name, is_group: false } },
    services: [
      {
        ...{ ...service, service: name, difference: "other_version", behind: null },
        found: service.found === null ? null : { ...service.found, tag: from },
        desired: service.desired === null ? null : { ...service.desired, tag: to, version: to },
      },
    ],
  });
  const planned = (executor: ExecutorView): PlanView => ({
    ...{ target: executor.target, services: executor.services, unbound: [], unmet: null, is_downgrade: false },
    ...{ plan: null, expected_downtime_ms: 2400, expected_downtime_runs: 4 },
  });
  const ready = (executor: ExecutorView, ...unsafe: BulkReview["unsafe"]): BulkReview => ({
    ...{ executor, problem: null, unsafe, plan_hash: hash, plan: planned(executor), breaking: [] },
  });
  const left = (executor: ExecutorView, why: NonNullable<BulkReview["problem"]>): BulkReview => ({
    ...{ executor, problem: why, unsafe: [], plan_hash: null, plan: null, breaking: [] },
  });
  return [
    ready(single("traefik", "3.4.1", "3.4.3")),
    ready(
      single("grafana", "11.6.0", "12.0.2"),
      problem(say("bulk.major", { from: "11.6.0", to: "12.0.2" })),
      problem(say("executors.on_hold")),
    ),
    ready({ ...base, id: "paperless-ngx", name: "paperless-ngx" }),
    left(single("gitea", "1.24.0", "1.24.0"), problem(say("executors.already_current"))),
    left(single("home-assistant", "2026.11.1", "2026.11.3"), problem(say("bulk.late"))),
  ];
}

export function BulkQuestionSample({ ctx }: { ctx: PageContext }) {
  return <BulkQuestion ctx={ctx} action="update" reviews={reviews(ctx)} back="/executors" snapshot_count={0} />;
}

export function BulkResultSample({ ctx }: { ctx: PageContext }) {
  const results = reviews(ctx).map(({ executor: { id, name }, problem: why }) => ({
    ...{ id, name, problem: why, run_id: why === null ? id : null },
    outcome: why === null ? ("done" as const) : ("refused" as const),
  }));
  return <BulkResultPage ctx={ctx} result={{ action: "update", results }} back="/executors" runs={new Map()} />;
}

function trackerReviews(): readonly TrackerReview[] {
  const users = ["traefik", "traefik-internal"].map((name) =>
    say("request.named", { what: say("thing.executor"), name }),
  );
  const inUse = problem(say("request.in_use", { what: say("thing.tracker"), name: "traefik", users }));
  const sources = (image: string) => [
    { host: "ghcr.io", config: { image } },
    { host: "api.github.com", config: { repository: image } },
  ];
  return [
    { tracker: { id: "a", name: "grafana", sources: sources("grafana/grafana") }, problem: null },
    {
      tracker: { id: "b", name: "postgres-with-a-very-long-name", sources: sources("library/postgres") },
      problem: null,
    },
    { tracker: { id: "c", name: "traefik", sources: sources("traefik/traefik") }, problem: inUse },
  ];
}

export function TrackerBulkQuestionSample({ ctx }: { ctx: PageContext }) {
  return <TrackerBulkQuestion ctx={ctx} reviews={trackerReviews()} back="/trackers" />;
}

export function TrackerBulkResultSample({ ctx }: { ctx: PageContext }) {
  const results = trackerReviews().map(({ tracker: { id, name }, problem: why }) => ({
    ...{ id, name, problem: why, run_id: null },
    outcome: why === null ? ("done" as const) : ("refused" as const),
  }));
  return <TrackerBulkResultPage ctx={ctx} result={{ action: "delete", results }} back="/trackers" />;
}
