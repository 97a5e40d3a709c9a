import { ToastPartial } from "../../../templates/components/notice.tsx";
import { NotifierDelete, NotifierDeletePage } from "../../../templates/notifiers/delete.tsx";
import { Deliveries } from "../../../templates/notifiers/deliveries.tsx";
import { NotifierPage } from "../../../templates/notifiers/detail.tsx";
import { NotifierFormPage } from "../../../templates/notifiers/form.tsx";
import { NotifiersPage } from "../../../templates/notifiers/list.tsx";
import type { Notice, PageContext } from "../../../templates/page.ts";
import { translateMessage } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { type FieldDescription, fields } from "../../forms/fields.ts";
import { type DeliveryView, NotifierInput, triggerKinds } from "../../notifications/schema.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

const pageSize = "25";

/** The type is chosen once: an edit does not ask for it. */
function editFields(values: Values): readonly FieldDescription[] {
  return fields(NotifierInput, values).filter((field) => field.name !== "kind");
}

function testNotice(ctx: PageContext, sent: DeliveryView): Notice {
  const t = texts(ctx).notifiers;
  if (sent.state === "delivered") return { tone: "current", text: t.test_delivered(sent.last_status ?? 0) };
  const reason = sent.last_error_data === null ? t.no_answer : translateMessage(ctx.language, sent.last_error_data);
  return { tone: "failed", text: t.test_failed(reason) };
}

export function notifierPages(app: App, services: Services, page: PageSettings): void {
  const { notifications } = services;

  app.get("/notifiers", async (c) => {
    const ctx = await pageContext(c, page);
    const cursor = c.req.query("cursor");
    const { items, next_cursor } = await notifications.list({ cursor, limit: "100" });
    const props = { ctx, notifiers: items, next_cursor, is_first_page: cursor === undefined };
    return respondHtml(c, <NotifiersPage {...props} />);
  });

  app.get("/notifiers/new", async (c) => {
    const ctx = await pageContext(c, page);
    const values: Values = { is_enabled: true, language: ctx.language, trigger_events: triggerKinds };
    const props = { ctx, notifier: null, fields: fields(NotifierInput, values), values, errors: {} };
    return respondHtml(c, <NotifierFormPage {...props} />);
  });

  app.post("/notifiers", async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(NotifierInput, values),
      render: (state) => <NotifierFormPage ctx={ctx} notifier={null} {...state} />,
      save: async (input) => {
        const created = await notifications.create(c.get("actor"), input);
        const text = texts(ctx).notifiers.created(created.name);
        return { path: `/notifiers/${created.id}`, notice: { tone: "current", text } };
      },
    });
  });

  app.get("/notifiers/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const cursor = c.req.query("cursor");
    const { items, next_cursor } = await notifications.listDeliveries(notifier.id, { cursor, limit: pageSize });
    const props = { ctx, notifier, deliveries: items, next_cursor, is_first_page: cursor === undefined };
    return respondHtml(c, <NotifierPage {...props} />);
  });

  app.post("/notifiers/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const removesSecret = formText(await readForm(c), "_remove_signing_secret") === "on";
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: editFields,
      render: (state) => <NotifierFormPage ctx={ctx} notifier={notifier} {...state} />,
      save: async (input) => {
        const secret = removesSecret && input.signing_secret === undefined ? { signing_secret: null } : {};
        const patch = { description: "", ...input, ...secret };
        const updated = await notifications.update(c.get("actor"), notifier.id, patch);
        const text = texts(ctx).notifiers.saved(updated.name);
        return { path: `/notifiers/${updated.id}`, notice: { tone: "current", text } };
      },
    });
  });

  app.get("/notifiers/:id/edit", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const { name, description, is_enabled, language, trigger_events } = notifier;
    const values: Values = { name, description, is_enabled, language, trigger_events };
    const props = { ctx, notifier, fields: editFields(values), values, errors: {} };
    return respondHtml(c, <NotifierFormPage {...props} />);
  });

  /** The first page of deliveries alone, for htmx; a person who comes here sees it in its place. */
  app.get("/notifiers/:id/deliveries", async (c) => {
    const ctx = await pageContext(c, page);
    const id = c.req.param("id");
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, `/notifiers/${encodeURIComponent(id)}`);
    const { items, next_cursor } = await notifications.listDeliveries(id, { limit: pageSize });
    const here = { ...ctx, path: `/notifiers/${id}` };
    const props = { ctx: here, notifier_id: id, deliveries: items, next_cursor, is_first_page: true };
    return respondHtml(c, <Deliveries {...props} />);
  });

  app.post("/notifiers/:id/deliveries", async (c) => {
    const ctx = await pageContext(c, page);
    const { id } = await notifications.get(c.req.param("id"));
    const sent = await notifications.sendTest(c.get("actor"), id, c.req.raw.signal);
    const notice = testNotice(ctx, sent);
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, `/notifiers/${id}`, notice);
    const { items, next_cursor } = await notifications.listDeliveries(id, { limit: pageSize });
    const here = { ...ctx, path: `/notifiers/${id}` };
    const props = { ctx: here, notifier_id: id, deliveries: items, next_cursor, is_first_page: true };
    return respondHtml(
      c,
      <>
        <Deliveries {...props} />
        <ToastPartial ctx={ctx} notice={notice} />
      </>,
    );
  });

  app.get("/notifiers/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, notifier: await notifications.get(c.req.param("id")) };
    return respondHtml(c, isFragmentRequest(c) ? <NotifierDelete {...props} /> : <NotifierDeletePage {...props} />);
  });

  app.post("/notifiers/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    await notifications.remove(c.get("actor"), notifier.id);
    const text = texts(ctx).notifiers.deleted(notifier.name);
    return respondDone(c, ctx.base_path, "/notifiers", { tone: "current", text });
  });
}
