import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getPath } from "hono/utils/url";
import { statusLine } from "../../templates/overview/status.ts";
import { AppError, errorMessage, notFound } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { say } from "../messages/message.ts";
import type { Services } from "../services.ts";
import { withinWorkBudget } from "../work-budget.ts";
import { apiRoutes } from "./api/index.ts";
import { mountRoutes } from "./api/route.ts";
import type { Assets } from "./assets.ts";
import type { App, AppContext, AppEnv } from "./context.ts";
import { isSecure } from "./cookies.ts";
import type { Door } from "./door.ts";
import { clientAddress } from "./middleware/client-address.ts";
import { compression } from "./middleware/compression.ts";
import { csrf } from "./middleware/csrf.ts";
import { knownMethods } from "./middleware/methods.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { session } from "./middleware/session.ts";
import { readUnreadBody } from "./middleware/unread-body.ts";
import { openApi } from "./openapi.ts";
import { mountPages } from "./pages/index.ts";
import type { PageSettings } from "./pages/page-context.ts";
import { respondToPageError } from "./pages/page-error.tsx";
import { makeAway } from "./pages/stand-ins.tsx";
import { basePath, belowBasePath, isApiPath, shownPath } from "./paths.ts";
import { logError, respondToApiError, toAppError } from "./respond-to-error.ts";

const maxBodyBytes = 1024 * 1024;

export interface AppOptions {
  services: Services;
  assets: Assets;
  door: Door;
  log: Log;
  version: string;
  /** Upstream text for showing: without secrets, and shortened. */
  excerpt: (text: string) => string;
}

/** The whole HTTP application: middleware first, then the API, then the pages. */
export function createApp(options: AppOptions): App {
  const { services, assets, door, log, version } = options;
  const app: App = new Hono<AppEnv>({
    getPath: (request) => belowBasePath(getPath(request), basePath(services.settings.current().base_url)),
  });
  const routes = apiRoutes(services);
  const description = openApi({ routes, version });
  const page: PageSettings = {
    assets,
    away: makeAway(assets),
    clock: services.clock,
    settings: services.settings,
    version,
    openapi: (requestUrl) => description.document(services.baseUrl(requestUrl)),
    status: async (language) => statusLine(language, await services.stats.status()),
  };

  app.use(readUnreadBody(), securityHeaders({ baseUrl: services.baseUrl }), compression());
  app.use(clientAddress({ trustedProxies: services.trusted_proxies }));
  app.use(async (c, next) => {
    c.set("request_id", newId(services.clock.now()));
    c.header("X-Request-Id", c.get("request_id"));
    await next();
  });
  app.use(door.enter);
  app.use(async function knownAddress(c, next) {
    if (!URL.canParse(c.req.url)) {
      throw new AppError("invalid_host", 400, say("request.unusable_host"));
    }
    c.set("is_secure", isSecure(services.baseUrl(c.req.url)));
    await next();
  });
  app.use(knownMethods());
  app.use((_c, next) => withinWorkBudget(next));
  app.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new AppError("body_too_large", 413, say("request.body_too_large", { mib: maxBodyBytes / 1024 / 1024 }));
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
  app.use(door.begin);
  app.get("/openapi.json", (c) =>
    c.body(description.text(services.baseUrl(c.req.url)), 200, { "Content-Type": "application/json" }),
  );
  mountRoutes(app, routes, services.idempotency);

  mountPages(app, services, page);

  const respondToError = async (c: AppContext, thrown: unknown): Promise<Response> => {
    const error = toAppError(thrown, options.excerpt);
    logError(log, c, error);
    // Without an address there are no links to make a page of.
    if (isApiPath(c.req.path) || !URL.canParse(c.req.url)) return respondToApiError(c, error);
    try {
      return await respondToPageError(c, error, page);
    } catch (second) {
      log.error("The error page failed", { request_id: c.get("request_id"), error: second });
      return c.text(errorMessage(error), error.status as ContentfulStatusCode);
    }
  };
  app.notFound((c) => respondToError(c, notFound("page", shownPath(c.req.path))));
  app.onError((thrown, c) => respondToError(c, thrown));
  return app;
}
