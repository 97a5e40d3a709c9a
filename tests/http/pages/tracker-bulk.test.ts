import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { maxBulk } from "../../../src/bulk/schema.ts";
import { audit_entries, tracker_sources, trackers } from "../../../src/db/tables.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;

/** The tracker `app`, which the executor `shop` follows, and two more. */
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
  const now = app.clock.now();
  const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
  const times = { created_at: now, updated_at: now };
  await app.db.write(async (tx) => {
    for (const name of ["bulk", "web"]) {
      await tx.insert(trackers).values({ id: name, name, ...depth, sorting: "publish_time", ...times });
      const config = { image: `registry.test/<${name}>` };
      const source = { tracker_id: name, key: "main", kind: "oci", host: "registry.test", position: 0, config };
      await tx.insert(tracker_sources).values({ id: `s-${name}`, ...source, next_check_at: now + 60_000 });
    }
  });
  await person.api("POST", "/executors", {
    ...{ name: "shop", connection_id: "connection-1", target: { kind: "container", id: "shop" }, trigger: "manual" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
  });
});
afterEach(() => app.close());

const path = "/trackers/-/bulk";
const every = ["t", "bulk", "web"];
const select = (fields: Record<string, string | readonly string[]>) => person.post(path, fields);
const ask = async (fields: Record<string, string | readonly string[]>) =>
  (await person.get((await select({ _action: "delete", next: "/trackers", ...fields })).location ?? "")).text;
const shown = (text: string) => [...text.matchAll(/name="tracker" value="([^"]+)"/g)].map(([, value = ""]) => value);
const stored = async () => await app.db.read.select().from(trackers).orderBy(asc(trackers.name));
const enabled = async () => (await stored()).filter(({ is_enabled }) => is_enabled).map(({ name }) => name);
const requested = async () =>
  (await app.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id)))
    .filter(({ event }) => event === "tracker_checked")
    .map(({ subject_name }) => subject_name);

describe("the list", () => {
  test("has a box for each row, which the bar's form sends, and without script a link that selects all", async () => {
    const { text } = await person.get("/trackers");
    for (const id of every) expect(text).toContain(`name="row" value="${id}" form="trackers-selection"`);
    expect(text).toContain(`id="trackers-selection" method="post" action="${path}"`);
    expect(text).not.toMatch(/class="choice"[^>]* checked/);
    expect((await person.get("/trackers?select=all")).text.match(/class="choice"[^>]* checked/g)).toHaveLength(3);
  });

  test("offers what applies to one of its rows", async () => {
    const offered = async () => {
      // The notice of what was done before offers to take it back.
      await person.get("/");
      const { text } = await person.get("/trackers");
      return [...text.matchAll(/name="_action" value="(\w+)"/g)].map(([, name]) => name);
    };
    expect(await offered()).toEqual(["check", "disable", "delete"]);
    await select({ _action: "disable", row: "web" });
    expect(await offered()).toEqual(["check", "enable", "disable", "delete"]);
    await select({ _action: "disable", row: every });
    expect(await offered()).toEqual(["check", "enable", "delete"]);
  });

  test("a tracker may have the name of the address", async () => {
    expect((await person.get("/trackers/bulk")).text).toContain("registry.test/&lt;bulk&gt;");
  });
});

test("a check is requested at once, and where the person was is shown again", async () => {
  const done = await select({ _action: "check", row: ["bulk", "web"], next: "/trackers?q=b&select=all" });
  expect([done.status, done.location]).toEqual([303, "/trackers?q=b"]);
  expect(await requested()).toEqual(["bulk", "web"]);
  const { text } = await person.get("/trackers?q=b");
  expect(text).toContain("Checking 2 trackers");
  expect(text).not.toContain('name="ids"');
});

test("several are disabled at once, and the notice takes back what was changed", async () => {
  await select({ _action: "disable", row: "web" });
  await person.get("/trackers");
  await select({ _action: "disable", row: every, next: "/trackers" });
  expect(await enabled()).toEqual([]);
  const { text } = await person.get("/trackers");
  expect(text).toContain("Disabled 2 trackers");
  const [, undo = ""] = /name="ids" value="([^"]+)"/.exec(text) ?? [];
  expect(text).toContain('name="_action" value="enable"');
  await select({ _action: "enable", ids: undo });
  expect(await enabled()).toEqual(["app", "bulk"]);
});

describe("deleting several", () => {
  test("is asked about once with their names, without those that executors follow", async () => {
    const text = await ask({ row: every });
    expect(text).toContain("Delete 2 trackers?");
    expect(text).toContain("registry.test/&lt;web&gt;");
    expect(text).toContain("1 tracker is left out");
    expect(text).toContain("is used by executor &quot;shop&quot;");
    expect(shown(text).toSorted()).toEqual(["bulk", "web"]);
    expect(await stored()).toHaveLength(3);
    const done = await person.post(`${path}/confirmed`, { _action: "delete", tracker: shown(text) });
    expect([done.status, done.location]).toEqual([303, "/trackers"]);
    expect((await stored()).map(({ name }) => name)).toEqual(["app"]);
    expect((await person.get("/trackers")).text).toContain("Deleted 2 trackers");
  });

  test("tells what was refused since, and does the others", async () => {
    const confirm = async () => {
      const { status, location } = await person.post(`${path}/confirmed`, { _action: "delete", tracker: every });
      expect(status).toBe(303);
      return (await person.get(location ?? "")).text;
    };
    const done = await confirm();
    expect(done).toContain("Deleted 2 trackers, 1 not done");
    expect(done).toContain("is used by executor &quot;shop&quot;");
    expect((await stored()).map(({ name }) => name)).toEqual(["app"]);
    expect(await confirm()).toContain("Nothing deleted");
  });

  test("of all that match the filters reaches beyond the page", async () => {
    const text = await ask({ all: "1", id: "t", next: "/trackers?q=b" });
    expect(shown(text).toSorted()).toEqual(["bulk", "web"]);
  });

  test("is not asked about where nothing can be deleted", async () => {
    const text = await ask({ row: "t" });
    expect(text).toContain("Nothing to delete");
    expect(text).toContain("is used by executor &quot;shop&quot;");
    expect(text).not.toContain("confirmed");
  });

  test.each([path, `${path}?ids=gone`, `${path}?action=check`])("%s says that none is selected", async (address) => {
    const { status, text } = await person.get(address);
    expect(status).toBe(200);
    expect(text).toContain("No tracker is selected");
  });
});

test("where nothing is selected, or somewhere else is named to go back to, nothing happens", async () => {
  expect((await select({ _action: "disable", next: "/trackers" })).status).toBe(422);
  expect((await person.post(`${path}/confirmed`, { _action: "delete" })).status).toBe(422);
  expect((await select({ _action: "explode", row: every })).location).toBe("/trackers");
  for (const next of ["//evil.test/trackers", "/executors", "/trackers/web"]) {
    expect((await select({ _action: "enable", row: "web", next })).location).toBe("/trackers");
  }
  expect(await enabled()).toEqual(["app", "bulk", "web"]);
});

test("more than can be changed at once are refused as a whole", async () => {
  const now = app.clock.now();
  const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
  const more = Array.from({ length: maxBulk }, (_, place) => `more-${place}`);
  await app.db.write(async (tx) => {
    for (const name of more) {
      const times = { created_at: now, updated_at: now };
      await tx.insert(trackers).values({ id: name, name, ...depth, sorting: "publish_time", ...times });
    }
  });
  const refused = await select({ _action: "disable", all: "1", row: "web", next: "/trackers" });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain(`At most ${maxBulk} can be changed at once`);
  expect(await enabled()).toHaveLength(maxBulk + 3);
});
