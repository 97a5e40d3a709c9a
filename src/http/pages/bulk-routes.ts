import { bulkTone } from "../../../templates/components/bulk.tsx";
import { type PageContext, withQuery } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import type { Actor } from "../../auth/schema.ts";
import { type BulkAction, type BulkOutcome, maxBulk } from "../../bulk/schema.ts";
import type { Message } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import type { App, AppContext } from "../context.ts";
import { fitsNotice, isLocalPath, type StoredNotice } from "../cookies.ts";
import { chosenBy, chosenIn } from "./chosen.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import type { ListService } from "./read-list.ts";
import { type Markup, respondDone, respondHtml } from "./respond.ts";

interface BulkRoutes<Action extends BulkAction, Reviewed extends Action> {
  section: "executors" | "trackers";
  path: string;
  /** The field of the submitted question that names the rows to act on. */
  field: string;
  actions: readonly Action[];
  /** Asked about before they are done. */
  reviewed: readonly [Reviewed, ...Reviewed[]];
  list: ListService<{ id: string }>;
  question(c: AppContext, ctx: PageContext, asked: Asked<Reviewed>): Promise<Markup>;
  /** Why the submitted question cannot be carried out; null if it can. */
  refuse?(form: FormData, action: Reviewed, ids: readonly string[]): Promise<Message | null>;
  /** `chosen`: ids, or what the question named. */
  perform(actor: Actor, action: Action, chosen: readonly string[]): Promise<BulkOutcome<Action>>;
  summary(ctx: PageContext, outcome: BulkOutcome<Action>): string;
  /** `back`: the list's address. */
  draw(ctx: PageContext, outcome: BulkOutcome<Action>, back: string): Promise<Markup>;
  /** In its place once it is no longer kept. */
  gone(ctx: PageContext): Markup;
}

interface Asked<Reviewed> {
  action: Reviewed;
  ids: readonly string[];
  /** Where it was asked for. */
  back: string;
  error?: Message;
}

/** How many outcomes can still be looked at; each is shown right after its action, and by reloading its page. */
const maxOutcomes = 50;

/** Actions on the rows that were selected in a list: at once, or after one question about all of them. */
export function bulkRoutes<Action extends BulkAction, Reviewed extends Action>(
  app: App,
  page: PageSettings,
  routes: BulkRoutes<Action, Reviewed>,
): void {
  const { section, path, actions, reviewed, question } = routes;
  const outcomes = new RecentMap<string, { outcome: BulkOutcome<Action>; next: string }>(maxOutcomes);
  /** Ids of what can be taken back and has too many of them for a notice. */
  const undoable = new RecentMap<string, string>(maxOutcomes);
  const reviewedOf = (name: string | undefined) => reviewed.find((each) => each === name) ?? reviewed[0];

  app.get(path, async (c) => {
    const ctx = await pageContext(c, page);
    const ids = await chosenBy(ctx.path, routes.list, maxBulk);
    const back = backTo(section, c.req.query("back"));
    return respondHtml(c, await question(c, ctx, { action: reviewedOf(c.req.query("action")), ids, back }));
  });

  app.post(path, async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const next = backTo(section, formText(form, "next"));
    const action = actions.find((each) => each === formText(form, "_action"));
    const done = formText(form, "done");
    const undone = undoable.get(done);
    if (done !== "" && undone === undefined) {
      return respondDone(c, ctx.base_path, next, { tone: "attention", text: texts(ctx).bulk.undo_gone });
    }
    if (undone !== undefined) form.set("ids", undone);
    const chosen = chosenIn(form, path, next);
    if (action === undefined) return respondDone(c, ctx.base_path, next);
    if (reviewed.some((each) => each === action)) {
      return respondDone(c, ctx.base_path, withQuery(chosen, { action, back: next }));
    }
    const ids = await chosenBy(chosen, routes.list, maxBulk);
    if (ids.length === 0) {
      return respondHtml(c, await question(c, ctx, { action: reviewed[0], ids, back: next }), 422);
    }
    return respondOutcome(c, ctx, { next, chosen: ids, outcome: await routes.perform(c.get("actor"), action, ids) });
  });

  app.get(`${path}/confirmed`, async (c) => {
    const ctx = await pageContext(c, page);
    const kept = outcomes.get(c.req.query("result") ?? "");
    return respondHtml(c, await (kept === undefined ? routes.gone(ctx) : routes.draw(ctx, kept.outcome, kept.next)));
  });

  app.post(`${path}/confirmed`, async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const back = backTo(section, formText(form, "next"));
    const action = reviewedOf(formText(form, "_action"));
    const chosen = form.getAll(routes.field).map(String);
    const ids = chosen.map(idOf);
    if (ids.length === 0) return respondHtml(c, await question(c, ctx, { action, ids, back }), 422);
    const refusal = (await routes.refuse?.(form, action, ids)) ?? null;
    if (refusal !== null) return respondHtml(c, await question(c, ctx, { action, ids, back, error: refusal }), 422);
    const outcome = await routes.perform(c.get("actor"), action, chosen);
    return respondOutcome(c, ctx, { next: back, chosen, outcome });
  });

  interface Done {
    next: string;
    chosen: readonly string[];
    outcome: BulkOutcome<Action>;
  }

  /** A separate page if something was refused or a run was started; otherwise a notice in the list. */
  function respondOutcome(c: AppContext, ctx: PageContext, { next, chosen, outcome }: Done) {
    const isPlain = outcome.results.every((each) => each.outcome !== "refused" && each.run_id === null);
    if (!isPlain) {
      const result = crypto.randomUUID();
      outcomes.set(result, { outcome, next });
      return respondDone(c, ctx.base_path, withQuery(`${path}/confirmed`, { result }));
    }
    const done = new Set(outcome.results.filter((each) => each.outcome === "done").map(({ id }) => id));
    const notice = noticeOf(
      ctx,
      outcome,
      chosen.filter((each) => done.has(idOf(each))),
    );
    return respondDone(c, ctx.base_path, next, notice);
  }

  /** The result, with a form to undo it. */
  function noticeOf(ctx: PageContext, outcome: BulkOutcome<Action>, done: readonly string[]): StoredNotice {
    const undo = undoing[outcome.action];
    return {
      tone: done.length === 0 ? "quiet" : bulkTone(outcome.action),
      text: routes.summary(ctx, outcome),
      ...(done.length === 0 || undo === undefined ? {} : { undo: undoOf(undo, done.join(",")) }),
    };
  }

  function undoOf(undo: BulkAction, ids: string): NonNullable<StoredNotice["undo"]> {
    const named = { path, fields: { _action: undo, ids } };
    if (fitsNotice(named)) return named;
    const done = crypto.randomUUID();
    undoable.set(done, ids);
    return { path, fields: { _action: undo, done } };
  }
}

/** The page where an action was chosen: the list with its filters, or the overview. */
export function backTo(section: "executors" | "trackers", path = ""): string {
  const isOurs = isLocalPath(path) && ["/", `/${section}`].includes(path.split("?", 1)[0] ?? "");
  return isOurs ? withQuery(path, { select: null }) : `/${section}`;
}

/** What was chosen may name more than the id. */
function idOf(chosen: string): string {
  return chosen.split(" ", 1)[0] ?? "";
}

const undoing: Readonly<Partial<Record<BulkAction, BulkAction>>> = {
  hold: "resume",
  resume: "hold",
  dismiss: "undismiss",
  undismiss: "dismiss",
  enable: "disable",
  disable: "enable",
};
