import { Partial, ToastPartial } from "../../../templates/components/notice.tsx";
import { ConnectionCheck } from "../../../templates/connections/check.tsx";
import { ConnectionDelete, ConnectionDeletePage } from "../../../templates/connections/delete.tsx";
import { ConnectionPage } from "../../../templates/connections/detail.tsx";
import { ConnectionFormPage } from "../../../templates/connections/form.tsx";
import { ConnectionsPage } from "../../../templates/connections/list.tsx";
import { ConnectionState } from "../../../templates/connections/state.tsx";
import { type Discovery, Targets } from "../../../templates/connections/targets.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import type { ConnectionView } from "../../connections/schema.ts";
import type { ConnectionService } from "../../connections/service.ts";
import type { CredentialService } from "../../credentials/service.ts";
import { AppError, PluginError, saidBy } from "../../errors.ts";
import { fields } from "../../forms/fields.ts";
import type { App, AppContext } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

interface ConnectionPageServices {
  connections: ConnectionService;
  credentials: Pick<CredentialService, "list">;
}

export function connectionPages(app: App, services: ConnectionPageServices, page: PageSettings): void {
  const { connections } = services;

  app.get("/connections", async (c) => {
    const ctx = await pageContext(c, page);
    const cursor = c.req.query("cursor");
    const { items, next_cursor } = await connections.list({ cursor, limit: "100" });
    const props = { ctx, connections: items, next_cursor, is_first_page: cursor === undefined };
    return respondHtml(c, <ConnectionsPage {...props} />);
  });

  formRoutes(app, services, page);

  app.get("/connections/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    return respondHtml(c, <ConnectionPage ctx={ctx} connection={connection} discovery={null} />);
  });

  app.get("/connections/:id/targets", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const discovery = connection.is_enabled ? await discover(connections, connection.id, c) : null;
    const props = { ctx, connection, discovery };
    return respondHtml(c, isFragmentRequest(c) ? <Targets {...props} /> : <ConnectionPage {...props} />);
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
    return respondHtml(
      c,
      <>
        <ConnectionCheck ctx={ctx} connection={connection} />
        <Partial target="#connection-state" swap="innerHTML">
          <ConnectionState ctx={ctx} connection={connection} solid />
        </Partial>
        <ToastPartial ctx={ctx} notice={notice} />
      </>,
    );
  });

  app.post("/connections/:id/enable", async (c) => {
    const ctx = await pageContext(c, page);
    const { id, name } = await connections.update(c.get("actor"), c.req.param("id"), { is_enabled: true });
    const notice: StoredNotice = { tone: "current", text: texts(ctx).connections.enabled(name) };
    return respondDone(c, ctx.base_path, `/connections/${id}`, notice);
  });

  deleteRoutes(app, services, page);
}

/** A runtime that does not answer is something to show beside the rest of the page, not the end of it. */
async function discover(connections: ConnectionService, id: string, c: AppContext): Promise<Discovery> {
  try {
    return { list: await connections.targets(id, c.req.raw.signal) };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { failure: saidBy(error) };
  }
}

function formRoutes(app: App, { connections, credentials }: ConnectionPageServices, page: PageSettings): void {
  const choices = async (kind: unknown) => {
    const { items } = await credentials.list({ kind: typeof kind === "string" ? kind : "docker", limit: "100" });
    return items.map(({ id, name }) => ({ value: id, title: name }));
  };
  const warnings = (values: Values) => connections.warningsOf(values.kind, values.config);
  /** Stored is stored; whether it also answers is told beside it. */
  const savedNotice = async (c: AppContext, view: ConnectionView, language: "en" | "zh"): Promise<StoredNotice> => {
    const t = texts({ language }).connections;
    if (!view.is_enabled) return { tone: "current", text: t.saved(view.name) };
    const check = await connections.check(c.get("actor"), view.id, c.req.raw.signal);
    return check.ok
      ? { tone: "current", text: t.saved_ok(view.name) }
      : { tone: "failed", text: t.saved_failed(view.name) };
  };

  app.get("/connections/new", async (c) => {
    const ctx = await pageContext(c, page);
    const values: Values = { kind: c.req.query("kind") ?? "docker" };
    const props = { ctx, connection: null, values, errors: {}, warnings: [] };
    return respondHtml(
      c,
      <ConnectionFormPage
        {...props}
        fields={fields(connections.Input, values)}
        credentials={await choices(values.kind)}
      />,
    );
  });

  app.post("/connections", async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(connections.Input, values),
      render: async (state) => {
        const props = { ctx, connection: null, warnings: warnings(state.values), ...state };
        return String(<ConnectionFormPage {...props} credentials={await choices(state.values.kind)} />);
      },
      save: async (input) => {
        const created = await connections.create(c.get("actor"), input);
        return { path: `/connections/${created.id}`, notice: await savedNotice(c, created, ctx.language) };
      },
    });
  });

  app.get("/connections/:id/edit", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const { name, kind, description, is_enabled, config, credential_id, concurrent_runs } = connection;
    const values: Values = { name, kind, description, is_enabled, config, credential_id, concurrent_runs };
    return respondHtml(
      c,
      <ConnectionFormPage
        ctx={ctx}
        connection={connection}
        fields={fields(connections.Input, values)}
        values={values}
        errors={{}}
        credentials={await choices(kind)}
        warnings={connection.warnings}
      />,
    );
  });

  app.post("/connections/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const stored = await choices(connection.kind);
    const describe = (values: Values) => fields(connections.Input, { ...values, kind: connection.kind });
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe,
      render: (state) => (
        <ConnectionFormPage
          ctx={ctx}
          connection={connection}
          credentials={stored}
          warnings={warnings({ ...state.values, kind: connection.kind })}
          {...state}
        />
      ),
      save: async ({ kind: _fixed, config, ...input }) => {
        const updated = await connections.update(c.get("actor"), connection.id, {
          description: "",
          credential_id: null,
          concurrent_runs: 1,
          ...input,
          config: withBlanks(describe({}), config),
        });
        return { path: `/connections/${updated.id}`, notice: await savedNotice(c, updated, ctx.language) };
      },
    });
  });
}

/** A blank field of the form goes back to its default, where a member that is left out would stay as it is. */
function withBlanks(described: ReturnType<typeof fields>, config: unknown): Values {
  const members = described.find((field) => field.name === "config")?.children ?? [];
  const given = typeof config === "object" && config !== null ? config : {};
  return { ...Object.fromEntries(members.map((field) => [field.name, null])), ...given };
}

function deleteRoutes(app: App, { connections }: ConnectionPageServices, page: PageSettings): void {
  app.get("/connections/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, connection: await connections.get(c.req.param("id")) };
    return respondHtml(c, isFragmentRequest(c) ? <ConnectionDelete {...props} /> : <ConnectionDeletePage {...props} />);
  });

  app.post("/connections/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    try {
      await connections.remove(c.get("actor"), connection.id);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 409) throw error;
      const props = { ctx, connection, error: error.said };
      const markup = isFragmentRequest(c) ? <ConnectionDelete {...props} /> : <ConnectionDeletePage {...props} />;
      return respondHtml(c, markup, 409);
    }
    const text = texts(ctx).connections.deleted(connection.name);
    return respondDone(c, ctx.base_path, "/connections", { tone: "current", text });
  });
}
