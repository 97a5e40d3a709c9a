import { afterEach, beforeEach, expect, test } from "bun:test";
import { insertAuditEntry } from "../../src/auth/audit-queries.ts";
import { storeSetting } from "../../src/settings/queries.ts";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
} from "../sources/oci/stand-in-registry.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

// Several processes may share one database: what another one has stored counts here too.

let app: TestApp;
let content: Content;
let registry: StandIn;
/** While set, the registry's answers wait for it. */
let gate: Promise<void> | null;
let asked: PromiseWithResolvers<void>;
beforeEach(async () => {
  content = emptyContent();
  gate = null;
  asked = Promise.withResolvers<void>();
  registry = standIn(async (request, url) => {
    asked.resolve();
    await gate;
    return serve(content, "acme/app", request, url);
  });
  app = await testApp();
});
afterEach(async () => {
  await app.close();
  await registry.stop();
});

const another = (key: string, value: unknown) => app.db.write((tx) => storeSetting(tx, key, value, 0));
const day = 24 * 3_600_000;

test("what another process sets is in force here with the next tick", async () => {
  await another("timezone", "Asia/Tokyo");
  await another("base_url", "https://tide.example");
  await another("log_level", "error");
  await app.services.scheduler.tick();
  expect(app.services.settings.current()).toMatchObject({
    timezone: "Asia/Tokyo",
    base_url: "https://tide.example",
    log_level: "error",
  });
});

test("no audit entry goes that another process's retention keeps", async () => {
  const { api } = await app.signedIn();
  await app.db.write((tx) =>
    insertAuditEntry(tx, { id: "old", at: app.clock.now() - 400 * day, event: "old", outcome: "ok", detail: {} }),
  );
  await another("audit_retention_days", 3650);
  app.clock.set(app.clock.now() + 2 * 3_600_000);
  expect((await api("PATCH", "/account", { username: "keeper" })).status).toBe(200);
  const { rows } = await app.db.client.execute("select id from audit_entries where id = 'old'");
  expect(rows).toHaveLength(1);
});

test("no release goes that another process's history count keeps, also when that changed during the check", async () => {
  const { api } = await app.signedIn();
  const publish = (count: number) => {
    for (let minor = 0; minor < count; minor += 1) {
      addImage(content, `1.${minor}`, { created: "2026-01-04T08:00:00Z", config: { Labels: { minor } } });
    }
  };
  const count = async () => (await app.db.client.execute("select id from releases")).rows.length;
  publish(40);
  await another("version_history_count", 100);
  const source = { key: "main", kind: "oci", config: { image: "acme/app", registry: registry.url } };
  const created = await api("POST", "/trackers", {
    name: "app",
    fetch_depth: 100,
    sorting: "semantic",
    sources: [{ ...source, channels: [{ type: "stable" }] }],
  });
  expect(created.status).toBe(201);
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  expect(await count()).toBe(40);

  await another("version_history_count", 20);
  const open = Promise.withResolvers<void>();
  gate = open.promise;
  asked = Promise.withResolvers<void>();
  publish(41);
  await api("POST", "/trackers/app/checks");
  await app.services.scheduler.tick();
  await asked.promise;
  await another("version_history_count", 100);
  open.resolve();
  await app.services.scheduler.idle();
  expect(await count()).toBe(41);
});
