import type { PageContext } from "../../../templates/page.ts";
import { ApprovalQuestion, type Decision } from "../../../templates/runs/approval.tsx";
import { RunPage, type RunPageProps, RunPartial, type runParts } from "../../../templates/runs/detail.tsx";
import { RunsPage, type RunsPageProps } from "../../../templates/runs/list.tsx";
import { DeleteLog } from "../../../templates/runs/logs.tsx";
import { isActiveRun } from "../../../templates/runs/state.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { decisions, type RunDetailView, type RunView } from "../../runs/schema.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { eventStream } from "./event-stream.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { answerQuestion, questionRoutes } from "./question.ts";
import { formText, readForm } from "./read-form.ts";
import { readShown, type Shown } from "./read-list.ts";
import { respondDone, respondHtml } from "./respond.ts";
import { stepsOfRun } from "./update-notes.ts";

/** How long a page waits for the last step of a finished run. */
const cleaningMs = 60_000;

const partNames = [
  "run-versions",
  "run-state",
  "run-badge",
  "run-banner",
  "run-summary",
  "run-steps",
  "run-facts",
  "run-logs",
  "run-plan",
  "run-actions",
  "run-live",
] as const satisfies readonly (keyof typeof runParts)[];

export function runPages(app: App, services: Services, page: PageSettings): void {
  const { runs } = services;

  app.get("/runs", async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, <RunsPage {...(await readRuns(services, ctx))} />);
  });

  app.get("/runs/:id", async (c) => respondHtml(c, <RunPage {...(await propsOf(services, page, c))} />));

  approvalRoutes(app, services, page);

  questionRoutes(app, page, {
    path: "/runs/:id/logs/:log/delete",
    find: async (c) => {
      const run = await runs.get(c.req.param("id") ?? "");
      const id = c.req.param("log") ?? "";
      const log = run.logs.find((each) => each.id === id);
      if (log === undefined) throw notFound("run_log", id);
      return { run_id: run.id, log };
    },
    draw: (asked) => <DeleteLog {...asked} />,
    perform: async (c, ctx, { run_id, log }) => {
      await runs.removeLog(c.get("actor"), run_id, log.id);
      return { path: `/runs/${run_id}`, notice: { tone: "current", text: texts(ctx).runs.logs.deleted } };
    },
  });

  app.get("/runs/:id/parts", async (c) => {
    const props = await propsOf(services, page, c);
    const parts = await Promise.all(partNames.map((part) => rendered(part, props)));
    return respondHtml(c, parts.join(""));
  });

  app.get("/runs/:id/stream", async (c) => {
    const id = c.req.param("id");
    const seen = Number(c.req.header("last-event-id") ?? "0");
    // Throws for an unknown run, like any page, before the stream begins.
    await runs.get(id);
    const session = requireSession(c);
    const options = { clock: services.clock, holds: () => services.auth.holds(session), closing: c.get("closing") };
    return eventStream(c, options, (signal) =>
      messages(services, page, c, id, Number.isSafeInteger(seen) && seen > 0 ? seen : 0, signal),
    );
  });
}

/** The page of the list that the path of `ctx` asks for. */
export async function readRuns(services: Services, ctx: PageContext, shown?: Shown): Promise<RunsPageProps> {
  const list = await readShown(ctx, services.runs, shown);
  const { executor_id } = list.asked.filters;
  const executor = executor_id === undefined ? null : await services.executors.get(executor_id);
  return { ...list, executor, dismissible: await dismissibleOf(services, list.items) };
}

/** Those of the runs that are an executor's last one, failed while the previous version runs. */
async function dismissibleOf({ executors }: Services, shown: readonly RunView[]): Promise<ReadonlySet<string>> {
  const failed = new Set(shown.filter(({ state }) => state === "failed").map(({ executor_id }) => executor_id));
  const views = await executors.byIds([...failed]);
  return new Set(views.flatMap(({ dismissible_run_id }) => dismissible_run_id ?? []));
}

function approvalRoutes(app: App, services: Services, page: PageSettings): void {
  const { runs, executors } = services;
  const question = async (ctx: PageContext, id: string, decision: Decision, error?: Message) => {
    const run = await runs.get(id);
    const executor = await executors.get(run.executor_id);
    const breaking = await services.trackers.breakingIn(stepsOfRun(run, executor));
    return <ApprovalQuestion {...{ ctx, run, executor, decision, breaking, error }} />;
  };

  for (const decision of decisions) {
    app.get(`/runs/:id/${decision}`, async (c) => {
      const ctx = await pageContext(c, page);
      return respondHtml(c, await question(ctx, c.req.param("id"), decision));
    });
  }

  // A refusal is shown at this address, which may be reloaded.
  app.get("/runs/:id/approvals", async (c) => {
    const ctx = await pageContext(c, page);
    return respondDone(c, ctx.base_path, `/runs/${c.req.param("id")}/approve`);
  });
  app.post("/runs/:id/approvals", async (c) => {
    const ctx = await pageContext(c, page);
    const id = c.req.param("id");
    const form = await readForm(c);
    const input = { decision: formText(form, "decision"), plan_hash: formText(form, "plan_hash") };
    const decision = decisions.find((each) => each === input.decision) ?? "approve";
    return await answerQuestion(c, ctx, {
      draw: (error) => question(ctx, id, decision, error),
      perform: async () => {
        const { executor } = await runs.decide(c.get("actor"), id, input);
        const t = texts(ctx).runs.approval;
        const path = `/runs/${id}`;
        if (decision === "approve") return { path, notice: { tone: "running", text: t.approved(executor) } };
        return { path, notice: { tone: "current", text: t.refused(executor) } };
      },
    });
  });
}

async function rendered(part: (typeof partNames)[number], props: RunPageProps): Promise<string> {
  return String(await (<RunPartial part={part} props={props} />));
}

async function propsOf(services: Services, page: PageSettings, c: AppContext): Promise<RunPageProps> {
  const ctx = await pageContext(c, page);
  const run = await services.runs.get(c.req.param("id") ?? "");
  const [executor, saved] = await Promise.all([
    services.executors.get(run.executor_id),
    services.snapshots.list({ executor_id: run.executor_id, limit: 100 }),
  ]);
  const snapshot = saved.items.find((each) => each.run_id === run.id) ?? null;
  const { steps } = services.connections.targetKind(executor.target.kind);
  return { ctx, run, executor, steps, snapshot, is_live: isActiveRun(run) || isDown(run) || isCleaning(run, ctx.now) };
}

/** Its target is down and is being started again. */
function isDown(run: RunDetailView): boolean {
  return run.outage?.outcome === null;
}

/** A finished run with changes still removes the previous container; failures there are retried much later. */
function isCleaning(run: RunDetailView, now: number): boolean {
  const has = (step: string, ends: boolean) =>
    run.steps.some((each) => each.step === step && (each.phase !== "begin") === ends);
  return has("commit", true) && !has("remove_old", true) && now - (run.ended_at ?? now) < cleaningMs;
}

/** Each step as the changed parts of the page. */
async function* messages(
  services: Services,
  page: PageSettings,
  c: AppContext,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<{ id: string; data: string }> {
  const sent = new Map<string, string>();
  const changedParts = async (isOver: boolean): Promise<string> => {
    const found = await propsOf(services, page, c);
    const props = { ...found, is_live: !isOver };
    const changed: string[] = [];
    for (const part of partNames) {
      if (part === "run-live" && !isOver) continue;
      const html = await rendered(part, props);
      if (sent.get(part) !== html) changed.push(html);
      sent.set(part, html);
    }
    return changed.join("");
  };
  let seq = afterSeq;
  try {
    for await (const step of services.runs.watch(id, afterSeq, signal, true)) {
      seq = step.seq;
      const data = await changedParts(false);
      if (data !== "") yield { id: String(seq), data };
    }
    if (!signal.aborted) yield { id: String(seq), data: await changedParts(true) };
  } catch (error) {
    // Deleted meanwhile: the page reports it on its next request.
    if (!(error instanceof AppError) || error.status !== 404) throw error;
  }
}
