import type { MiddlewareHandler } from "hono";
import { forbidden, unauthorized } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { AppEnv } from "../context.ts";
import { isApiPath } from "../paths.ts";

/** Pages that answer before the bootstrap password was changed. */
const beforePasswordChange: readonly string[] = ["/account/password"];

/**
 * Pages are for a browser that signed in with the password: whatever else holds a session, such as an API token of a small
 * scope, uses the API, where its scope is judged. Register it before the pages that need a session and after those that do
 * not. Throws 401, or 403 `password_change_required`; `respondToPageError` turns both into a way on.
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
