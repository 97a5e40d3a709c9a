import {
  BulkQuestion,
  BulkResultGone,
  BulkResultPage,
  bulkPath,
  bulkSummary,
  Planning,
  SafeQuestion,
} from "../../../templates/executors/bulk.tsx";
import { type BulkAction, bulkActions, reviewedActions } from "../../bulk/schema.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { backTo, bulkRoutes } from "./bulk-routes.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText } from "./read-form.ts";
import { isFragmentRequest, respondHtml } from "./respond.ts";

export function executorBulkPages(app: App, { bulk, executors, runs, snapshots }: Services, page: PageSettings): void {
  app.get(bulkPath, async (c, next) => {
    if (c.req.query("safe") === undefined) return await next();
    const ctx = await pageContext(c, page);
    const { state } = await executors.counts({});
    if (isLong(c, state?.update ?? 0)) return respondHtml(c, <Planning ctx={ctx} count={state?.update ?? 0} />);
    const { reviews, omitted_count } = await bulk.reviewAll(c.req.raw.signal);
    const back = backTo("executors", c.req.query("back"));
    return respondHtml(c, <SafeQuestion {...{ ctx, reviews, omitted_count, back }} />);
  });

  bulkRoutes(app, page, {
    section: "executors",
    path: bulkPath,
    field: "executor",
    actions: bulkActions,
    reviewed: reviewedActions,
    list: executors,
    question: async (c, ctx, { action, ids, ...asked }) => {
      if (action === "update" && isLong(c, ids.length)) return <Planning ctx={ctx} count={ids.length} />;
      const reviews = await bulk.review(action, ids, c.req.raw.signal);
      const saved = action === "delete" ? await snapshots.latestOf(reviews.map(({ executor }) => executor.id)) : null;
      const props = { ctx, action, reviews, ...asked, snapshot_count: saved?.size ?? 0 };
      return <BulkQuestion {...props} />;
    },
    refuse: async (form, action, ids) => {
      const name = String(ids.length);
      if (action !== "delete" || formText(form, "confirm_name").trim() === name) return null;
      return (await snapshots.latestOf(ids)).size === 0 ? null : say("request.type_to_confirm", { name });
    },
    perform: async (actor, action, chosen) =>
      await bulk.perform(actor, { action, executors: chosen.map((each) => namedIn(action, each)) }),
    summary: bulkSummary,
    draw: async (ctx, result, back) => {
      const views = await runs.byIds(result.results.flatMap(({ run_id }) => run_id ?? []));
      return <BulkResultPage {...{ ctx, result, back }} runs={new Map(views.map((run) => [run.id, run]))} />;
    },
    gone: (ctx) => <BulkResultGone ctx={ctx} />,
  });
}

/** For more plans than can be made within a second, a page that says so requests them. */
function isLong(c: AppContext, count: number): boolean {
  return count > 20 && !isFragmentRequest(c) && c.req.query("whole") === undefined;
}

/** What an action names; see `seenValue` and `failedValue`. */
function namedIn(action: BulkAction, value: string) {
  const [id = "", seen = "", newest = ""] = value.split(" ");
  switch (action) {
    case "update":
    case "approve":
      return { id, plan_hash: seen, newest_run_id: newest === "-" ? null : newest };
    case "dismiss":
    case "undismiss":
      return { id, run_id: seen };
    default:
      return { id };
  }
}
