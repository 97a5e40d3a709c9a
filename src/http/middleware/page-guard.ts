import type { MiddlewareHandler } from "hono";
import { forbidden, unauthorized } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { AppEnv } from "../context.ts";
import { isApiPath } from "../paths.ts";

/** Pages that are open before the bootstrap password was changed. */
const beforePasswordChange: readonly string[] = ["/account/password"];

/**
 * Pages are for browsers that signed in; other sessions, such as an API token with a small scope, must use the API, where their scope is
 * checked. Register it before the pages that need a session and after those that do not. Throws 401, or 403 `password_change_required`;
 * `respondToPageError` redirects for both.
 */
export function pageGuard(): MiddlewareHandler<AppEnv> {
  return async function pageGuard(c, next) {
    if (isApiPath(c.req.path)) return await next();
    const session = c.get("session");
    if (session === null || session.via !== "cookie" || session.kind !== "session") throw unauthorized();
    if (session.is_password_change_required && !beforePasswordChange.includes(c.req.path)) {
      throw forbidden("password_change_required", say("request.change_password_first"));
    }
    await next();
  };
}
