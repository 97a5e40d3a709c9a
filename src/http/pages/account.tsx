import * as v from "valibot";
import { AccountPage } from "../../../templates/auth/account.tsx";
import { PasswordPage } from "../../../templates/auth/password.tsx";
import { SignedInPage } from "../../../templates/auth/signed-in.tsx";
import { signedInPath } from "../../../templates/components/signed-out.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { Username } from "../../auth/schema.ts";
import { AppError } from "../../errors.ts";
import { fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession, signInOrigin } from "../current-session.ts";
import { writeSessionCookie } from "../session-cookie.ts";
import { type FormState, submitForm } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** The API's patch with its only field required. */
const AccountInput = v.strictObject({ username: Username });

/** The administrator's own settings: name and password. */
export function accountPages(app: App, services: Services, page: PageSettings): void {
  const { auth, api_tokens, oidc, baseUrl, clock } = services;

  const accountPage = async (c: AppContext, state: FormState | null) => {
    const ctx = await pageContext(c, page);
    const account = await auth.account();
    const tokens = await readList(ctx, api_tokens);
    const sign_in = { provider: (await oidc.list({})).items[0] ?? null, binding: await oidc.binding() };
    const values = { username: account.username };
    const form = state ?? { fields: fields(AccountInput, values), values, errors: {} };
    const session_expires_at = requireSession(c).expires_at;
    const props = { ctx, account, tokens, session_expires_at };
    return <AccountPage {...props} {...sign_in} {...form} />;
  };

  app.get("/account", async (c) => respondHtml(c, await accountPage(c, null)));

  app.get(signedInPath, async (c) => respondHtml(c, <SignedInPage ctx={await pageContext(c, page)} />));

  app.post("/account", async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => fields(AccountInput, values),
      render: (state) => accountPage(c, state),
      save: async (input) => {
        const account = await auth.updateAccount(c.get("actor"), requireSession(c), input);
        const text = texts(ctx).auth.renamed(account.username);
        return { path: "/account", notice: { tone: "current", text } };
      },
    });
  });

  app.get("/account/password", async (c) => {
    const session = requireSession(c);
    const ctx = await pageContext(c, page);
    return respondHtml(c, <PasswordPage ctx={ctx} is_forced={session.is_password_change_required} errors={{}} />);
  });

  app.post("/account/password", async (c) => {
    const session = requireSession(c);
    const form = await readForm(c);
    const ctx = await pageContext(c, page);
    try {
      const changed = await auth.changePassword(signInOrigin(c), session, {
        current_password: formText(form, "current_password"),
        new_password: formText(form, "new_password"),
      });
      writeSessionCookie(c, baseUrl, changed.token, Math.floor((changed.expires_at - clock.now()) / 1000));
      const path = session.is_password_change_required ? "/" : "/account";
      return respondDone(c, ctx.base_path, path, { tone: "current", text: texts(ctx).auth.password_changed });
    } catch (error) {
      if (!(error instanceof AppError) || (error.status !== 422 && error.status !== 429)) throw error;
      if (error.retry_after_seconds !== undefined)
        c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
      const props = { ctx, is_forced: session.is_password_change_required };
      return respondHtml(
        c,
        <PasswordPage {...props} errors={error.field_messages ?? { body: error.said }} />,
        error.status,
      );
    }
  });
}
