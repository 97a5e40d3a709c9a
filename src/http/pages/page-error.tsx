import { ToastPartial } from "../../../templates/components/notice.tsx";
import { SignedOutPartial } from "../../../templates/components/signed-out.tsx";
import { ErrorPage } from "../../../templates/errors/error.tsx";
import { url, withQuery } from "../../../templates/page.ts";
import { translateMessage } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { type AppError, reasonOf } from "../../errors.ts";
import type { AppContext } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import { basePath, belowBasePath } from "../paths.ts";
import { type PageSettings, pageContext, pathShown } from "./page-context.ts";
import { isFragmentRequest, renewForms, respondDone, respondHtml } from "./respond.ts";

/** Signing in leads to the requested page, or back to the one whose form was sent and is lost. */
function signInPath(c: AppContext, prefix: string): string {
  const isAsked = c.req.method === "GET" || c.req.method === "HEAD";
  const address = isAsked ? c.req.url : (c.req.header("referer") ?? "");
  const { pathname, search } = URL.canParse(address) ? new URL(address) : { pathname: "/", search: "" };
  const path = belowBasePath(pathname, prefix) + search;
  const next = path === "/" || !isLocalPath(path) ? null : path;
  return withQuery("/login", { next, unsaved: isAsked ? null : "yes" });
}

/**
 * An error for people: a way to sign in, which leaves an open page as it is; a redirect to the forced password change; a toast when htmx
 * asked for part of a page; and otherwise a page of its own.
 */
export async function respondToPageError(c: AppContext, error: AppError, page: PageSettings): Promise<Response> {
  const prefix = basePath(page.settings.current().base_url);
  if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
  if (error.status === 401 && !isFragmentRequest(c)) return respondDone(c, prefix, signInPath(c, prefix));
  if (error.code === "password_change_required") return respondDone(c, prefix, "/account/password");
  // The status line reads the database, which may be what failed.
  const ctx = await pageContext(c, { ...page, status: async () => ({}) });
  if (error.status === 401) {
    const shown = pathShown(c, ctx);
    // For a page that has nothing to lose; our own (see `app.js`) stay and show the way.
    c.header("HX-Redirect", url(ctx, "/login", { next: shown === "/" ? null : shown }));
    return respondHtml(c, <SignedOutPartial ctx={ctx} standing="gone" />, 401);
  }
  if (isFragmentRequest(c)) {
    const isOutdated = error.said.code === "request.form_outdated";
    if (isOutdated) renewForms(c);
    const text = isOutdated ? texts(ctx).auth.form_renewed : translateMessage(ctx.language, reasonOf(error));
    const notice = { tone: "failed", text } as const;
    return respondHtml(c, <ToastPartial ctx={ctx} notice={notice} />, error.status);
  }
  return respondHtml(
    c,
    <ErrorPage
      ctx={ctx}
      status={error.status}
      code={error.code}
      message={reasonOf(error)}
      retry_after_seconds={error.retry_after_seconds ?? null}
      request_id={c.get("request_id")}
    />,
    error.status,
  );
}
