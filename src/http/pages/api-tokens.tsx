import { CreatedTokenPage, TokenFormPage, TokenRevoke, TokenRevokePage } from "../../../templates/auth/tokens.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { ApiTokenInput, type ApiTokenView } from "../../auth/schema.ts";
import { notFound } from "../../errors.ts";
import { fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

/** Tokens for automation: listed on the account's page, made and revoked here. */
export function apiTokenPages(app: App, services: Services, page: PageSettings): void {
  const { api_tokens, baseUrl } = services;

  const getToken = async (id: string): Promise<ApiTokenView> => {
    // There are at most 100, which is one page.
    const { items } = await api_tokens.list({ limit: "100" });
    const token = items.find((item) => item.id === id);
    if (token === undefined) throw notFound("api_token", id);
    return token;
  };

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
        // No redirect: the token is in this answer and in nothing that is kept.
        return respondHtml(c, <CreatedTokenPage ctx={ctx} token={token} base_url={baseUrl(c.req.url)} />);
      },
    });
  });

  app.get("/account/tokens/:id/revoke", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, token: await getToken(c.req.param("id")) };
    return respondHtml(c, isFragmentRequest(c) ? <TokenRevoke {...props} /> : <TokenRevokePage {...props} />);
  });

  app.post("/account/tokens/:id/revoke", async (c) => {
    const ctx = await pageContext(c, page);
    const token = await getToken(c.req.param("id"));
    await api_tokens.revoke(c.get("actor"), requireSession(c), token.id);
    const text = texts(ctx).auth.revoked(token.name);
    return respondDone(c, ctx.base_path, "/account", { tone: "current", text });
  });
}
