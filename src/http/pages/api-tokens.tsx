import { CreatedTokenPage, TokenFormPage, TokenRevoke } from "../../../templates/auth/tokens.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { ApiTokenInput } from "../../auth/schema.ts";
import { fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { respondHtml } from "./respond.ts";

/** Automation tokens: listed on the account's page, created and revoked here. */
export function apiTokenPages(app: App, services: Services, page: PageSettings): void {
  const { api_tokens, baseUrl } = services;

  app.get("/account/tokens/new", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, fields: fields(ApiTokenInput), values: {}, errors: {} };
    return respondHtml(c, <TokenFormPage {...props} />);
  });

  app.post("/account/tokens", async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(ApiTokenInput, values),
      render: (state) => <TokenFormPage ctx={ctx} {...state} />,
      save: async (input) => {
        const token = await api_tokens.create(c.get("actor"), requireSession(c), input);
        // No redirect: the token appears in this response and is stored nowhere.
        return respondHtml(c, <CreatedTokenPage ctx={ctx} token={token} base_url={baseUrl(c.req.url)} />);
      },
    });
  });

  questionRoutes(app, page, {
    path: "/account/tokens/:id/revoke",
    find: async (c) => ({ token: await api_tokens.get(c.req.param("id") ?? "") }),
    draw: (asked) => <TokenRevoke {...asked} />,
    perform: async (c, ctx, { token: { id, name } }) => {
      await api_tokens.revoke(c.get("actor"), requireSession(c), id);
      return { path: "/account", notice: { tone: "current", text: texts(ctx).auth.revoked(name) } };
    },
  });
}
