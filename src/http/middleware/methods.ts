import type { MiddlewareHandler } from "hono";
import { AppError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { AppEnv } from "../context.ts";

const known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Refuses methods without routes; TRACE would send a request's cookies and tokens back as text. */
export function knownMethods(): MiddlewareHandler<AppEnv> {
  return async function knownMethods(c, next) {
    if (known.includes(c.req.method)) return await next();
    c.header("Allow", known.join(", "));
    throw new AppError("method_not_allowed", 405, say("request.method_unknown", { method: c.req.method.slice(0, 20) }));
  };
}
