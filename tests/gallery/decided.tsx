import type { ExecutorView } from "../../src/executors/schema.ts";
import { plain, toldAs } from "../../src/messages/message.ts";
import { ExecutorPage } from "../../templates/executors/detail.tsx";
import { ExecutorsPage } from "../../templates/executors/list.tsx";
import type { PageContext } from "../../templates/page.ts";
import { executor } from "./groups.tsx";
import { noHistory } from "./sample-context.ts";
import { wholeList } from "./whole-list.ts";

const hour = 3_600_000;
const id = (number: number) => `01a1abcd-0000-7000-8000-${String(number).padStart(12, "0")}`;
const revision = "webserver sha256:b";

/** Executors about whose updates something was decided, one for each decision. */
function decided(ctx: PageContext): readonly ExecutorView[] {
  const base: ExecutorView = { ...executor(ctx), trigger: "immediate", update_revision: revision };
  const failed: NonNullable<ExecutorView["last_run"]> = {
    ...{ id: id(40), kind: "update", state: "failed", reason_code: "unhealthy", outage: null, downtime_ms: 3100 },
    ...{ serving: "previous", from_tag: "2.18.4", to_tag: "3.0.5", started_at: ctx.now - hour },
    ...{ ended_at: ctx.now - hour, ...toldAs("reason", plain("The new version did not pass its health check")) },
  };
  return [
    { ...base, id: id(41), name: "paperless-ngx", state: "failed", last_run: failed, dismissible_run_id: failed.id },
    { ...base, id: id(42), name: "immich", state: "update" },
    { ...base, id: id(43), name: "grafana", state: "held", held_since: ctx.now - 100 * hour },
    { ...base, id: id(44), name: "home-assistant", state: "snoozed", snoozed_until: ctx.now + 60 * hour },
    { ...base, id: id(45), name: "vaultwarden", state: "skipped", is_version_skipped: true, update_revision: null },
    { ...base, id: id(46), name: "gitea", state: "dismissed", last_run: failed },
    { ...base, id: id(47), name: "traefik", state: "current", update_revision: null },
  ];
}

export function DecidedExecutorsSample({ ctx }: { ctx: PageContext }) {
  return <ExecutorsPage {...wholeList(ctx, decided(ctx))} snapshots={new Map()} />;
}

/** Everything that can be decided, at once. */
export function DecidedExecutorSample({ ctx }: { ctx: PageContext }) {
  const [failed] = decided(ctx);
  if (failed === undefined) throw new Error("There is no executor");
  const all: ExecutorView = {
    ...failed,
    held_since: ctx.now - 100 * hour,
    snoozed_until: ctx.now + 60 * hour,
    is_version_skipped: true,
  };
  const undo = { path: `/executors/${failed.id}/actions`, fields: { action: "resume" } };
  const notices = [{ tone: "current" as const, text: "Updates of paperless-ngx are on hold", undo }];
  const rest = {
    runs: [],
    versions: [],
    snapshots: wholeList(ctx, []),
    planned: { failure: plain("Not now") },
    history: noHistory,
  };
  return <ExecutorPage ctx={{ ...ctx, notices }} executor={all} {...rest} />;
}
