import { join, resolve } from "node:path";
import { joinStyles } from "../../src/http/assets.ts";
import type { PageContext } from "../../templates/page.ts";
import { BulkQuestionSample, BulkResultSample, TrackerBulkQuestionSample, TrackerBulkResultSample } from "./bulk.tsx";
import { DecidedExecutorSample, DecidedExecutorsSample } from "./decided.tsx";
import {
  ExecutorsSample,
  NewExecutorSample,
  PutBackSample,
  RollbackQuestionSample,
  RolledBackSample,
  WaitingExecutorSample,
} from "./group-runs.tsx";
import { GroupPlanSample, GroupRunSample, RefusedPlanSample, UnusedImagesSample } from "./groups.tsx";
import { identityPages } from "./identity.tsx";
import { DownExecutorsSample, DownSample, RecoveredSample } from "./outage.tsx";
import { FailedRolloutSample, RolloutSample } from "./rollouts.tsx";
import { sampleContext } from "./sample-context.ts";

const root = resolve(import.meta.dir, "../..");
const files: Readonly<Record<string, string>> = {
  "htmx.js": `${root}/node_modules/htmx.org/dist/htmx.min.js`,
  "htmx-sse.js": `${root}/node_modules/htmx.org/dist/ext/hx-sse.min.js`,
};

/** The policy that the product sends with every response. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

/** Pages in states that take long to bring about, by their paths. */
export const galleryPages: Readonly<Record<string, (ctx: PageContext) => unknown>> = {
  "/run-group": (ctx) => <GroupRunSample ctx={ctx} />,
  "/run-put-back": (ctx) => <PutBackSample ctx={ctx} />,
  "/run-rolled-back": (ctx) => <RolledBackSample ctx={ctx} />,
  "/restore-group": (ctx) => <RollbackQuestionSample ctx={ctx} />,
  "/executor-new": (ctx) => <NewExecutorSample ctx={ctx} />,
  "/executor-waits": (ctx) => <WaitingExecutorSample ctx={ctx} />,
  "/run-rollout": (ctx) => <RolloutSample ctx={ctx} />,
  "/run-rollout-failed": (ctx) => <FailedRolloutSample ctx={ctx} />,
  "/run-down": (ctx) => <DownSample ctx={ctx} />,
  "/run-recovered": (ctx) => <RecoveredSample ctx={ctx} />,
  "/executor-decided": (ctx) => <DecidedExecutorSample ctx={ctx} />,
  "/executors-decided": (ctx) => <DecidedExecutorsSample ctx={ctx} />,
  "/executors-bulk": (ctx) => <BulkQuestionSample ctx={ctx} />,
  "/executors-bulk-done": (ctx) => <BulkResultSample ctx={ctx} />,
  "/trackers-bulk": (ctx) => <TrackerBulkQuestionSample ctx={ctx} />,
  "/trackers-bulk-done": (ctx) => <TrackerBulkResultSample ctx={ctx} />,
  "/executors-down": (ctx) => <DownExecutorsSample ctx={ctx} />,
  "/executors": (ctx) => <ExecutorsSample ctx={ctx} />,
  "/plan-group": (ctx) => <GroupPlanSample ctx={ctx} />,
  "/plan-refused": (ctx) => <RefusedPlanSample ctx={ctx} />,
  "/images": (ctx) => <UnusedImagesSample ctx={ctx} />,
  ...identityPages,
};

/** Serves the gallery on a free port of loopback, under the product's policy; `?lang=` and `?theme=` choose the look. */
export function startGallery() {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: answer,
  });
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function answer(request: Request): Response {
  const url = new URL(request.url);
  const headers = new Headers({
    "Content-Security-Policy": contentSecurityPolicy,
    "Content-Type": "text/html; charset=utf-8",
  });
  if (url.pathname.startsWith("/assets/")) {
    const name = url.pathname.slice("/assets/".length);
    if (name === "app.css")
      return new Response(joinStyles(join(root, "public")), { headers: { "content-type": "text/css" } });
    return new Response(Bun.file(files[name] ?? `${root}/public/${name}`));
  }
  if (url.pathname === "/sw.js") return new Response("", { headers: { "content-type": "text/javascript" } });
  const ctx = sampleContext({
    language: url.searchParams.get("lang") === "zh" ? "zh" : "en",
    theme:
      url.searchParams.get("theme") === "dark"
        ? "dark"
        : url.searchParams.get("theme") === "light"
          ? "light"
          : "system",
    path: url.pathname,
  });
  const page = galleryPages[url.pathname];
  return new Response(page === undefined ? "Not found" : String(page(ctx)), {
    status: page === undefined ? 404 : 200,
    headers,
  });
}
