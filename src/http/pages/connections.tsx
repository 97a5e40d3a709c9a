import { adoptPath } from "../../../templates/adoption/props.ts";
import { ToastPartial } from "../../../templates/components/notice.tsx";
import { connectionTested } from "../../../templates/connections/asked-section.tsx";
import { ConnectionCheck } from "../../../templates/connections/check.tsx";
import { ConnectionDelete, ConnectionNow, ConnectionPage } from "../../../templates/connections/detail.tsx";
import { ConnectionFormPage } from "../../../templates/connections/form.tsx";
import { ConnectionsPage } from "../../../templates/connections/list.tsx";
import { Targets } from "../../../templates/connections/targets.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { type ConnectionView, newCredential } from "../../connections/schema.ts";
import { type FieldDescription, valuesOf } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { describeConnection, drawConnectionForm, isUsualName, unknownKind, usualName } from "./connection-form.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { resourcePages } from "./resource-pages.ts";
import { isFragmentRequest, orFailure, respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

export function connectionPages(app: App, services: Services, page: PageSettings): void {
  const { connections, adoption } = services;

  plainPages(app, services, page);

  app.get("/connections/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    return respondHtml(c, <ConnectionPage ctx={ctx} connection={connection} discovery={null} />);
  });

  app.get("/connections/:id/targets", async (c) => {
    const ctx = await pageContext(c, page);
    const { id, is_enabled } = await connections.get(c.req.param("id"));
    const discovery = is_enabled ? await orFailure(() => adoption.targets(id, c.req.raw.signal)) : null;
    const new_count = discovery !== null && "list" in discovery ? discovery.new_count : 0;
    // As it is now that its runtime has responded, or has not.
    const connection = await connections.get(id);
    const props = { ctx, connection, discovery, new_count, is_whole: c.req.query("show") === "all" };
    if (!isFragmentRequest(c)) return respondHtml(c, <ConnectionPage {...props} />);
    return respondHtml(
      c,
      <>
        <Targets {...props} />
        <ConnectionNow ctx={ctx} connection={connection} />
      </>,
    );
  });

  app.post("/connections/:id/checks", async (c) => {
    const ctx = await pageContext(c, page);
    const id = c.req.param("id");
    const check = await connections.check(c.get("actor"), id, c.req.raw.signal);
    const connection = await connections.get(id);
    const t = texts(ctx).connections;
    const notice: StoredNotice = check.ok
      ? { tone: "current", text: t.tested_ok(connection.name) }
      : { tone: "failed", text: t.tested_failed(connection.name) };
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, `/connections/${id}`, notice);
    c.header("HX-Trigger", connectionTested);
    return respondHtml(
      c,
      <>
        <ConnectionCheck ctx={ctx} connection={connection} />
        <ConnectionNow ctx={ctx} connection={connection} />
        <ToastPartial ctx={ctx} notice={notice} />
      </>,
    );
  });

  app.post("/connections/:id/enable", async (c) => {
    const ctx = await pageContext(c, page);
    const { id, name } = await connections.update(c.get("actor"), c.req.param("id"), { is_enabled: true });
    const notice: StoredNotice = { tone: "current", text: texts(ctx).common.was_enabled(name) };
    return respondDone(c, ctx.base_path, `/connections/${id}`, notice);
  });
}

function plainPages(app: App, services: Services, page: PageSettings): void {
  const { connections } = services;
  const describe = (values: Values, stored: ConnectionView | null) => describeConnection(services, values, stored);

  resourcePages(app, page, {
    path: "/connections",
    service: {
      ...connections,
      create: async (actor, input) => {
        const { secret, ...connection } = valuesOf(input);
        if (connection.credential_id !== newCredential) return await connections.create(actor, connection);
        return await connections.createWithSecret(actor, { ...connection, credential_id: null }, secret ?? {});
      },
    },
    list: (props) => <ConnectionsPage {...props} />,
    begin: (c) => ({ kind: c.req.query("kind") ?? "docker" }),
    describe,
    draw: async ({ ctx, stored, values, errors }) => {
      const isNamed = stored !== null || Object.keys(errors).length > 0 || !isUsualName(services, values);
      const named = isNamed ? values : { ...values, name: await usualName(services, ctx.language, values.kind) };
      const facts = await drawConnectionForm(services, named, stored);
      return <ConnectionFormPage ctx={ctx} connection={stored} errors={errors} {...facts} />;
    },
    input: (sent, stored) => {
      if (stored === null) return sent;
      const { kind: _fixed, config, ...changes } = sent;
      const blanks = { description: "", concurrent_runs: 1 };
      if (unknownKind(stored).length > 0) return { ...blanks, ...changes };
      return { ...blanks, credential_id: null, ...changes, config: withBlanks(describe({}, stored), config) };
    },
    /** The connection is stored in any case; whether it responds is shown beside it. */
    saved: async ({ ctx, view, is_new }, c) => {
      const path = `/connections/${view.id}`;
      const t = texts(ctx).connections;
      const kept = texts(ctx).common.kept(view.name, is_new);
      if (!view.is_enabled) return { path, notice: { tone: "current", text: kept } };
      const { ok } = await connections.check(c.get("actor"), view.id, c.req.raw.signal);
      const next = is_new ? adoptPath(view.id) : path;
      if (ok) return { path: next, notice: { tone: "current", text: t.kept_ok(kept) } };
      return { path, notice: { tone: "failed", text: t.kept_failed(kept) } };
    },
    delete_question: ({ stored, ...props }) => <ConnectionDelete connection={stored} {...props} />,
  });
}

/** A blank field of the form returns to its default, where a missing member would stay unchanged. */
function withBlanks(described: readonly FieldDescription[], config: unknown): Values {
  const members = described.find((field) => field.name === "config")?.children ?? [];
  const given = typeof config === "object" && config !== null ? config : {};
  return { ...Object.fromEntries(members.map((field) => [field.name, null])), ...given };
}
