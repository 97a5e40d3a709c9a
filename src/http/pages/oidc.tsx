import type { MiddlewareHandler } from "hono";
import { OidcFailedPage } from "../../../templates/oidc/failed.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, tooManyRequests } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext, AppEnv } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import { signInOrigin } from "../current-session.ts";
import { readAttemptCookie, writeAttemptCookie } from "../oidc-cookie.ts";
import { basePath } from "../paths.ts";
import { writeSessionCookie } from "../session-cookie.ts";
import { languageOf, type PageSettings, pageContext } from "./page-context.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** Where a sign-in leads: a local page that is not part of signing in. */
function nextPath(text: string | undefined): string | null {
  if (text === undefined || !isLocalPath(text) || /^\/(?:log(?:in|out)|auth)(?:[/?]|$)/.test(text)) return null;
  return text;
}

/** The page for every cause; `wait`, in seconds, is for too many attempts. */
const failedPath = "/auth/oidc/failed";

/** The wait from the address; null for none, and for an invalid one. */
function waitSeconds(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null;
}

const requireGet: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (c.req.method === "GET") return await next();
  c.header("Allow", "GET");
  throw new AppError(
    "method_not_allowed",
    405,
    say("request.method_not_allowed", { allowed: ["GET"], method: c.req.method }),
  );
};

/** To the identity provider and back. Registered before the guard: a sign-in has no session yet. */
export function oidcPages(app: App, services: Services, page: PageSettings): void {
  const { oidc, baseUrl, clock } = services;
  const prefix = () => basePath(page.settings.current().base_url);
  const secondsTo = (instant: number) => Math.floor((instant - clock.now()) / 1000);

  /** One page for every cause. */
  const failed = async (c: AppContext) =>
    respondHtml(c, <OidcFailedPage ctx={{ ...(await pageContext(c, page)), path: failedPath }} />, 403);

  // Link previews by HEAD must not use up a state.
  app.use("/auth/oidc/*", requireGet);

  // A link and not a form: `form-action` would follow the redirect and refuse it.
  app.get("/auth/oidc/:slug/start", async (c) => {
    try {
      const from = { actor: c.get("actor"), browser: readAttemptCookie(c, baseUrl) };
      const started = await oidc.startLogin(from, c.req.param("slug"), nextPath(c.req.query("next")));
      writeAttemptCookie(c, baseUrl, started.browser, secondsTo(started.expires_at));
      return c.redirect(started.authorization_url, 303);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "oidc_refused") throw error;
      return await failed(c);
    }
  });

  app.get(failedPath, async (c) => {
    const wait = waitSeconds(c.req.query("wait"));
    if (wait === null) return await failed(c);
    throw tooManyRequests(say("request.too_many_sign_ins"), wait);
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
      // Never a page here: code and state would stay in the address bar and in the browser's history.
      if (!(error instanceof AppError)) throw error;
      if (error.code === "oidc_refused") return respondDone(c, prefix(), failedPath);
      if (error.status !== 429) throw error;
      return respondDone(c, prefix(), `${failedPath}?wait=${Math.ceil(error.retry_after_seconds ?? 1)}`);
    }
  });
}
