import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { executors, runs } from "../../../src/db/tables.ts";
import type { ServiceObservation } from "../../../src/executors/observation-schema.ts";
import type { ListCounts } from "../../../src/forms/page.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;

beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
  await person.api("POST", "/executors", {
    name: "web",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
});
afterAll(() => app.close());
beforeEach(() => setLooks(0));

/** Of the engine: so many in a row were missed. */
async function setLooks(missed: number): Promise<void> {
  const now = app.clock.now();
  await app.db.client.execute({
    sql: "update connections set seen_at = ?, next_look_at = ?, missed_looks = ?, missed_since = ?",
    args: [now, now + 60_000, missed, missed === 0 ? null : now],
  });
}

/** What an open list sends along. */
function sentBy(text: string): { seen: string; shown: string } {
  const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const rows = [...text.matchAll(/<tr id="([^"]+)"[^>]*class="leads/g)].map(([, id]) => id);
  return { seen, shown: rows.join() };
}

async function changes(path: string, sent: Record<string, string>): Promise<{ status: number; text: string }> {
  const query = new URLSearchParams({ section: "executors", ...sent });
  return await person.get(`/changes?${query}`, {
    htmx: true,
    headers: { "hx-current-url": `http://127.0.0.1${path}` },
  });
}

describe("an open list", () => {
  test.each(["/executors", "/executors?trigger=manual", "/connections", "/trackers"])(
    "%s hears nothing while it shows what is true",
    async (path) => {
      const sent = sentBy((await person.get(path)).text);
      expect(sent.seen).not.toBe("");
      const { text } = await changes(path, sent);
      expect(text).toContain('hx-target="#sections"');
      expect(text).not.toContain("<tr");
    },
  );

  test.each(["executors", "connections", "trackers"] as const)(
    "of %s asks for the rest of the list only once one of its rows has changed",
    async (section) => {
      const service: { counts: (query: unknown) => Promise<ListCounts> } = app.services[section];
      const { counts } = service;
      const sent = sentBy((await person.get(`/${section}`)).text);
      let asked = 0;
      service.counts = async (query) => {
        asked += 1;
        return await counts(query);
      };
      try {
        await changes(`/${section}`, sent);
        expect(asked).toBe(0);
        await changes(`/${section}`, { ...sent, seen: "other" });
        expect(asked).toBe(1);
      } finally {
        service.counts = counts;
      }
    },
  );

  test("that is seen again says nothing of what it showed, and hears of all of it", async () => {
    const { shown } = sentBy((await person.get("/executors")).text);
    const { text } = await changes("/executors", { shown });
    expect(text).toContain(`hx-target="#${shown}"`);
    expect(text).toContain('hx-target="#executors-list &gt; .filters"');
  });

  test.each([
    ["/executors", "Engine unreachable"],
    ["/connections", "Unreachable"],
  ])("%s hears of an engine that went away, once, and of its return", async (path, word) => {
    const sent = sentBy((await person.get(path)).text);
    await setLooks(2);
    // The frame's numbers are counted every five seconds.
    await app.clock.advance(5_000);
    const gone = (await changes(path, sent)).text;
    expect(gone).toContain(`hx-target="#${sent.shown}"`);
    expect(gone).toContain(`<span>${word}</span>`);
    expect(gone).toContain('<span class="count">1</span>');
    const next = { ...sent, seen: sentBy(gone).seen };
    expect((await changes(path, next)).text).not.toContain("<tr");
    await setLooks(0);
    expect((await changes(path, next)).text).toContain(`hx-target="#${sent.shown}"`);
  });
});

test("the header of executors offers their updates for as long as there are any", async () => {
  const observe = async (difference: ServiceObservation["difference"]) => {
    const service: ServiceObservation = {
      ...{ service: "main", tracker: "app", source: "main", channel: "stable", difference, behind: null, unmet: null },
      ...{ found: null, desired: { version: "2", tag: "2", digest: null, reference: "app:2", published_at: null } },
    };
    const observed = { services: [service], unbound: [], problem: null, waiting: null, desired_revision: "x" };
    await app.db.write((tx) => tx.update(executors).set({ observed, observed_at: app.clock.now() }));
  };
  const offer = "Update all safe";
  await observe("other_version");
  const { text } = await person.get("/executors");
  expect(text).toContain(offer);
  await observe("current");
  const done = (await changes("/executors", sentBy(text))).text;
  expect(done).toContain('hx-target="#header-actions"');
  expect(done).not.toContain(offer);
  await observe("other_version");
  expect((await changes("/executors", { ...sentBy(text), seen: sentBy(done).seen })).text).toContain(offer);
});

test("a list of runs hears nothing of a run that its filter no longer finds, until it changes", async () => {
  const [executor] = await app.db.read.select({ id: executors.id }).from(executors);
  const kept = { kind: "update", state: "failed", trigger: "manual", desired_revision: "r" } as const;
  const at = { due_at: app.clock.now(), created_at: app.clock.now(), ended_at: app.clock.now() };
  await app.db.write((tx) => tx.insert(runs).values({ ...kept, ...at, id: "r", executor_id: executor?.id ?? "" }));
  const sent = sentBy((await person.get("/runs")).text);
  expect(sent.shown).toBe("run-r");
  const elsewhere = "/runs?state=succeeded";
  expect((await changes(elsewhere, sent)).text).not.toContain("<tr");
  await app.db.client.execute("update runs set state = 'degraded' where id = 'r'");
  expect((await changes(elsewhere, sent)).text).toContain('hx-target="#run-r"');
});

test("a page that nobody uses does not keep its session", async () => {
  const lastSeen = async () =>
    (await app.db.client.execute("select max(last_seen_at) as at from sessions")).rows[0]?.at;
  await person.get("/executors");
  const before = await lastSeen();
  await app.clock.advance(120_000);
  await changes("/executors", {});
  expect(await lastSeen()).toBe(before);
  await person.get("/executors");
  expect(await lastSeen()).not.toBe(before);
});
