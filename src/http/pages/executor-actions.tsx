import { actionsPath } from "../../../templates/executors/actions.tsx";
import { ExecutorChange, type ExecutorsPageProps } from "../../../templates/executors/list.tsx";
import { formatShort } from "../../../templates/format.ts";
import { OverviewAnswer } from "../../../templates/overview/overview.tsx";
import type { PageContext } from "../../../templates/page.ts";
import { RunChange } from "../../../templates/runs/list.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import type { ActionInput } from "../../executors/deferral-schema.ts";
import type { ExecutorView } from "../../executors/schema.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { isLocalPath, type StoredNotice } from "../cookies.ts";
import { overviewProps } from "./overview.tsx";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { readShown, type Shown } from "./read-list.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";
import { readRuns } from "./runs.tsx";

const inputFields = ["until", "revision", "run_id"] as const;

/** Enabling, holding, snoozing, skipping, dismissing, and their undoing, from wherever an executor is shown. */
export function executorActionPages(app: App, services: Services, page: PageSettings): void {
  const { executors } = services;

  app.post("/executors/:id/actions", async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const input = inputOf(c, form);
    const { view, undo } = await executors.act(c.get("actor"), c.req.param("id"), input);
    return await respondActed(c, ctx, form, view.id, noticeOf(ctx, view, input, undo));
  });

  app.post("/executors/:id/enable", async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const { id, name } = await executors.update(c.get("actor"), c.req.param("id"), { is_enabled: true });
    const notice: StoredNotice = { tone: "current", text: texts(ctx).common.was_enabled(name) };
    return await respondActed(c, ctx, form, id, notice);
  });

  /** The page that it was chosen on, or for htmx what changed there. */
  async function respondActed(c: AppContext, ctx: PageContext, form: FormData, id: string, notice: StoredNotice) {
    const sent = formText(form, "next");
    const next = isLocalPath(sent) ? sent : `/executors/${id}`;
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, next, notice);
    // As if that page had been asked for.
    const there = { ...ctx, path: next };
    switch (next.split("?")[0]) {
      case "/": {
        const after = async () => ({ ...(await pageContext(c, page)), path: next });
        return respondHtml(c, <OverviewAnswer {...(await overviewProps(services, page, after))} notice={notice} />);
      }
      case "/executors": {
        const props = await readExecutors(services, there, { also: [id] });
        return respondHtml(c, <ExecutorChange {...props} changed={id} notice={notice} />);
      }
      case "/runs": {
        const changed = formText(form, "run_id");
        return respondHtml(c, <RunChange {...(await readRuns(services, there))} changed={changed} notice={notice} />);
      }
      default:
        return respondDone(c, ctx.base_path, next, notice);
    }
  }
}

/** The page of the list that the path of `ctx` asks for. */
export async function readExecutors(
  { executors, snapshots }: Pick<Services, "executors" | "snapshots">,
  ctx: PageContext,
  shown?: Shown,
): Promise<ExecutorsPageProps> {
  const list = await readShown(ctx, executors, shown);
  return { ...list, snapshots: await snapshots.latestOf(list.items.map(({ id }) => id)) };
}

/** The service's input; a field that an action does not have is refused there. A button of a shared form has the action in its address. */
function inputOf(c: AppContext, form: FormData): Record<string, unknown> {
  const hours = formText(form, "for_hours");
  return {
    action: c.req.query("action") ?? formText(form, "action"),
    ...(hours === "" ? {} : { for_hours: Number(hours) }),
    ...Object.fromEntries(
      inputFields.map((name) => [name, normalized(formText(form, name))]).filter(([, value]) => value !== ""),
    ),
  };
}

/** Forms send line ends of two characters. */
function normalized(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** What was done, and the form that takes it back. */
function noticeOf(
  ctx: PageContext,
  view: ExecutorView,
  { action }: Record<string, unknown>,
  undo: ActionInput | null,
): StoredNotice {
  const t = texts(ctx).executors.acts.done;
  if (undo === null) return { tone: "quiet", text: t.nothing(view.name) };
  const text =
    action === "snooze" && view.snoozed_until !== null
      ? t.snooze(view.name, formatShort(ctx, view.snoozed_until))
      : (Object.entries(t.words).find(([name]) => name === action)?.[1](view.name) ?? "");
  const fields = Object.fromEntries(Object.entries(undo).map(([name, value]) => [name, String(value)]));
  return { tone: "current", text, undo: { path: actionsPath(view.id), fields } };
}
