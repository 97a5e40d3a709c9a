import type { MiddlewareHandler } from "hono";
import { OidcFailedPage } from "../../../templates/oidc/failed.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError } from "../../errors.ts";
import type { Services } from "../../services.ts";
import { basePath } from "../base-path.ts";
import type { App, AppContext, AppEnv } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import { signInOrigin } from "../current-session.ts";
import { readAttemptCookie, writeAttemptCookie } from "../oidc-cookie.ts";
import { writeSessionCookie } from "../session-cookie.ts";
import { languageOf, type PageSettings, pageContext } from "./page-context.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** Where a sign-in leads to: a page of ours that is no step of signing in itself. */
function nextPath(text: string | undefined): string | null {
  if (text === undefined || !isLocalPath(text) || /^\/(?:log(?:in|out)|auth)(?:[/?]|$)/.test(text)) return null;
  return text;
}

const requireGet: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (c.req.method === "GET") return await next();
  c.header("Allow", "GET");
  throw new AppError("method_not_allowed", 405, `This path takes GET, not ${c.req.method}`);
};

/** To the identity provider and back. Registered before the guard: a sign-in has no session yet. */
export function oidcPages(app: App, services: Services, page: PageSettings): void {
  const { oidc, baseUrl, clock } = services;
  const prefix = () => basePath(page.settings.current().base_url);
  const secondsTo = (instant: number) => Math.floor((instant - clock.now()) / 1000);

  /** One page for every cause. */
  const failed = async (c: AppContext, error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "oidc_refused") throw error;
    return respondHtml(c, <OidcFailedPage ctx={await pageContext(c, page)} />, error.status);
  };

  // Whatever looks ahead at a link by HEAD must not use up a state.
  app.use("/auth/oidc/*", requireGet);

  // A link and not a form: `form-action` would follow the redirect and refuse it.
  app.get("/auth/oidc/:slug/start", async (c) => {
    try {
      const from = { actor: c.get("actor"), browser: readAttemptCookie(c, baseUrl) };
      const started = await oidc.startLogin(from, c.req.param("slug"), nextPath(c.req.query("next")));
      writeAttemptCookie(c, baseUrl, started.browser, secondsTo(started.expires_at));
      return c.redirect(started.authorization_url, 303);
    } catch (error) {
      return await failed(c, error);
    }
  });

  app.get("/auth/oidc/:slug/callback", async (c) => {
    const from = { origin: signInOrigin(c), session: c.get("session"), browser: readAttemptCookie(c, baseUrl) };
    try {
      const completed = await oidc.complete(from, c.req.param("slug"), new URL(c.req.url).search.slice(1));
      if (completed.kind === "binding") {
        const text = texts({ language: languageOf(c) }).oidc.bound_now;
        return respondDone(c, prefix(), "/account", { tone: "current", text });
      }
      const { sign_in, next } = completed;
      writeSessionCookie(c, baseUrl, sign_in.token, secondsTo(sign_in.expires_at));
      return respondDone(c, prefix(), sign_in.password_change_required ? "/account/password" : (next ?? "/"));
    } catch (error) {
      return await failed(c, error);
    }
  });
}
