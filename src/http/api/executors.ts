import { BulkInput, BulkPlansInput, BulkPlansView, BulkResultView } from "../../bulk/schema.ts";
import { ActionInput } from "../../executors/deferral-schema.ts";
import { PlanView } from "../../executors/plan-schema.ts";
import { ExecutorView, executorList } from "../../executors/schema.ts";
import { ExecutorInput, ExecutorPatch } from "../../executors/settings-schema.ts";
import { VersionSpansView } from "../../executors/version-schema.ts";
import { listQuery, PageQuery } from "../../forms/page.ts";
import { LogQuery, LogView } from "../../logs/schema.ts";
import { RunInput, RunView, SnapshotView } from "../../runs/schema.ts";
import type { Services } from "../../services.ts";
import { pageOf } from "../openapi.ts";
import { resourceRoutes } from "./resource.ts";
import { type Route, routesOf } from "./route.ts";

export function executorRoutes({
  executors,
  runs,
  snapshots,
  logs,
  bulk,
}: Pick<Services, "executors" | "runs" | "snapshots" | "logs" | "bulk">): readonly Route[] {
  const tag = "executors";
  const route = routesOf(tag);
  const [list, create, ...one] = resourceRoutes({
    path: "/executors",
    tag,
    name: "executor",
    service: executors,
    view: ExecutorView,
    list: {
      summary: "List executors by name, with the last observed state of their targets",
      query: listQuery(executorList),
    },
    create: {
      summary: "Add an executor: bind release channels to a target",
      body: ExecutorInput,
      event: "executor_created",
      refusals: { 409: "`in_use`: another executor updates the target or a part of it" },
    },
    get: { summary: "Get an executor" },
    update: {
      summary: "Change an executor; omitted fields are unchanged",
      body: ExecutorPatch,
      refusals: { 409: "A run is already in progress; `in_use`: another executor updates the target or a part of it" },
    },
    remove: {
      summary: "Delete an executor with its runs and snapshots; the target is unchanged",
      refusals: { 409: "A run is in progress" },
    },
  });
  return [
    list,
    create,
    route("POST", "/executor-previews", {
      operation_id: "preview_executor",
      summary: "Preview the plan of an executor without saving it",
      body: ExecutorInput,
      answer: { status: 200, description: "The plan", schema: PlanView },
      refusals: { 424: "The runtime did not respond" },
      perform: ({ context, body }) => executors.preview(body, context.req.raw.signal),
    }),
    route("POST", "/executor-plans", {
      operation_id: "plan_executors",
      summary:
        "Plan the updates of several executors: what each would change, why it cannot run, and why it is not safe",
      body: BulkPlansInput,
      answer: { status: 200, description: "The plans that were ready in time", schema: BulkPlansView },
      perform: ({ context, body }) => bulk.plans(body, context.req.raw.signal),
    }),
    route("POST", "/executor-actions", {
      operation_id: "act_on_executors",
      summary:
        "Perform one action on several executors, each separately; a repeated request performs only what is not done yet",
      body: BulkInput,
      answer: { status: 200, description: "What was done, and what was not done and why", schema: BulkResultView },
      idempotent: {
        events: [
          "run_started",
          "run_approved",
          "tracker_checked",
          "executor_updated",
          "executor_held",
          "executor_resumed",
          "executor_deleted",
        ],
        again: (_first, { context, body }) => bulk.perform(context.get("actor"), body),
      },
      perform: ({ context, body }) => bulk.perform(context.get("actor"), body),
    }),
    ...one,
    route("GET", "/executors/{id}/plan", {
      operation_id: "plan_executor",
      summary: "Get the plan of a run, field by field, with a hash that a run can require",
      answer: { status: 200, description: "The plan", schema: PlanView },
      refusals: { 424: "The runtime did not respond" },
      perform: ({ context, param }) => executors.plan(param("id"), context.req.raw.signal),
    }),
    route("GET", "/executors/{id}/logs", {
      operation_id: "read_executor_logs",
      summary: "Read the last log lines of the target's containers; only an audit entry is stored, not the lines",
      query: LogQuery,
      answer: { status: 200, description: "The last lines of each container", schema: LogView },
      refusals: {
        409: "`connection_disabled`; `logs_unsupported`: the runtime has no logs to read",
        424: "The runtime did not respond",
        429: "Too many logs are being read",
      },
      perform: async ({ context, param, query }) => {
        const { view } = await logs.read(context.get("actor"), param("id"), query, context.req.raw.signal);
        return view;
      },
    }),
    route("POST", "/executors/{id}/actions", {
      operation_id: "act_on_executor",
      summary:
        "Hold or snooze updates, skip a version, dismiss a failure, or undo one of these; repeating it changes nothing",
      body: ActionInput,
      answer: { status: 200, description: "The executor", schema: ExecutorView },
      refusals: {
        409: "`other_version`: another version has been found since; `not_dismissible`: the run is not the latest one, or the previous version is not running",
      },
      perform: async ({ context, param, body }) => (await executors.act(context.get("actor"), param("id"), body)).view,
    }),
    route("POST", "/executors/{id}/runs", {
      operation_id: "create_run",
      summary: "Queue a run: an update, or a rollback with `snapshot_id`",
      body: RunInput,
      answer: { status: 202, description: "The queued run", schema: RunView },
      refusals: { 409: "A run is already in progress; `fields.active_run_id` is its id" },
      idempotent: { events: ["run_started", "rollback_started"], again: ({ id }) => runs.view(id) },
      perform: ({ context, param, body }) => runs.create(context.get("actor"), param("id"), body),
    }),
    route("GET", "/executors/{id}/runs", {
      operation_id: "list_executor_runs",
      summary: "List the runs of an executor, newest first",
      query: PageQuery,
      answer: { status: 200, description: "A page of runs", schema: pageOf(RunView) },
      perform: async ({ param, query }) => {
        const { id } = await executors.get(param("id"));
        return await runs.list({ ...query, executor_id: id });
      },
    }),
    route("GET", "/executors/{id}/versions", {
      operation_id: "list_executor_versions",
      summary: "List the versions that each service ran, from when to when, newest first",
      answer: { status: 200, description: "The observed versions", schema: VersionSpansView },
      perform: async ({ param }) => ({ items: await executors.versions(param("id")) }),
    }),
    route("GET", "/executors/{id}/snapshots", {
      operation_id: "list_executor_snapshots",
      summary: "List the snapshots of an executor, newest first",
      query: PageQuery,
      answer: { status: 200, description: "A page of snapshots", schema: pageOf(SnapshotView) },
      perform: async ({ param, query }) => {
        const { id } = await executors.get(param("id"));
        return await snapshots.list({ ...query, executor_id: id });
      },
    }),
  ];
}
