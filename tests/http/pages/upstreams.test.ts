import { afterEach, beforeEach, expect, test } from "bun:test";
import { check_hours } from "../../../src/db/tables.ts";
import { installation } from "../../stats/installation.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterEach(() => app.close());

test("the page of upstreams teaches while there is none", async () => {
  expect((await person.get("/upstreams")).text).toContain("No trackers checked yet");
});

test("a host that does not respond is one row, with the reason, the next attempt and all that waits", async () => {
  const world = installation(app.db, app.clock);
  const now = app.clock.now();
  const failing = { failing_since: now, last_error_code: "unreachable", next_check_at: now + 60_000 };
  for (const name of ["web", "db"]) await world.tracker(name, failing);
  await world.outage({ since: now - 3_600_000, failures: 6 });
  await world.outage({ id: "past", host: "other.example.org", since: now - 7_200_000, ended_at: now - 3_600_000 });
  const { body } = await person.api("GET", "/upstreams");
  expect(body).toMatchObject({
    outages: [
      {
        ...{ host: "registry.example.org", failures: 6, waiting: 2, ended_at: null },
        ...{ since: "2026-01-05T11:00:00.000Z", next_try_at: "2026-01-05T12:01:00.000Z" },
        error: { code: "unreachable", message: "No answer" },
        sources: [
          { tracker: "db", source: "hub" },
          { tracker: "web", source: "hub" },
        ],
      },
    ],
    past_outages: [{ host: "other.example.org", waiting: 0, next_try_at: null, sources: [] }],
  });
  const { text } = await person.get("/upstreams");
  expect(text).toMatch(/Not responding[\s\S]*?2 sources wait[\s\S]*?12:01[\s\S]*?No answer[\s\S]*?6 failed attempts/);
  expect(text).toMatch(/href="\/trackers\/db"[\s\S]*?href="\/trackers\/web"/);
  expect(text).toMatch(/Outages in the last 30 days[\s\S]*?other\.example\.org[\s\S]*?1h/);
});

test("requests are drawn for each host, with its limit where one account has it", async () => {
  const world = installation(app.db, app.clock);
  await world.tracker("web");
  expect((await person.get("/upstreams")).text).not.toContain("Requests in the last 24 hours");
  const starts_at = Math.floor(app.clock.now() / 3_600_000) * 3_600_000;
  await app.db.write((tx) => tx.insert(check_hours).values({ starts_at, host: "registry.example.org", requests: 33 }));
  const { text } = await person.get("/upstreams");
  expect(text).toMatch(/Requests in the last 24 hours[\s\S]*?registry\.example\.org[\s\S]*?13:00 to 12:00, at most 33/);
  expect(text).toMatch(/<th scope="row">12:00<\/th><td class="end">33</);
  expect(text).not.toMatch(/ style="|\bNaN\b|\bundefined\b/);
});

test("upstreams are told with what is asked of them in an hour", async () => {
  const source = { key: "main", kind: "oci", config: { image: "registry.test:5000/acme/app" } };
  const input = { name: "app", check_interval_minutes: 30, sources: [{ ...source, channels: [{ type: "stable" }] }] };
  expect((await person.api("POST", "/trackers", input)).status).toBe(201);
  const { body } = await person.api("GET", "/upstreams");
  expect(body.items).toMatchObject([
    {
      host: "registry.test:5000",
      credential_id: null,
      sources: 1,
      requests_per_hour: 4,
      quota_per_hour: 0,
      hourly_limit: null,
    },
  ]);
  const page = await person.get("/upstreams");
  expect(page.text).toContain("registry.test:5000");
  expect(page.text).toContain("Limit unknown");
  expect(page.text).not.toContain("Within limit");
});
