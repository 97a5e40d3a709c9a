import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../context.ts";
import type { BaseUrl } from "../session-cookie.ts";

/** Everything from our own origin, nothing inline, no frames. Images may come from elsewhere: icons of providers. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' https: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of every response, also of the page that a browser keeps for when there is none. */
const fixedHeaders: readonly (readonly [string, string])[] = [
  ["Content-Security-Policy", contentSecurityPolicy],
  ["X-Content-Type-Options", "nosniff"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["X-Frame-Options", "DENY"],
];

const ONE_YEAR_SECONDS = 31_536_000;

/**
 * For every response: pages, JSON, files, redirects and errors. Register it first, so that it sees all of them. Only responses that declare
 * themselves cacheable (files named by their content) are; the rest may hold private data.
 */
export function securityHeaders(options: { baseUrl: BaseUrl }): MiddlewareHandler<AppEnv> {
  return async function securityHeaders(c, next) {
    await next();
    for (const [name, value] of fixedHeaders) c.res.headers.set(name, value);
    // A request without a usable Host header has no URL and comes from no browser.
    if (URL.canParse(c.req.url) && options.baseUrl(c.req.url).startsWith("https:")) {
      c.res.headers.set("Strict-Transport-Security", `max-age=${ONE_YEAR_SECONDS}`);
    }
    if (!c.res.headers.has("Cache-Control") || c.res.status >= 400) c.res.headers.set("Cache-Control", "no-store");
    c.res.headers.delete("Server");
    c.res.headers.delete("X-Powered-By");
  };
}
