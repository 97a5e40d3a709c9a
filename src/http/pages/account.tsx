import { PasswordPage } from "../../../templates/auth/password.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { requireSession, signInOrigin } from "../current-session.ts";
import { writeSessionCookie } from "../session-cookie.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** The administrator's own settings: name, password, tokens for automation. */
export function accountPages(app: App, services: Services, page: PageSettings): void {
  const { auth, baseUrl, clock } = services;

  app.get("/account/password", async (c) => {
    const session = requireSession(c);
    const ctx = await pageContext(c, page);
    const props = { ctx, username: session.username, is_forced: session.is_password_change_required };
    return respondHtml(c, <PasswordPage {...props} errors={{}} />);
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
      const props = { ctx, username: session.username, is_forced: session.is_password_change_required };
      return respondHtml(c, <PasswordPage {...props} errors={error.fields ?? { body: error.message }} />, error.status);
    }
  });
}
