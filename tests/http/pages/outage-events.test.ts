import { afterEach, beforeEach, expect, test } from "bun:test";
import { events } from "../../../src/db/tables.ts";
import { say, toldAs } from "../../../src/messages/message.ts";
import type { Outage } from "../../../src/notifications/outage-schema.ts";
import { outageEvents } from "../../../src/notifications/outage-schema.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

const minute = 60_000;
let app: TestApp;
beforeEach(async () => {
  app = await testApp();
});
afterEach(() => app.close());

/** The beginning and the end of an outage of each cause. */
async function store(): Promise<void> {
  const now = app.clock.now();
  const shared = {
    ...{ since: now - 130 * minute, code: "unreachable" },
    ...toldAs("reason", say("connections.silent", { seconds: 8 })),
  };
  const members = {
    host: "ghcr.io",
    source_count: 2,
    sources: ["app", "db"].map((tracker) => ({ tracker, source: "a" })),
  };
  const all: readonly Outage[] = [
    {
      cause: "connection",
      connection: "Home",
      connection_id: "c1",
      executor_count: 3,
      executors: ["a", "b"],
      ...shared,
    },
    { cause: "upstream", ...members, ...shared },
    { cause: "credential", credential: "ci", credential_id: "k1", ...members, ...shared },
  ];
  const rows = all.flatMap((outage) => {
    const { begin, end } = outageEvents[outage.cause];
    const facts = { outage: outage.cause, ...outage };
    return [
      { kind: begin, facts: { ...facts, lasted_ms: null } },
      { kind: end, facts: { ...facts, lasted_ms: 130 * minute } },
    ];
  });
  await app.db.write((tx) =>
    tx.insert(events).values(rows.map((row, index) => ({ id: `event-${index}`, created_at: now, ...row }))),
  );
}

test("outages and their ends are shown with what they affect, and lead to where they can be fixed", async () => {
  await store();
  const person = await app.signedIn();
  const { text } = await person.get("/");
  const rows = Array.from(
    { length: 6 },
    (_, index) => new RegExp(`<li id="event-event-${index}".*?</li>`, "s").exec(text)?.[0],
  );
  const facts = rows.map((row = "") => [/href="([^"]*)"/.exec(row)?.[1], /2 h 10 min/.test(row)]);
  const paths = ["/connections/c1", "/upstreams", "/credentials/k1/edit"];
  expect(facts).toEqual(
    paths.flatMap((path) => [
      [path, false],
      [path, true],
    ]),
  );
  expect(rows[0]).toMatch(/Connection lost[\s\S]*Home[\s\S]*3 executors[\s\S]*No response within 8 seconds/);
  expect(rows.map((row = "") => /class="state (\w+)"/.exec(row)?.[1])).toEqual(
    ["failed", "attention", "failed"].flatMap((tone) => [tone, "current"]),
  );
  expect(rows[1]).toMatch(/Connection recovered[\s\S]*Home/);
  const { text: chinese } = await person.get("/", { headers: { "accept-language": "zh" } });
  expect(chinese).toMatch(/凭据被拒绝[\s\S]*ghcr\.io 上的 2 个来源/);
});

test("the API gives them by kind, with their times as text", async () => {
  await store();
  const { api } = await app.signedIn();
  const { body } = await api("GET", "/events?kind=credential_recovered");
  const since = new Date(app.clock.now() - 130 * minute).toISOString();
  expect(body).toMatchObject({ items: [{ kind: "credential_recovered", facts: { since, lasted_ms: 130 * minute } }] });
});
