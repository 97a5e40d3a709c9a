import {
  BulkQuestion,
  BulkResultPage,
  bulkPath,
  bulkSummary,
  SafeQuestion,
} from "../../../templates/executors/bulk.tsx";
import { type PageContext, withQuery } from "../../../templates/page.ts";
import { type BulkResultView, bulkActions, maxBulk, type ReviewedAction, reviewedActions } from "../../bulk/schema.ts";
import { AppError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { isLocalPath, type StoredNotice } from "../cookies.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { listQueryOf, pagesOf } from "./read-list.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** Actions on the executors that were selected in their list: at once, or after one question about all of them. */
export function executorBulkPages(app: App, services: Services, page: PageSettings): void {
  const { bulk, snapshots } = services;

  const question = async (
    c: AppContext,
    ctx: PageContext,
    action: ReviewedAction,
    ids: readonly string[],
    error?: Message,
  ) => {
    const reviews = await bulk.review(action, ids, c.req.raw.signal);
    const saved = action === "delete" ? await snapshots.latestOf(reviews.map(({ executor }) => executor.id)) : null;
    return <BulkQuestion ctx={ctx} action={action} reviews={reviews} snapshot_count={saved?.size ?? 0} error={error} />;
  };

  app.get(bulkPath, async (c) => {
    const ctx = await pageContext(c, page);
    const action = reviewedActions.find((each) => each === c.req.query("action")) ?? "update";
    if (c.req.query("safe") !== undefined) {
      const { reviews, omitted_count } = await bulk.reviewAll(c.req.raw.signal);
      return respondHtml(c, <SafeQuestion ctx={ctx} reviews={reviews} omitted_count={omitted_count} />);
    }
    return respondHtml(c, await question(c, ctx, action, await chosenBy(services, ctx.path)));
  });

  app.post(bulkPath, async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const next = nextPath(formText(form, "next"));
    const action = bulkActions.find((each) => each === formText(form, "_action"));
    const chosen =
      formText(form, "all") === ""
        ? withQuery(bulkPath, { ids: [...form.getAll("id"), formText(form, "ids")].filter(Boolean).join(",") })
        : withQuery(next, { all: "1", cursor: null, select: null });
    if (action === undefined) return respondDone(c, ctx.base_path, next);
    if (reviewedActions.some((each) => each === action)) {
      const [, query = ""] = withQuery(chosen, { action }).split("?", 2);
      return respondDone(c, ctx.base_path, `${bulkPath}?${query}`);
    }
    const executors = (await chosenBy(services, chosen)).map((id) => ({ id }));
    if (executors.length === 0) return respondHtml(c, await question(c, ctx, "update", []), 422);
    const result = await bulk.perform(c.get("actor"), { action, executors });
    if (result.results.some(({ outcome }) => outcome === "refused")) {
      return respondHtml(c, <BulkResultPage ctx={ctx} result={result} />);
    }
    return respondDone(c, ctx.base_path, next, noticeOf(ctx, result));
  });

  app.post(`${bulkPath}/confirmed`, async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const action = reviewedActions.find((each) => each === formText(form, "_action")) ?? "update";
    const seen = form.getAll("executor").map((value) => seenIn(String(value)));
    const ids = seen.map(({ id }) => id);
    if (ids.length === 0) return respondHtml(c, await question(c, ctx, action, []), 422);
    if (action === "delete") {
      const saved = await snapshots.latestOf(ids);
      const typed = String(ids.length);
      if (saved.size > 0 && formText(form, "confirm_name").trim() !== typed) {
        return respondHtml(
          c,
          await question(c, ctx, action, ids, say("request.type_to_confirm", { name: typed })),
          422,
        );
      }
    }
    const executors = action === "delete" ? ids.map((id) => ({ id })) : seen;
    const result = await bulk.perform(c.get("actor"), { action, executors });
    const isPlain = action === "delete" && result.results.every(({ outcome }) => outcome === "done");
    if (isPlain) return respondDone(c, ctx.base_path, "/executors", noticeOf(ctx, result));
    return respondHtml(c, <BulkResultPage ctx={ctx} result={result} />);
  });

  /** The ids that an address names, or all that its filters leave. */
  async function chosenBy({ executors }: Pick<Services, "executors">, path: string): Promise<readonly string[]> {
    const query = new URLSearchParams(path.split("?", 2)[1]);
    if (query.get("all") === null) {
      const ids = (query.get("ids") ?? "").split(",").filter((id) => id !== "");
      return [...new Set(ids)].slice(0, maxBulk);
    }
    const filters = listQueryOf(path, executors.list_shape);
    const ids: string[] = [];
    for await (const items of pagesOf(({ cursor, limit }) => executors.list({ ...filters, cursor, limit }))) {
      ids.push(...items.map(({ id }) => id));
      if (ids.length > maxBulk) throw new AppError("too_many", 422, say("bulk.too_many", { limit: maxBulk }));
    }
    return ids;
  }
}

function nextPath(path: string): string {
  return isLocalPath(path) && /^\/executors(\?|$)/.test(path) ? withQuery(path, { select: null }) : "/executors";
}

/** See `seenValue`. */
function seenIn(value: string): { id: string; plan_hash: string; newest_run_id: string | null } {
  const [id = "", plan_hash = "", newest = ""] = value.split(" ");
  return { id, plan_hash, newest_run_id: newest === "-" ? null : newest };
}

/** What was done, and the form that takes it back. */
function noticeOf(ctx: PageContext, result: BulkResultView): StoredNotice {
  const undo = { hold: "resume", resume: "hold" } as const;
  const { action, results } = result;
  const ids = results.filter(({ outcome }) => outcome === "done").map(({ id }) => id);
  return {
    tone: ids.length === 0 ? "quiet" : "current",
    text: bulkSummary(ctx, result),
    ...(ids.length > 0 && (action === "hold" || action === "resume")
      ? { undo: { path: bulkPath, fields: { _action: undo[action], ids: ids.join(",") } } }
      : {}),
  };
}
