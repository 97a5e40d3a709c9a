import { SignInPage, type SignInReason } from "../../../templates/auth/sign-in.tsx";
import { signedInPath } from "../../../templates/components/signed-out.tsx";
import { ProviderButton } from "../../../templates/oidc/sign-in-button.tsx";
import type { PageContext } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import { signInOrigin } from "../current-session.ts";
import { basePath } from "../paths.ts";
import { clearSessionCookie, readSessionCookie, writeSessionCookie } from "../session-cookie.ts";
import { languageOf, type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** A local path to go to after signing in; "" for anything else, or this page itself. */
function nextPath(text: string | undefined): string {
  if (text === undefined || !isLocalPath(text) || /^\/log(in|out)\b/.test(text)) return "";
  return text;
}

/** Signing in and out. Registered before the guard: there is no session yet. */
export function signInPages(app: App, services: Services, page: PageSettings): void {
  const { auth, oidc, baseUrl, clock } = services;
  const prefix = () => basePath(page.settings.current().base_url);
  /** The provider's button, only for one that is enabled and bound: no other could sign anybody in. */
  const others = async (ctx: PageContext, next: string) => {
    const provider = await oidc.loginProvider();
    return provider === null ? null : <ProviderButton ctx={ctx} provider={provider} next={next} />;
  };

  const reasonOf = (c: AppContext, next: string): SignInReason | null => {
    if (next === signedInPath) return "other_tab";
    if (c.req.query("unsaved") !== undefined) return "unsaved";
    if (readSessionCookie(c, baseUrl) !== null) return "ended";
    return next === "" ? null : "asked";
  };

  app.get("/login", async (c) => {
    const next = nextPath(c.req.query("next"));
    if (c.get("session")?.via === "cookie") return respondDone(c, prefix(), next || "/");
    const ctx = await pageContext(c, page);
    const props = { ctx, next, reason: reasonOf(c, next), others: await others(ctx, next) };
    return respondHtml(c, <SignInPage {...props} username="" refusal={null} />);
  });

  app.post("/login", async (c) => {
    const form = await readForm(c);
    const next = nextPath(formText(form, "next"));
    const username = formText(form, "username").slice(0, 200);
    try {
      const input = { username: formText(form, "username"), password: formText(form, "password") };
      const started = await auth.signIn(signInOrigin(c), input);
      writeSessionCookie(c, baseUrl, started.token, Math.floor((started.expires_at - clock.now()) / 1000));
      return respondDone(c, prefix(), started.password_change_required ? "/account/password" : next || "/");
    } catch (error) {
      if (!(error instanceof AppError) || ![401, 422, 429].includes(error.status)) throw error;
      const ctx = { ...(await pageContext(c, page)), user: null };
      const seconds = error.retry_after_seconds ?? 0;
      if (error.status === 429) c.header("Retry-After", String(Math.ceil(seconds)));
      const refusal =
        error.status === 429
          ? ({ kind: "throttled", retry_after_seconds: seconds } as const)
          : ({ kind: "wrong" } as const);
      // The page returns with the entered values: 422 for both kinds of wrong input, which look the same.
      const status = error.status === 429 ? 429 : 422;
      const props = { ctx, next, reason: reasonOf(c, next), others: await others(ctx, next) };
      return respondHtml(c, <SignInPage {...props} username={username} refusal={refusal} />, status);
    }
  });

  app.post("/logout", async (c) => {
    const session = c.get("session");
    if (session?.via === "cookie") await auth.signOut(c.get("actor"), session);
    clearSessionCookie(c, baseUrl);
    const text = texts({ language: languageOf(c) }).auth.signed_out;
    return respondDone(c, prefix(), "/login", { tone: "current", text });
  });
}
