import * as v from "valibot";
import { listQuery } from "../../forms/page.ts";
import { ApprovalInput, RunDetailView, RunStepView, RunView, runList } from "../../runs/schema.ts";
import { StepQuery } from "../../runs/service.ts";
import type { Services } from "../../services.ts";
import { pageOf } from "../openapi.ts";
import { type Route, routesOf } from "./route.ts";

export function runRoutes({ runs }: Pick<Services, "runs">): readonly Route[] {
  const route = routesOf("runs");
  return [
    route("GET", "/runs", {
      operation_id: "list_runs",
      summary: "List runs of all executors, newest first",
      query: listQuery(runList),
      answer: { status: 200, description: "A page of runs", schema: pageOf(RunView) },
      perform: ({ query }) => runs.list(query),
    }),
    route("GET", "/runs/{id}", {
      operation_id: "get_run",
      summary: "Get a run with its plan and steps",
      answer: { status: 200, description: "The run", schema: RunDetailView },
      perform: ({ param }) => runs.get(param("id")),
    }),
    route("GET", "/runs/{id}/steps", {
      operation_id: "list_run_steps",
      summary: "List the steps of a run in order, after a given one",
      query: StepQuery,
      answer: { status: 200, description: "The steps", schema: v.object({ items: v.array(RunStepView) }) },
      perform: ({ param, query }) => runs.steps(param("id"), query),
    }),
    route("DELETE", "/runs/{id}/logs/{log}", {
      operation_id: "delete_run_log",
      summary: "Delete the stored log lines of a container, such as a log that cannot be decrypted",
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => runs.removeLog(context.get("actor"), param("id"), param("log")),
    }),
    route("POST", "/runs/{id}/approvals", {
      operation_id: "create_approval",
      summary: "Approve or refuse a run that is waiting for approval of its plan",
      body: ApprovalInput,
      answer: { status: 200, description: "The run, which continues or has ended", schema: RunView },
      refusals: {
        409: "`not_awaiting`: it is not waiting for approval, or is already approved; `plan_changed`: its plan has another hash, which is in `fields.plan_hash`; `approval_expired`: its approval period has expired",
      },
      idempotent: { events: ["run_approved", "run_refused"], again: ({ id }) => runs.view(id) },
      perform: ({ context, param, body }) => runs.decide(context.get("actor"), param("id"), body),
    }),
  ];
}
