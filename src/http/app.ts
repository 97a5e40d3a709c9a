import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { AppError, notFound } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Services } from "../services.ts";
import { apiRoutes } from "./api/index.ts";
import { mountRoutes } from "./api/route.ts";
import type { Assets } from "./assets.ts";
import type { App, AppEnv } from "./context.ts";
import { clientAddress } from "./middleware/client-address.ts";
import { csrf } from "./middleware/csrf.ts";
import { knownMethods } from "./middleware/methods.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { session } from "./middleware/session.ts";
import { buildOpenApi } from "./openapi.ts";
import { logError, respondToApiError, toAppError } from "./respond-to-error.ts";

const maxBodyBytes = 1024 * 1024;

export interface AppOptions {
  services: Services;
  assets: Assets;
  log: Log;
  version: string;
}

/** Paths that answer JSON also when something fails. */
function isApiPath(path: string): boolean {
  return path.startsWith("/api/") || path === "/api" || path === "/openapi.json" || path.startsWith("/health/");
}

/** The whole of HTTP: middleware first, then the API, then the pages. */
export function createApp(options: AppOptions): App {
  const { services, assets, log, version } = options;
  const app: App = new Hono<AppEnv>();
  const routes = apiRoutes(services);

  app.use(securityHeaders({ baseUrl: services.baseUrl }));
  app.use(clientAddress({ trustedProxies: services.trusted_proxies }));
  app.use(async (c, next) => {
    c.set("request_id", newId(services.clock.now()));
    c.header("X-Request-Id", c.get("request_id"));
    await next();
  });
  app.use(knownMethods());
  app.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new AppError("body_too_large", 413, "The body is larger than 1 MiB");
      },
    }),
  );

  app.get("/health/live", (c) => c.json({ status: "ok" }));
  app.get("/health/ready", async (c) => {
    const ready = await services.isReady();
    return c.json({ status: ready ? "ok" : "unavailable" }, ready ? 200 : 503);
  });
  assets.mount(app);
  app.use(session(services), csrf(services));
  app.get("/openapi.json", (c) => c.json(buildOpenApi({ routes, base_url: services.baseUrl(c.req.url), version })));
  mountRoutes(app, routes);

  app.notFound((c) => respondToApiError(c, notFound("page", c.req.path)));
  app.onError((thrown, c) => {
    const error = toAppError(thrown);
    logError(log, c, error);
    if (isApiPath(c.req.path)) return respondToApiError(c, error);
    return respondToApiError(c, error);
  });
  return app;
}
