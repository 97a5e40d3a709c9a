import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { AppContext } from "./context.ts";

const NAME = "tidemark_session";

/** The base URL as people reach this instance, for this request. */
export type BaseUrl = (requestUrl: string) => string;

interface Place {
  name: string;
  path: string;
  secure: boolean;
}

/**
 * Where the session's cookie lives. Under https it has a prefix that no other host can forge: `__Host-` at the root, `__Secure-` for a base
 * URL with a sub-path. Browsers refuse both under plain http.
 */
export function cookiePlace(baseUrl: string): Place {
  const { protocol, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, "") || "/";
  if (protocol !== "https:") return { name: NAME, path, secure: false };
  return { name: `${path === "/" ? "__Host-" : "__Secure-"}${NAME}`, path, secure: true };
}

export function readSessionCookie(c: AppContext, baseUrl: BaseUrl): string | null {
  return getCookie(c, cookiePlace(baseUrl(c.req.url)).name) ?? null;
}

/** `SameSite=Lax` and not `Strict`: a strict cookie would be missing after an identity provider's redirect. */
export function writeSessionCookie(c: AppContext, baseUrl: BaseUrl, token: string, maxAgeSeconds: number): void {
  const { name, path, secure } = cookiePlace(baseUrl(c.req.url));
  setCookie(c, name, token, { path, secure, httpOnly: true, sameSite: "Lax", maxAge: Math.max(0, maxAgeSeconds) });
}

export function clearSessionCookie(c: AppContext, baseUrl: BaseUrl): void {
  const { name, path, secure } = cookiePlace(baseUrl(c.req.url));
  deleteCookie(c, name, { path, secure, httpOnly: true, sameSite: "Lax" });
}
