import { isEmpty } from "../../../templates/components/list-page.tsx";
import { ExecutorDelete } from "../../../templates/executors/delete.tsx";
import { ExecutorPage, type Planned, PlanSection } from "../../../templates/executors/detail.tsx";
import { ExecutorFormPage } from "../../../templates/executors/form.tsx";
import { ExecutorsPage } from "../../../templates/executors/list.tsx";
import { RunQuestion } from "../../../templates/executors/run-question.tsx";
import { type PageContext, withQuery } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError } from "../../errors.ts";
import { stepsOfPlan } from "../../executors/plan-schema.ts";
import type { ExecutorView } from "../../executors/schema.ts";
import type { ExecutorService } from "../../executors/service.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { executorActionPages, readExecutors } from "./executor-actions.tsx";
import { submitted } from "./executor-bindings.ts";
import { executorBulkPages } from "./executor-bulk.tsx";
import { describeExecutor, drawExecutorForm, namedByTarget, withDefaults } from "./executor-form.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { formRoutes, type SavedForm } from "./resource-pages.ts";
import { isFragmentRequest, orFailure, respondDone, respondHtml, type Saved } from "./respond.ts";

export function executorPages(app: App, services: Services, page: PageSettings): void {
  const { executors } = services;

  app.get("/executors", async (c) => {
    const ctx = await pageContext(c, page);
    const list = await readExecutors(services, ctx);
    const isNeeded = isEmpty(list) && (await services.connections.list({ limit: 1 })).items.length === 0;
    return respondHtml(c, <ExecutorsPage {...list} needs_connection={isNeeded} />);
  });

  // Before the forms, which would take its path for the id of an executor.
  executorBulkPages(app, services, page);
  executorForms(app, services, page);

  app.get("/executors/:id", async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, await detailPage(services, ctx, c.req.param("id"), null));
  });

  app.get("/executors/:id/plan", async (c) => {
    const ctx = await pageContext(c, page);
    const id = c.req.param("id");
    const executor = await executors.get(id);
    const planned = await planOf(executors, executor, c);
    if (!isFragmentRequest(c)) return respondHtml(c, await detailPage(services, ctx, id, planned));
    return respondHtml(c, <PlanSection ctx={ctx} executor={executor} planned={planned} />);
  });

  app.post("/executors/:id/accept-unknown", async (c) => {
    const ctx = await pageContext(c, page);
    const accepted = acceptedIn(formText(await readForm(c), "unknown_settings"));
    const patch = { accepted_unknown_settings: accepted };
    const { id, name, warnings } = await executors.update(c.get("actor"), c.req.param("id"), patch);
    const t = texts(ctx).executors;
    const notice: StoredNotice =
      warnings.length === 0
        ? { tone: "current", text: t.accepted_unknown(name) }
        : { tone: "attention", text: t.kept_unaccepted(texts(ctx).common.kept(name, false)) };
    return respondDone(c, ctx.base_path, `/executors/${id}`, notice);
  });

  executorActionPages(app, services, page);
  runRoutes(app, services, page);
  deleteRoutes(app, services, page);
}

/** What the page showed; anything but a list accepts nothing. */
function acceptedIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

async function detailPage(services: Services, ctx: PageContext, id: string, planned: Planned) {
  const [executor, runs, snapshots, history, versions] = await Promise.all([
    services.executors.get(id),
    services.runs.list({ executor_id: id, limit: 10 }),
    readList(ctx, services.snapshots, { executor_id: id }),
    services.stats.executorHistory(id),
    services.executors.versions(id),
  ]);
  const props = { ctx, executor, history, runs: runs.items, snapshots, versions, planned };
  return <ExecutorPage {...props} />;
}

async function planOf(executors: ExecutorService, executor: ExecutorView, c: AppContext) {
  return await orFailure(async () => ({ view: await executors.plan(executor.id, c.req.raw.signal) }));
}

function executorForms(app: App, services: Services, page: PageSettings): void {
  const { executors, runs } = services;
  /** Stored first; a run that cannot start is reported and does not prevent that. */
  const finish = async ({ ctx, view, is_new, action }: SavedForm<ExecutorView>, c: AppContext): Promise<Saved> => {
    const t = texts(ctx).executors;
    const kept = texts(ctx).common.kept(view.name, is_new);
    if (action !== "save_and_run") {
      const notice: StoredNotice =
        view.warnings.length === 0
          ? { tone: "current", text: kept }
          : { tone: "attention", text: t.kept_unaccepted(kept) };
      return { path: `/executors/${view.id}`, notice };
    }
    try {
      const run = await runs.create(c.get("actor"), view.id, {});
      return { path: `/runs/${run.id}`, notice: { tone: "running", text: t.run_started(view.name) } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { path: `/executors/${view.id}`, notice: { tone: "failed", text: t.kept_not_run(kept) } };
    }
  };

  formRoutes(app, page, {
    path: "/executors",
    service: executors,
    begin: (c) => {
      const { connection, kind = "", target, tracker } = c.req.query();
      return {
        ...(connection === undefined ? {} : { connection_id: connection }),
        ...(target === undefined ? {} : { target: { kind, id: target, drawn: "" } }),
        ...(tracker === undefined ? {} : { bindings: [{ tracker }] }),
        trigger: "manual",
      };
    },
    describe: describeExecutor,
    draw: async ({ ctx, stored, values, errors }, c) => {
      const drawn = await drawExecutorForm(services, values, ctx.language, c.req.raw.signal, errors);
      return <ExecutorFormPage ctx={ctx} executor={stored} {...drawn} />;
    },
    input: async (sent, stored, c) =>
      stored === null
        ? submitted(await namedByTarget(services, sent, c.req.raw.signal), services.connections.isGroup)
        : withDefaults(sent, services.connections.isGroup),
    saved: finish,
  });
}

function runRoutes(app: App, services: Services, page: PageSettings): void {
  const { executors, runs } = services;

  // A refusal is shown at this address, which may be reloaded.
  app.get("/executors/:id/runs", async (c) => {
    const ctx = await pageContext(c, page);
    return respondDone(c, ctx.base_path, withQuery("/runs", { executor_id: c.req.param("id") }));
  });

  questionRoutes(app, page, {
    path: "/executors/:id/run",
    answer_path: "/executors/:id/runs",
    find: async (c) => ({ executor: await executors.get(c.req.param("id") ?? "") }),
    draw: async (asked, c) => {
      const planned = await planOf(executors, asked.executor, c);
      const breaking = "view" in planned ? await services.trackers.breakingIn(stepsOfPlan(planned.view)) : [];
      return <RunQuestion {...asked} planned={planned} breaking={breaking} />;
    },
    perform: async (c, ctx, { executor }) => {
      const hash = formText(await readForm(c), "plan_hash");
      const run = await runs.create(c.get("actor"), executor.id, hash === "" ? {} : { plan_hash: hash });
      return {
        path: `/runs/${run.id}`,
        notice: { tone: "running", text: texts(ctx).executors.run_started(run.executor) },
      };
    },
  });
}

function deleteRoutes(app: App, { executors, snapshots }: Services, page: PageSettings): void {
  questionRoutes(app, page, {
    path: "/executors/:id/delete",
    find: async (c) => {
      const executor = await executors.get(c.req.param("id") ?? "");
      const { items } = await snapshots.list({ executor_id: executor.id, limit: 100 });
      return { executor, snapshot_count: items.length };
    },
    draw: (asked) => <ExecutorDelete {...asked} />,
    perform: async (c, ctx, { executor: { id, name }, snapshot_count }) => {
      if (snapshot_count > 0 && formText(await readForm(c), "confirm_name") !== name) {
        throw new AppError("name_not_typed", 422, say("request.type_to_confirm", { name }));
      }
      await executors.remove(c.get("actor"), id);
      return { path: "/executors", notice: { tone: "current", text: texts(ctx).common.deleted(name) } };
    },
  });
}
