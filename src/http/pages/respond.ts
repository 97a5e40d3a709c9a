import type { ContentfulStatusCode } from "hono/utils/http-status";
import { PluginError, saidBy } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { AppContext } from "../context.ts";
import { type StoredNotice, setNotice } from "../cookies.ts";

export type Markup = string | Promise<string>;

/** Where to go after a change, below the base path, and the notice to show there. */
export interface Saved {
  path: string;
  notice: StoredNotice;
}

/** True for an htmx request for part of a page. */
export function isFragmentRequest(c: AppContext): boolean {
  return c.req.header("hx-request") === "true" && c.req.header("hx-boosted") !== "true";
}

/** HTML of a page or fragment. The response depends on the kind of request, so caches must keep them apart. */
export function respondHtml(c: AppContext, markup: Markup, status = 200) {
  c.header("Vary", "HX-Request", { append: true });
  return c.html(markup, status as ContentfulStatusCode);
}

/** Redirects after a change: by status for a plain form, by header for htmx (a 303 would be followed inside the form). */
export function respondDone(c: AppContext, basePath: string, path: string, notice?: StoredNotice): Response {
  if (notice !== undefined) setNotice(c, basePath, notice);
  const location = basePath + path;
  c.header("Vary", "HX-Request", { append: true });
  if (!isFragmentRequest(c)) return c.redirect(location, 303);
  c.header("HX-Redirect", location);
  return c.body(null, 204);
}

/**
 * Lets `app.js` put this session's token into the forms of the open page, which may have that of an earlier session. As with any page that
 * has forms, only our own pages can read the response.
 */
export function renewForms(c: AppContext): void {
  c.header("HX-Trigger", JSON.stringify({ "signed-in": { value: c.get("csrf_token") } }));
}

/** What a runtime answered, or its failure, which is shown beside the rest of the page. */
export async function orFailure<T>(ask: () => Promise<T>): Promise<T | { failure: Message }> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { failure: saidBy(error) };
  }
}
