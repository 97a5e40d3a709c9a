import { ToastPartial } from "../../../templates/components/notice.tsx";
import { ErrorPage } from "../../../templates/errors/error.tsx";
import { translateMessage } from "../../../templates/texts/messages.ts";
import type { AppError } from "../../errors.ts";
import type { AppContext } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import { basePath, belowBasePath } from "../paths.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

/** Where to return after signing in: the requested page, or the one htmx was on. */
function wayBack(c: AppContext, prefix: string): string {
  const address = isFragmentRequest(c)
    ? c.req.header("hx-current-url")
    : c.req.method === "GET"
      ? c.req.url
      : undefined;
  if (address === undefined || !URL.canParse(address)) return "";
  const { pathname, search } = new URL(address);
  const path = belowBasePath(pathname, prefix) + search;
  return path === "/" || !isLocalPath(path) ? "" : `?next=${encodeURIComponent(path)}`;
}

/**
 * An error for people: a redirect to signing in or to the forced password change, a toast when htmx asked for part of a page, and otherwise
 * a page of its own.
 */
export async function respondToPageError(c: AppContext, error: AppError, page: PageSettings): Promise<Response> {
  const prefix = basePath(page.settings.current().base_url);
  if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
  if (error.status === 401) return respondDone(c, prefix, `/login${wayBack(c, prefix)}`);
  if (error.code === "password_change_required") return respondDone(c, prefix, "/account/password");
  // The status line reads the database, which may be what failed.
  const ctx = await pageContext(c, { ...page, status: async () => ({}) });
  if (isFragmentRequest(c)) {
    const notice = { tone: "failed", text: translateMessage(ctx.language, error.said) } as const;
    return respondHtml(c, <ToastPartial ctx={ctx} notice={notice} />, error.status);
  }
  return respondHtml(
    c,
    <ErrorPage
      ctx={ctx}
      status={error.status}
      code={error.code}
      message={error.said}
      retry_after_seconds={error.retry_after_seconds ?? null}
      request_id={c.get("request_id")}
    />,
    error.status,
  );
}
