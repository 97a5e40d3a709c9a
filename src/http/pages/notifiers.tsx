import { ToastPartial } from "../../../templates/components/notice.tsx";
import { Deliveries } from "../../../templates/notifiers/deliveries.tsx";
import { NotifierDelete, NotifierPage } from "../../../templates/notifiers/detail.tsx";
import { NotifierFormPage } from "../../../templates/notifiers/form.tsx";
import { NotifiersPage } from "../../../templates/notifiers/list.tsx";
import type { Notice, PageContext } from "../../../templates/page.ts";
import { translatePart } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { fields } from "../../forms/fields.ts";
import { type DeliveryView, NotifierInput, triggerKinds } from "../../notifications/schema.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { resourcePages } from "./resource-pages.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

function testNotice(ctx: PageContext, sent: DeliveryView): Notice {
  const t = texts(ctx).notifiers;
  if (sent.state === "delivered") return { tone: "current", text: t.test_delivered(sent.last_status ?? 0) };
  const reason = sent.last_error_data === null ? t.no_answer : translatePart(ctx.language, sent.last_error_data);
  return { tone: "failed", text: t.test_failed(reason) };
}

export function notifierPages(app: App, services: Services, page: PageSettings): void {
  const { notifications } = services;

  resourcePages(app, page, {
    path: "/notifiers",
    service: notifications,
    list: (props) => <NotifiersPage {...props} />,
    begin: (_c, ctx) => ({ is_enabled: true, language: ctx.language, trigger_events: triggerKinds }),
    // There is one type so far, which need not be chosen.
    describe: (values, stored) => {
      const left = ["kind", ...(stored?.problem?.code === "kind_unknown" ? ["url", "signing_secret"] : [])];
      return fields(NotifierInput, values).filter(({ name }) => !left.includes(name));
    },
    draw: ({ stored, ...props }) => <NotifierFormPage notifier={stored} {...props} />,
    input: async (sent, stored, c) => {
      if (stored === null) return sent;
      const removesSecret = formText(await readForm(c), "_remove_signing_secret") === "on";
      const secret = removesSecret && sent.signing_secret === undefined ? { signing_secret: null } : {};
      return { description: "", ...sent, ...secret };
    },
    saved: ({ ctx, view, is_new }) => {
      const t = texts(ctx).notifiers;
      const text = is_new ? t.added(view.name) : texts(ctx).common.kept(view.name, false);
      return { path: `/notifiers/${view.id}`, notice: { tone: "current", text } };
    },
    delete_question: ({ stored, ...props }) => <NotifierDelete notifier={stored} {...props} />,
  });

  const deliveriesOf = (ctx: PageContext, id: string) => readList(ctx, notifications.deliveriesOf(id));

  app.get("/notifiers/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const deliveries = await deliveriesOf(ctx, notifier.id);
    return respondHtml(c, <NotifierPage ctx={ctx} notifier={notifier} deliveries={deliveries} />);
  });

  /** The list of deliveries alone, for htmx; a browser is sent to the page that contains it. */
  app.get("/notifiers/:id/deliveries", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const { id } = notifier;
    const here = `/notifiers/${id}${new URL(c.req.url).search}`;
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, here);
    return respondHtml(c, <Deliveries {...(await deliveriesOf({ ...ctx, path: here }, id))} notifier={notifier} />);
  });

  app.post("/notifiers/:id/deliveries", async (c) => {
    const ctx = await pageContext(c, page);
    const notifier = await notifications.get(c.req.param("id"));
    const { id } = notifier;
    const sent = await notifications.sendTest(c.get("actor"), id, c.req.raw.signal);
    const notice = testNotice(ctx, sent);
    const here = `/notifiers/${id}`;
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, here, notice);
    return respondHtml(
      c,
      <>
        <Deliveries {...(await deliveriesOf({ ...ctx, path: here }, id))} notifier={notifier} />
        <ToastPartial ctx={ctx} notice={notice} />
      </>,
    );
  });
}
