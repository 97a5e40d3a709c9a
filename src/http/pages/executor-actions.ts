import { formatShort } from "../../../templates/format.ts";
import type { PageContext } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import type { ActionInput, ExecutorView } from "../../executors/schema.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { isLocalPath, type StoredNotice } from "../cookies.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondDone } from "./respond.ts";

const inputFields = ["until", "revision", "run_id"] as const;

/** Holding, snoozing, skipping, dismissing, and their undoing, from wherever an executor is shown. */
export function executorActionPages(app: App, { executors }: Services, page: PageSettings): void {
  app.post("/executors/:id/actions", async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const input = inputOf(form);
    const { view, undo } = await executors.act(c.get("actor"), c.req.param("id"), input);
    const next = formText(form, "next");
    return respondDone(
      c,
      ctx.base_path,
      isLocalPath(next) ? next : `/executors/${view.id}`,
      noticeOf(ctx, view, input, undo),
    );
  });
}

/** The service's input; a field that an action does not have is refused there. */
function inputOf(form: FormData): Record<string, unknown> {
  const hours = formText(form, "for_hours");
  return {
    action: formText(form, "action"),
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
  return { tone: "current", text, undo: { executor_id: view.id, fields } };
}
