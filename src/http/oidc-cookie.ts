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

/** The cookie that this browser received before going to the identity provider; null without one. */
export function readAttemptCookie(c: AppContext, baseUrl: BaseUrl): string | null {
  return getCookie(c, place(c, baseUrl).name) ?? null;
}

/**
 * Binds attempts to this browser for their lifetime. `Lax`, because the provider's redirect comes from another site. A callback does not
 * clear it: another tab may still be on its way.
 */
export function writeAttemptCookie(c: AppContext, baseUrl: BaseUrl, browser: string, maxAgeSeconds: number): void {
  const { name, path, secure } = place(c, baseUrl);
  setCookie(c, name, browser, { path, secure, httpOnly: true, sameSite: "Lax", maxAge: Math.max(0, maxAgeSeconds) });
}
