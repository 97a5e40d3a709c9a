import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import type { BulkPlansView, BulkResultView } from "../../../src/bulk/schema.ts";
import { connections, executor_bindings, executors, releases, runs } from "../../../src/db/tables.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

const names = ["cache", "db", "web"] as const;

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let engine: FakeEngine;
let ids: readonly string[];

/** Three executors of containers that run 1.0, and 1.1 is out. */
beforeEach(async () => {
  engine = new FakeEngine();
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  await addSurroundings(app);
  const now = app.clock.now();
  const release = { source_id: "s", stage: "tag" as const, first_observed_at: now, published_at: now };
  await app.db.write((tx) =>
    tx.insert(releases).values({ id: "l", version: "1.1", tag: "1.1", revision: digest("b"), ...release }),
  );
  const made: string[] = [];
  for (const name of names) {
    engine.add(name, "registry.test/app:1.0", digest("a"));
    const { body } = await person.api("POST", "/executors", {
      ...{ name, connection_id: "connection-1", target: { kind: "container", id: name }, trigger: "manual" },
      bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    });
    made.push(String(body.id));
  }
  ids = made;
});
afterEach(() => app.close());

const select = (fields: Record<string, string | readonly string[]>) => person.post("/executors/bulk", fields);
const shown = (text: string) => [...text.matchAll(/name="executor" value="([^"]+)"/g)].map(([, value = ""]) => value);
const confirm = async (executor: string | readonly string[]) => {
  const { status, location } = await person.post("/executors/bulk/confirmed", { _action: "update", executor });
  expect(status).toBe(303);
  return location ?? "";
};
const started = async () => (await app.db.read.select().from(runs).orderBy(asc(runs.id))).map(({ state }) => state);
const held = async () => (await app.db.read.select().from(executors)).map(({ held_since }) => held_since !== null);

describe("the list", () => {
  test("has a box for each row, which the bar's form sends", async () => {
    const { text } = await person.get("/executors");
    for (const id of ids) expect(text).toContain(`name="row" value="${id}" form="executors-selection"`);
    expect(text).toContain('id="executors-selection" method="post" action="/executors/bulk"');
    expect(text).not.toMatch(/<input[^>]* checked/);
  });

  test("without script a link selects every row", async () => {
    const { text } = await person.get("/executors?select=all");
    expect(text.match(/class="choice"[^>]* checked/g)).toHaveLength(3);
  });

  test("offers what applies to one of its rows", async () => {
    const offered = async () =>
      [...(await person.get("/executors")).text.matchAll(/name="_action" value="(\w+)"/g)].map(([, name]) => name);
    expect(await offered()).toEqual(["update", "check", "hold", "disable", "delete"]);
    await person.api("POST", `/executors/${ids[0]}/actions`, { action: "hold" });
    await person.api("PATCH", `/executors/${ids[1]}`, { is_enabled: false });
    expect(await offered()).toEqual(["update", "check", "hold", "resume", "enable", "disable", "delete"]);
  });
});

test("a list of several pages offers to approve only if a run may wait for it", async () => {
  const [row] = await app.db.read.select().from(executors);
  const more = Array.from({ length: 60 }, (_, place) => ({
    ...row,
    id: `more-${place}`,
    name: `more-${place}`,
    target_id: `more-${place}`,
  }));
  await app.db.write((tx) => tx.insert(executors).values(more as (typeof executors.$inferInsert)[]));
  const list = async () => (await person.get("/executors?sort=name")).text;
  expect(await list()).toContain("All 63 that match");
  expect(await list()).not.toContain('name="_action" value="approve"');
  const run = { kind: "update" as const, state: "pending" as const, trigger: "manual" as const, desired_revision: "r" };
  const at = { due_at: app.clock.now(), created_at: app.clock.now() };
  await app.db.write((tx) =>
    tx.insert(runs).values({ ...run, ...at, id: "r", executor_id: ids[2] ?? "", approval: "awaiting" }),
  );
  expect(await list()).not.toContain(`executor-${ids[2]}`);
  expect(await list()).toContain('name="_action" value="approve"');
});

describe("an update of several", () => {
  test("is asked about once with each plan, and started by the answer", async () => {
    const asked = await select({ _action: "update", row: ids, next: "/executors" });
    expect(asked.status).toBe(303);
    const { text } = await person.get(asked.location ?? "");
    expect(text).toContain("Update 3 executors?");
    expect(text).toContain("1.1");
    expect(await started()).toEqual([]);
    const done = await confirm(shown(text));
    expect((await person.get(done)).text).toContain("Started 3 updates");
    expect(await started()).toEqual(["pending", "pending", "pending"]);
    const again = await person.get(await confirm(shown(text)));
    expect(again.text).toContain("No update started");
    expect(again.text).toContain("nothing was started again");
    expect(await started()).toHaveLength(3);
  });

  test("has a page of its own that follows its runs, leads back to the filtered list, and can be reloaded", async () => {
    const next = "/executors?q=b";
    const { location } = await select({ _action: "update", row: ids.slice(0, 2), next });
    const { text } = await person.get(location ?? "");
    expect(text).toContain(`name="next" value="${next}"`);
    const sent = { _action: "update", executor: shown(text), next };
    const result = (await person.post("/executors/bulk/confirmed", sent)).location ?? "";
    const live = (await person.get(result)).text;
    expect(live).toContain("Started 2 updates");
    expect(live.match(/Waiting/g)).toHaveLength(2);
    expect(live).toContain('hx-trigger="every 3s"');
    expect(live).toContain(`href="${next}"`);
    await app.db.write((tx) => tx.update(runs).set({ state: "succeeded", ended_at: app.clock.now() }));
    const over = (await person.get(result)).text;
    expect(over).toContain("Started 2 updates");
    expect(over.match(/Succeeded/g)).toHaveLength(2);
    expect(over).not.toContain('hx-trigger="every 3s"');
    const part = await person.get(result, { htmx: true });
    expect(part.text).toStartWith('<div id="bulk-results"');
    expect(await started()).toHaveLength(2);
    for (const gone of ["/executors/bulk/confirmed", "/executors/bulk/confirmed?result=other"]) {
      const { status, text } = await person.get(gone);
      expect(status).toBe(200);
      expect(text).toContain("<h1>Result no longer available</h1>");
      expect(text).toContain('href="/runs"');
    }
    // A page that followed its runs while the server was started again says the same.
    const followed = await person.get("/executors/bulk/confirmed?result=other", { htmx: true });
    expect(followed.text).toStartWith('<div id="bulk-results"');
    expect(followed.text).toContain("listed under Runs");
  });

  test("of many is shown at once, and asks for the plans by itself, or by a link without script", async () => {
    const [row] = await app.db.read.select().from(executors);
    const bindings = await app.db.read.select().from(executor_bindings);
    const many = Array.from({ length: 21 }, (_, place) => `many-${place}`);
    for (const name of many) {
      engine.add(name, "registry.test/app:1.0", digest("a"));
      await app.db.write(async (tx) => {
        await tx.insert(executors).values({ ...row, id: name, name, target_id: name } as typeof executors.$inferInsert);
        for (const each of bindings.filter(({ executor_id }) => executor_id === row?.id)) {
          await tx.insert(executor_bindings).values({ ...each, executor_id: name });
        }
      });
    }
    const { location } = await select({ _action: "update", row: many, next: "/executors" });
    const { text } = await person.get(location ?? "");
    expect(text).toContain("Creating 21 plans");
    expect(shown(text)).toEqual([]);
    const [, whole = ""] = /href="([^"]+whole=1)"/.exec(text) ?? [];
    const questions = [
      await person.get(location ?? "", { htmx: true }),
      await person.get(whole.replaceAll("&amp;", "&")),
    ];
    for (const question of questions) {
      expect(question.text).toContain("Update 21 executors?");
      expect(shown(question.text)).toHaveLength(21);
    }
  });

  test("leaves out whom the person unticks, and refuses when nobody is left", async () => {
    const { location } = await select({ _action: "update", row: ids, next: "/executors" });
    const [first = ""] = shown((await person.get(location ?? "")).text);
    await confirm(first);
    expect(await started()).toHaveLength(1);
    expect((await person.post("/executors/bulk/confirmed", { _action: "update" })).status).toBe(422);
  });

  test("tells a plan that changed since, and does the others", async () => {
    const { location } = await select({ _action: "update", row: ids, next: "/executors" });
    const { text } = await person.get(location ?? "");
    engine.add("db", "registry.test/app:1.0", digest("c"));
    const done = await person.get(await confirm(shown(text)));
    expect(done.text).toContain("Started 2 updates");
    expect(done.text).toContain("The plan has changed since you saw it");
    expect(await started()).toHaveLength(2);
  });

  test("names those that are left out and why", async () => {
    await person.api("PATCH", `/executors/${ids[0]}`, { is_enabled: false });
    engine.add("db", "registry.test/app:1.1", digest("b"));
    const { location } = await select({ _action: "update", row: ids, next: "/executors" });
    const { text } = await person.get(location ?? "");
    expect(text).toContain("Update 1 executor?");
    expect(text).toContain("2 executors are left out");
    expect(text).toContain("The executor is disabled");
    expect(text).toContain("The desired version is already running");
    expect(shown(text)).toHaveLength(1);
  });

  test("of all that match reaches beyond the page", async () => {
    const { location } = await select({ _action: "update", all: "1", row: ids[0] ?? "", next: "/executors?q=b" });
    const { text } = await person.get(location ?? "");
    expect(text).toContain("Update 2 executors?");
  });

  test.each(["/executors/bulk", "/executors/bulk?ids=gone", "/executors/bulk?action=delete"])(
    "%s says that nobody is selected",
    async (path) => {
      const { status, text } = await person.get(path);
      expect(status).toBe(200);
      expect(text).toContain("No executor is selected");
    },
  );
});

test("a hold is done at once, and taken back by the notice", async () => {
  const done = await select({ _action: "hold", row: ids, next: "/executors?q=b" });
  expect([done.status, done.location]).toEqual([303, "/executors?q=b"]);
  expect(await held()).toEqual([true, true, true]);
  const { text } = await person.get("/executors");
  expect(text).toContain("Updates of 3 executors are on hold");
  const [, undo = ""] = /name="ids" value="([^"]+)"/.exec(text) ?? [];
  expect(undo.split(",").toSorted()).toEqual([...ids].toSorted());
  await select({ _action: "resume", ids: undo, next: "/executors" });
  expect(await held()).toEqual([false, false, false]);
});

test("a hold of more executors than a notice can name is taken back by it, too", async () => {
  for (let number = 0; number < 42; number += 1) {
    await person.api("POST", "/executors", {
      ...{ name: `more-${number}`, connection_id: "connection-1", target: { kind: "container", id: `more-${number}` } },
      ...{ trigger: "manual", bindings: [{ tracker: "app", source: "main", channel: "stable" }] },
    });
  }
  await select({ _action: "hold", all: "1", next: "/executors" });
  const { text } = await person.get("/executors");
  expect(text).toContain("Updates of 45 executors are on hold");
  const [, done = ""] = /name="done" value="([^"]+)"/.exec(text) ?? [];
  await select({ _action: "resume", done, next: "/executors" });
  expect(await held()).toEqual(Array.from({ length: 45 }, () => false));

  // As after a restart.
  await select({ _action: "hold", done: "forgotten", next: "/executors" });
  expect((await person.get("/executors")).text).toContain("It is too late to undo this here");
  expect(await held()).toEqual(Array.from({ length: 45 }, () => false));
});

test("deletes after one question, and only with the number typed where snapshots go too", async () => {
  const { location } = await select({ _action: "delete", row: ids.slice(0, 2), next: "/executors" });
  const { text } = await person.get(location ?? "");
  expect(text).toContain("Delete 2 executors?");
  expect(text).toContain("keeps running unchanged");
  const done = await person.post("/executors/bulk/confirmed", { _action: "delete", executor: shown(text) });
  expect([done.status, done.location]).toEqual([303, "/executors"]);
  expect((await app.db.read.select().from(executors)).map(({ name }) => name)).toEqual(["web"]);
  expect(engine.calls).toEqual([]);
});

test("where nothing is selected, or somewhere else is named to go back to, nothing happens", async () => {
  expect((await select({ _action: "hold", next: "/executors" })).status).toBe(422);
  const elsewhere = await select({ _action: "hold", row: ids[0] ?? "", next: "//evil.test/executors" });
  expect(elsewhere.location).toBe("/executors");
});

describe("all safe updates", () => {
  /** As an evaluation would have found it. */
  const observe = async (id: string) => {
    const { services } = await app.services.executors.plan(id, new AbortController().signal);
    const observed = { services, unbound: [], problem: null, waiting: null, desired_revision: "x" };
    const now = app.clock.now();
    await app.db.write((tx) => tx.update(connections).set({ seen_at: now, next_look_at: now + 60_000 }));
    await app.db.write((tx) => tx.update(executors).set({ observed, observed_at: now }).where(eq(executors.id, id)));
  };

  test("are asked about with the reasons of the others, and started", async () => {
    for (const id of ids) await observe(id);
    await person.api("POST", `/executors/${ids[0]}/actions`, { action: "hold" });
    expect((await person.get("/executors")).text).toContain("/executors/bulk?safe=1");
    const { text } = await person.get("/executors/bulk?safe=1");
    expect(text).toContain("Install 2 safe updates?");
    expect(text).toContain("None of them has a source of release notes");
    expect(text).toContain("1 update needs review first");
    expect(text).toContain("Automatic updates are on hold");
    expect(shown(text)).toHaveLength(2);
    await confirm(shown(text));
    expect(await started()).toHaveLength(2);
  });

  test("that there are none is said with the reasons", async () => {
    expect((await person.get("/executors/bulk?safe=1")).text).toContain("No executor has an update");
    await observe(ids[0] ?? "");
    await person.api("POST", `/executors/${ids[0]}/actions`, { action: "hold" });
    const { text } = await person.get("/executors/bulk?safe=1");
    expect(text).toContain("No update is safe to install without review");
    expect(text).toContain("are on hold");
    expect(shown(text)).toEqual([]);
  });
});

describe("the API", () => {
  const plans = async (body: Record<string, unknown>) =>
    (await person.api("POST", "/executor-plans", body)).body as unknown as BulkPlansView;
  const act = async (body: Record<string, unknown>, key?: string) => {
    const answer = await app.send("/api/executor-actions", {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", authorization: `Bearer ${await token()}` },
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text(), replayed: answer.headers.get("idempotency-replayed") };
  };
  const token = async () => {
    const answer = await app.send("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password: goodPassword }),
    });
    return ((await answer.json()) as { token: string }).token;
  };

  test("plans several, and updates them by what was seen, once for each key and each plan", async () => {
    const { executors: planned, omitted_count } = await plans({ executor_ids: [...ids, "gone"] });
    expect(omitted_count).toBe(0);
    expect(planned.map(({ name, problem, unsafe }) => [name, problem, unsafe])).toEqual(
      names.map((name) => [name, null, []]),
    );
    const seen = planned.map(({ id, plan_hash, newest_run_id }) => ({ id, plan_hash, newest_run_id }));
    const body = { action: "update", executors: [...seen, ...seen.slice(0, 1)] };
    const first = await act(body, "key-1");
    expect([first.status, first.replayed]).toEqual([200, null]);
    const { results } = JSON.parse(first.text) as BulkResultView;
    expect(results.map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
    const again = await act(body, "key-1");
    expect([again.text, again.replayed]).toEqual([first.text, "true"]);
    const other = JSON.parse((await act(body)).text) as BulkResultView;
    expect(other.results.map(({ problem }) => problem?.code)).toEqual(names.map(() => "run_since"));
    expect(await started()).toHaveLength(3);
  });

  test("a token that may only read changes nothing", async () => {
    const made = await person.api("POST", "/api-tokens", {
      name: "reader",
      scope: "read",
      current_password: goodPassword,
    });
    const answer = await app.send("/api/executor-actions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${String(made.body.token)}` },
      body: JSON.stringify({ action: "hold", executors: ids.map((id) => ({ id })) }),
    });
    expect(answer.status).toBe(403);
    expect(await held()).toEqual([false, false, false]);
  });
});
