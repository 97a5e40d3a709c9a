import * as v from "valibot";
import { RunDetailView, RunStepView, RunView } from "../../runs/schema.ts";
import { RunQuery, type RunService, StepQuery } from "../../runs/service.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function runRoutes(services: { runs: RunService }): readonly Route[] {
  const { runs } = services;
  const tag = "runs";
  return [
    {
      method: "GET",
      path: "/runs",
      operation_id: "list_runs",
      summary: "List runs of all executors, the newest first",
      tag,
      access: "read",
      query: RunQuery,
      answer: { status: 200, description: "A page of runs", schema: pageOf(RunView) },
      perform: ({ query }) => runs.list(query),
    },
    {
      method: "GET",
      path: "/runs/{id}",
      operation_id: "get_run",
      summary: "Read a run with its plan and its steps",
      tag,
      access: "read",
      answer: { status: 200, description: "The run", schema: RunDetailView },
      perform: ({ param }) => runs.get(param("id")),
    },
    {
      method: "GET",
      path: "/runs/{id}/steps",
      operation_id: "list_run_steps",
      summary: "List the steps of a run after a number, in their order",
      tag,
      access: "read",
      query: StepQuery,
      answer: { status: 200, description: "The steps", schema: v.object({ items: v.array(RunStepView) }) },
      perform: ({ param, query }) => runs.steps(param("id"), query),
    },
  ];
}
