import { CredentialDelete, CredentialDeletePage } from "../../../templates/credentials/delete.tsx";
import { CredentialFormPage } from "../../../templates/credentials/form.tsx";
import { CredentialsPage } from "../../../templates/credentials/list.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { CredentialInput } from "../../credentials/schema.ts";
import { AppError } from "../../errors.ts";
import { fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

export function credentialPages(app: App, services: Services, page: PageSettings): void {
  const { credentials } = services;

  app.get("/credentials", async (c) => {
    const ctx = await pageContext(c, page);
    const query = c.req.query();
    const { items, next_cursor } = await credentials.list({ cursor: query.cursor, limit: "100" });
    return respondHtml(
      c,
      <CredentialsPage
        ctx={ctx}
        credentials={items}
        next_cursor={next_cursor}
        is_first_page={query.cursor === undefined}
      />,
    );
  });

  app.get("/credentials/new", async (c) => {
    const ctx = await pageContext(c, page);
    const values: Values = { kind: c.req.query("kind") ?? "oci" };
    return respondHtml(
      c,
      <CredentialFormPage
        ctx={ctx}
        credential={null}
        fields={fields(CredentialInput, values)}
        values={values}
        errors={{}}
      />,
    );
  });

  app.post("/credentials", async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(CredentialInput, values),
      render: (state) => <CredentialFormPage ctx={ctx} credential={null} {...state} />,
      save: async (input) => {
        const created = await credentials.create(c.get("actor"), input);
        const text = texts(ctx).credentials.saved(created.name);
        return { path: "/credentials", notice: { tone: "current", text } };
      },
    });
  });

  app.get("/credentials/:id/edit", async (c) => {
    const ctx = await pageContext(c, page);
    const credential = await credentials.get(c.req.param("id"));
    const values = { name: credential.name, kind: credential.kind, description: credential.description };
    return respondHtml(
      c,
      <CredentialFormPage
        ctx={ctx}
        credential={credential}
        fields={fields(CredentialInput, values)}
        values={values}
        errors={{}}
      />,
    );
  });

  app.post("/credentials/:id", async (c) => {
    const ctx = await pageContext(c, page);
    const credential = await credentials.get(c.req.param("id"));
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(CredentialInput, { ...values, kind: credential.kind }),
      render: (state) => <CredentialFormPage ctx={ctx} credential={credential} {...state} />,
      save: async ({ kind: _fixed, ...input }) => {
        const updated = await credentials.update(c.get("actor"), credential.id, input);
        const text = texts(ctx).credentials.saved(updated.name);
        return { path: "/credentials", notice: { tone: "current", text } };
      },
    });
  });

  app.get("/credentials/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, credential: await credentials.get(c.req.param("id")) };
    return respondHtml(c, isFragmentRequest(c) ? <CredentialDelete {...props} /> : <CredentialDeletePage {...props} />);
  });

  app.post("/credentials/:id/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const credential = await credentials.get(c.req.param("id"));
    try {
      await credentials.remove(c.get("actor"), credential.id);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 409) throw error;
      const props = { ctx, credential, error: error.said };
      const markup = isFragmentRequest(c) ? <CredentialDelete {...props} /> : <CredentialDeletePage {...props} />;
      return respondHtml(c, markup, 409);
    }
    const text = texts(ctx).credentials.deleted(credential.name);
    return respondDone(c, ctx.base_path, "/credentials", { tone: "current", text });
  });
}
