import type { MiddlewareHandler } from "hono";
import type { AuditEntryService } from "../../auth/audit-entries.ts";
import type { AuthService } from "../../auth/service.ts";
import { AppError, forbidden } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { AppContext, AppEnv } from "../context.ts";
import { shownPath } from "../paths.ts";
import type { BaseUrl } from "../session-cookie.ts";

interface CsrfOptions {
  auth: Pick<AuthService, "isFormToken">;
  audit_entries: Pick<AuditEntryService, "record">;
  baseUrl: BaseUrl;
}

const formTypes = ["application/x-www-form-urlencoded", "multipart/form-data"];

function isApi(c: AppContext): boolean {
  return c.req.path === "/api" || c.req.path.startsWith("/api/");
}

/** Whether the browser states that the request comes from our pages, or the client is no browser with a cookie. */
function comesFromUs(c: AppContext, baseUrl: BaseUrl): boolean {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  if (site !== undefined) return site === "same-origin";
  if (origin !== undefined) return origin === new URL(baseUrl(c.req.url)).origin;
  // Every browser sends one of the two with a form or a script's request. Without them and without a cookie there is nothing for a foreign
  // page to abuse: the client is a program with a Bearer token, or is about to sign in.
  if (c.req.header("cookie") !== undefined) return false;
  return isApi(c) || /^bearer /i.test(c.req.header("authorization") ?? "");
}

async function readForm(c: AppContext): Promise<Record<string, unknown>> {
  try {
    return await c.req.parseBody();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("invalid_form", 400, say("request.body_not_declared_form"), { cause });
  }
}

/** Forms send the token back as `csrf_token`, scripts as `X-CSRF-Token`; the API's JSON only needs the origin. */
async function hasFormToken(c: AppContext, auth: CsrfOptions["auth"]): Promise<boolean> {
  const session = c.get("session");
  if (session === null || session.via !== "cookie") return true;
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (isApi(c) && type === "application/json") return true;
  const header = c.req.header("x-csrf-token");
  if (header !== undefined) return auth.isFormToken(session, header);
  if (!formTypes.includes(type)) return false;
  const { csrf_token: field } = await readForm(c);
  return typeof field === "string" && auth.isFormToken(session, field);
}

/**
 * Refuses requests that a foreign page made a browser send. Register it after `session`. GET and HEAD pass: they change nothing. Throws 403
 * `csrf_refused` and records it when a session was involved.
 */
export function csrf({ auth, audit_entries, baseUrl }: CsrfOptions): MiddlewareHandler<AppEnv> {
  return async function csrf(c, next) {
    if (c.req.method === "GET" || c.req.method === "HEAD") return await next();
    const isForeign = !comesFromUs(c, baseUrl);
    if (!isForeign && (await hasFormToken(c, auth))) return await next();
    if (c.get("session") !== null) {
      await audit_entries.record(c.get("actor"), {
        event: "csrf_refused",
        outcome: "refused",
        detail: { method: c.req.method, path: shownPath(c.req.path), reason: isForeign ? "origin" : "form_token" },
      });
    }
    throw forbidden("csrf_refused", isForeign ? say("request.foreign_origin") : say("request.form_outdated"));
  };
}
