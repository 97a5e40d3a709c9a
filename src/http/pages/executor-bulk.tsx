import {
  BulkQuestion,
  BulkResultPage,
  bulkPath,
  bulkSummary,
  SafeQuestion,
} from "../../../templates/executors/bulk.tsx";
import { bulkActions, reviewedActions } from "../../bulk/schema.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { bulkRoutes } from "./bulk-routes.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText } from "./read-form.ts";
import { respondHtml } from "./respond.ts";

export function executorBulkPages(app: App, { bulk, executors, snapshots }: Services, page: PageSettings): void {
  app.get(bulkPath, async (c, next) => {
    if (c.req.query("safe") === undefined) return await next();
    const ctx = await pageContext(c, page);
    const { reviews, omitted_count } = await bulk.reviewAll(c.req.raw.signal);
    return respondHtml(c, <SafeQuestion ctx={ctx} reviews={reviews} omitted_count={omitted_count} />);
  });

  bulkRoutes(app, page, {
    section: "executors",
    path: bulkPath,
    field: "executor",
    actions: bulkActions,
    reviewed: reviewedActions,
    list: executors,
    question: async (c, ctx, action, ids, error) => {
      const reviews = await bulk.review(action, ids, c.req.raw.signal);
      const saved = action === "delete" ? await snapshots.latestOf(reviews.map(({ executor }) => executor.id)) : null;
      const props = { ctx, action, reviews, error, snapshot_count: saved?.size ?? 0 };
      return <BulkQuestion {...props} />;
    },
    refuse: async (form, action, ids) => {
      const name = String(ids.length);
      if (action !== "delete" || formText(form, "confirm_name").trim() === name) return null;
      return (await snapshots.latestOf(ids)).size === 0 ? null : say("request.type_to_confirm", { name });
    },
    perform: async (actor, action, chosen) => {
      const seen = chosen.map(seenIn);
      const isPlanned = action === "update" || action === "approve";
      return await bulk.perform(actor, { action, executors: isPlanned ? seen : seen.map(({ id }) => ({ id })) });
    },
    summary: bulkSummary,
    draw: (ctx, result) => <BulkResultPage ctx={ctx} result={result} />,
  });
}

/** See `seenValue`. */
function seenIn(value: string): { id: string; plan_hash: string; newest_run_id: string | null } {
  const [id = "", plan_hash = "", newest = ""] = value.split(" ");
  return { id, plan_hash, newest_run_id: newest === "-" ? null : newest };
}
