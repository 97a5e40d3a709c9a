import type { MiddlewareHandler } from "hono";
import type { AuthService } from "../../auth/service.ts";
import type { AppContext, AppEnv } from "../context.ts";
import { type BaseUrl, readSessionCookie } from "../session-cookie.ts";

interface SessionOptions {
  auth: Pick<AuthService, "authenticate" | "formToken">;
  baseUrl: BaseUrl;
}

/** What every open page asks for again and again: a session goes idle all the same. */
const askedByPages = /\/changes$/;

/** The token of `Authorization: Bearer …`; null for any other scheme or form. */
function bearerToken(header: string): string | null {
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header)?.[1] ?? null;
}

/**
 * Adds the session, the actor and the form token to the request; refusing is up to the routes. A request with an `Authorization` header is
 * judged by it alone: an invalid token never falls back to the cookie.
 */
export function session({ auth, baseUrl }: SessionOptions): MiddlewareHandler<AppEnv> {
  const find = async (c: AppContext) => {
    const header = c.req.header("authorization");
    if (header !== undefined) {
      const token = bearerToken(header);
      return token === null ? null : await auth.authenticate(token, "bearer", c.get("address"));
    }
    const cookie = readSessionCookie(c, baseUrl);
    if (cookie === null) return null;
    return await auth.authenticate(cookie, "cookie", c.get("address"), !askedByPages.test(c.req.path));
  };
  return async function session(c, next) {
    const found = await find(c);
    c.set("session", found);
    c.set("csrf_token", found === null ? "" : auth.formToken(found));
    c.set("actor", { name: found?.username ?? null, address: c.get("address"), request_id: c.get("request_id") });
    await next();
  };
}
