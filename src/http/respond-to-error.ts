import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, PluginError } from "../errors.ts";
import type { Log } from "../log.ts";
import { say, withTexts } from "../messages/message.ts";
import type { AppContext } from "./context.ts";
import { shownPath } from "./paths.ts";

/**
 * Failed Dependency (RFC 4918): the request is right, but something it depends on failed. Not 502, which proxies in front of us send
 * themselves, some of them with their own page.
 */
const upstreamStatus = 424;

/**
 * The error for the caller; unknown ones lose their text and keep the request id. `excerpt` removes secrets from upstream text and shortens
 * it.
 */
export function toAppError(error: unknown, excerpt: (text: string) => string): AppError {
  if (error instanceof AppError) return error;
  // The query builder wraps what the database client threw in the failed query.
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
  // An upstream's refusal while somebody types its address is not our failure.
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
