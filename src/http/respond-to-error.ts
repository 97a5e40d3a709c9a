import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, PluginError } from "../errors.ts";
import type { Log } from "../log.ts";
import { say, withTexts } from "../messages/message.ts";
import type { AppContext } from "./context.ts";
import { shownPath } from "./paths.ts";

/**
 * Failed Dependency (RFC 4918): what was asked is right, and somebody else did not play along. Not 502, which proxies in front of us
 * say themselves, and some put their own page in its place.
 */
const upstreamStatus = 424;

/**
 * What was thrown as the error that a caller may see; unknown ones lose their text and keep the request id. `excerpt` takes the
 * secrets out of what an upstream said, and cuts it.
 */
export function toAppError(error: unknown, excerpt: (text: string) => string): AppError {
  if (error instanceof AppError) return error;
  // The query that failed stands around what the database's own client threw.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause;
  if (error instanceof PluginError) {
    return new AppError(`upstream_${error.code}`, upstreamStatus, withTexts(error.said, excerpt), { cause: error });
  }
  return new AppError("internal_error", 500, say("request.internal_error"), {
    cause: error,
  });
}

export function logError(log: Log, c: AppContext, error: AppError): void {
  const fields = {
    request_id: c.get("request_id"),
    method: c.req.method,
    path: shownPath(c.req.path),
    code: error.code,
  };
  // What an upstream refuses while somebody types its address is no failure of ours.
  if (error.code.startsWith("upstream_")) log.info("Upstream refused", { ...fields, reason: error.message });
  // Nor is the end of this process.
  else if (error.status >= 500 && error.code !== "stopping")
    log.error("Request failed", { ...fields, error: error.cause ?? error });
  else log.debug("Request refused", { ...fields, reason: error.message });
}

/** The JSON form of requirements: `{ error: { code, message, fields? }, request_id }`. */
export function respondToApiError(c: AppContext, error: AppError): Response {
  if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
  const status: ContentfulStatusCode = (error.status === 304 ? 500 : error.status) as ContentfulStatusCode;
  const { code, message, said, fields, field_messages } = error;
  const refused = fields === undefined ? {} : { fields, fields_data: field_messages };
  return c.json({ error: { code, message, message_data: said, ...refused }, request_id: c.get("request_id") }, status);
}
