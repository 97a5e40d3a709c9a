import { Hono } from "hono";
import { accountRoutes } from "../../src/http/api/account.ts";
import { apiTokenRoutes } from "../../src/http/api/api-tokens.ts";
import { auditEntryRoutes } from "../../src/http/api/audit-entries.ts";
import { mountRoutes, type Route } from "../../src/http/api/route.ts";
import { sessionRoutes } from "../../src/http/api/session.ts";
import { sessionsRoutes } from "../../src/http/api/sessions.ts";
import type { AppEnv } from "../../src/http/context.ts";
import { clientAddress } from "../../src/http/middleware/client-address.ts";
import { csrf } from "../../src/http/middleware/csrf.ts";
import { knownMethods } from "../../src/http/middleware/methods.ts";
import { securityHeaders } from "../../src/http/middleware/security-headers.ts";
import { session } from "../../src/http/middleware/session.ts";
import { respondToApiError, toAppError } from "../../src/http/respond-to-error.ts";
import { writeSessionCookie } from "../../src/http/session-cookie.ts";
import { authHouse } from "../auth/auth-house.ts";

/** The middleware and the routes of `auth` as the application has them, with one page that takes a form. */
export async function authApp(baseUrlText = "https://tidemark.example") {
  const house = await authHouse();
  const baseUrl = () => baseUrlText;
  const services = { ...house, baseUrl };
  const app = new Hono<AppEnv>();
  app.use(securityHeaders({ baseUrl }), clientAddress({ trustedProxies: ["10.0.0.0/8"] }));
  app.use(async (c, next) => {
    c.set("request_id", "request-1");
    await next();
  });
  app.use(knownMethods());
  app.get("/file.css", (c) => c.body("", 200, { "Cache-Control": "public, max-age=31536000, immutable" }));
  app.use(session(services), csrf(services));
  const routes: Route[] = [
    ...sessionRoutes(services),
    ...sessionsRoutes(services),
    ...accountRoutes(services),
    ...apiTokenRoutes(services),
    ...auditEntryRoutes(services),
    {
      method: "GET",
      path: "/full",
      operation_id: "full",
      summary: "",
      tag: "test",
      access: "full",
      answer: { status: 200, description: "", schema: null },
      perform: async () => ({}),
    },
  ];
  mountRoutes(app, routes, { once: () => Promise.reject(new Error("No request here has a key")) });
  app.post("/form", (c) => c.text(`done by ${c.get("actor").name}`));
  app.get("/form", (c) => c.text(c.get("csrf_token")));
  app.post("/login", (c) => {
    writeSessionCookie(c, baseUrl, "token", 60);
    return c.redirect("/", 303);
  });
  app.get("/broken", () => {
    throw new Error("secret detail");
  });
  app.notFound((c) => c.text("none", 404));
  app.onError((error, c) =>
    respondToApiError(
      c,
      toAppError(error, (text) => text),
    ),
  );

  const request = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    app.request(
      `${new URL(baseUrlText).origin}${path}`,
      { method, headers, ...(body === undefined ? {} : { body }) },
      {
        peer_address: "198.51.100.7",
      },
    );
  const json = { "content-type": "application/json" };
  return {
    ...house,
    app,
    request,
    json,
    /** A JSON request with a Bearer token, as automation sends it. */
    call: (method: string, path: string, token: string | null, body?: unknown) =>
      request(
        method,
        `/api${path}`,
        { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...(body === undefined ? {} : json) },
        body === undefined ? undefined : JSON.stringify(body),
      ),
  };
}

export type AuthApp = Awaited<ReturnType<typeof authApp>>;
