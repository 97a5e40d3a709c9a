import type { GenericSchema } from "valibot";
import type { AuditEvent } from "../../auth/audit-schema.ts";
import { AppError, forbidden, invalidInput, unauthorized } from "../../errors.ts";
import { maxInputDepth } from "../../forms/issues.ts";
import type { IdempotencyService, Subject } from "../../idempotency/service.ts";
import { say } from "../../messages/message.ts";
import type { App, AppContext } from "../context.ts";
import { toWire } from "./wire.ts";

/** `public`: without a session. `read`: any session. `full`: not with a token of scope `read`. */
export type Access = "public" | "read" | "full";

export interface Answer {
  description: string;
  schema: GenericSchema | null;
}

/** One operation of the API: the only source of the router and the OpenAPI document. */
export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api`, with parameters in braces: `/trackers/{name}`. */
  path: string;
  operation_id: string;
  summary: string;
  /** The resource, as grouped in the documentation. */
  tag: string;
  access: Access;
  /** Allowed before the bootstrap password was changed; other routes are refused until then. */
  before_password_change?: boolean;
  query?: GenericSchema;
  body?: GenericSchema;
  /** `media_type`: of a response that is a file and not JSON; `perform` then returns the whole `Response`. */
  answer: { status: 200 | 201 | 202 | 204; description: string; schema: GenericSchema | null; media_type?: string };
  /** Creates something: once per `Idempotency-Key`, however often it is sent. */
  idempotent?: {
    /** The audit events, one of which proves that it is done. */
    events: readonly AuditEvent[];
    /** Repeats the response from stored data, or does the rest; null when only the first response has it. */
    again: ((subject: Subject, input: RouteInput) => Promise<unknown>) | null;
  };
  /** Codes of `error.code` beyond the usual ones, by status. */
  refusals?: Readonly<Record<number, string>>;
  perform(input: RouteInput): Promise<unknown>;
}

export interface RouteInput {
  context: AppContext;
  param(name: string): string;
  query: Readonly<Record<string, string>>;
  /** The parsed JSON body; services validate it. */
  body: unknown;
}

type Declared = Omit<Route, "method" | "path" | "tag" | "access"> & Partial<Pick<Route, "tag" | "access">>;

/** Declares routes of one resource. Unless stated otherwise, GET is open to any session, and the rest only to those that may do all. */
export function routesOf(tag: string) {
  return (method: Route["method"], path: string, declared: Declared): Route => ({
    ...{ method, path, tag, access: method === "GET" ? "read" : "full" },
    ...declared,
  });
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== "object" || value === null || depth > maxInputDepth) return depth;
  let deepest = depth + 1;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, depth + 1));
  return deepest;
}

/** Decodes UTF-8, as JSON requires, without a byte order mark. Throws for invalid bytes, which would all become the same character. */
function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("invalid_json", 400, say("request.body_not_utf8"), { cause });
  }
}

async function readBody(c: AppContext, route: Route): Promise<unknown> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength === 0) return undefined;
  if (type !== "application/json") {
    throw new AppError("unsupported_media_type", 415, say("request.body_not_declared_json"));
  }
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_json", 400, say("request.body_not_json"), { cause });
  }
  if (depthOf(value) > maxInputDepth) {
    throw new AppError("invalid_json", 400, say("request.body_too_deep", { levels: maxInputDepth }));
  }
  // A list has none of an object's fields and would pass for an object without any: an empty change.
  if (route.body !== undefined && (typeof value !== "object" || value === null || Array.isArray(value))) {
    throw invalidInput({ body: say("fields.object_wanted") });
  }
  return value;
}

/** No query parameter is a list, so a repeated one is a mistake. */
function readQuery(route: Route, c: AppContext): Readonly<Record<string, string>> {
  if (route.query === undefined) return {};
  const repeated = Object.entries(c.req.queries()).filter(([, values]) => values.length > 1);
  if (repeated.length > 0) {
    throw invalidInput(
      Object.fromEntries(
        repeated.map(([name, values]) => [name, say("request.query_repeated", { name, count: values.length })]),
      ),
    );
  }
  return c.req.query();
}

function checkAccess(route: Route, c: AppContext): void {
  if (route.access === "public") return;
  const session = c.get("session");
  if (session === null) throw unauthorized();
  if (session.is_password_change_required && !route.before_password_change) {
    throw forbidden("password_change_required", say("request.change_password_first"));
  }
  if (route.access === "full" && session.scope !== "full") {
    throw forbidden("scope_too_small", say("request.scope_too_small"));
  }
}

/** An opaque text of visible ASCII. */
const keyPattern = /^[!-~]{1,255}$/;

function idempotencyKey(c: AppContext): string | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (keyPattern.test(key)) return key;
  throw new AppError("invalid_idempotency_key", 400, say("request.idempotency_key_invalid"));
}

type Once = Pick<IdempotencyService, "once">;

/** Calls `perform`, with an `Idempotency-Key` only once for each. */
async function answerOf(route: Route, input: RouteInput, idempotency: Once): Promise<Response> {
  const { context: c, body } = input;
  const { status } = route.answer;
  const key = idempotencyKey(c);
  const session = c.get("session");
  if (route.idempotent === undefined || status === 204 || key === null || session === null) {
    const result = await route.perform(input);
    if (result instanceof Response) return result;
    return status === 204 ? c.body(null, 204) : c.json(toWire(result), status);
  }
  const { events, again } = route.idempotent;
  const answered = (result: unknown) => ({ status, body: JSON.stringify(toWire(result)) });
  const answer = await idempotency.once({
    administrator_id: session.administrator_id,
    key,
    // An API token may do less than a sign-in and must not receive its response.
    request: [session.kind, route.method, c.req.path, JSON.stringify(body ?? null)],
    events,
    perform: async () => answered(await route.perform(input)),
    again: again === null ? null : async (subject) => answered(await again(subject, input)),
  });
  if (answer.is_replayed) c.header("Idempotency-Replayed", "true");
  return c.body(answer.body, status, { "Content-Type": "application/json" });
}

/** Registers the routes below `/api`; a known path with another method returns 405 with the allowed ones. */
export function mountRoutes(app: App, routes: readonly Route[], idempotency: Once): void {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const path = `/api${route.path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    app.on(route.method, path, async (c) => {
      checkAccess(route, c);
      const body = route.method === "GET" || route.method === "DELETE" ? undefined : await readBody(c, route);
      const input = { context: c, param: (name: string) => c.req.param(name) ?? "", query: readQuery(route, c), body };
      return await answerOf(route, input, idempotency);
    });
  }
  for (const [path, allowed] of methods) {
    app.all(path, (c) => {
      const list = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
      c.header("Allow", list.join(", "));
      throw new AppError(
        "method_not_allowed",
        405,
        say("request.method_not_allowed", { allowed: list, method: c.req.method }),
      );
    });
  }
}
