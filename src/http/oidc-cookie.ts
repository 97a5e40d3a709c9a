import { getCookie, setCookie } from "hono/cookie";
import type { AppContext } from "./context.ts";
import { type BaseUrl, cookiePlace } from "./session-cookie.ts";

const NAME = "tidemark_oidc";

/** Beside the session's cookie, under the same rules; see `cookiePlace`. */
function place(c: AppContext, baseUrl: BaseUrl) {
  const { path, secure } = cookiePlace(baseUrl(c.req.url));
  const prefix = secure ? (path === "/" ? "__Host-" : "__Secure-") : "";
  return { name: `${prefix}${NAME}`, path, secure };
}

/** What this browser was given when it set out for the identity provider; null when it did not. */
export function readAttemptCookie(c: AppContext, baseUrl: BaseUrl): string | null {
  return getCookie(c, place(c, baseUrl).name) ?? null;
}

/**
 * Binds attempts to this browser for as long as they last. `Lax`, because the provider's redirect comes from elsewhere. It is
 * not cleared by a callback: another tab may still be on its way.
 */
export function writeAttemptCookie(c: AppContext, baseUrl: BaseUrl, browser: string, maxAgeSeconds: number): void {
  const { name, path, secure } = place(c, baseUrl);
  setCookie(c, name, browser, { path, secure, httpOnly: true, sameSite: "Lax", maxAge: Math.max(0, maxAgeSeconds) });
}
