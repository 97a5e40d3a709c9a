import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deliveries, snapshots } from "../../../src/db/tables.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let executor = "";
let notifier = "";
const actor = { name: "admin", address: null, request_id: null };
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
  await app.clock.advance(60_000);
  await app.browser().post("/login", { username: "admin", password: "not-the-password" });
  await app
    .browser()
    .post("/login", { username: "admin", password: goodPassword }, { headers: { "user-agent": firefox } });
  for (const [name, scope] of [
    ["zeta", "read"],
    ["alpha", "full"],
    ["mid", "full"],
  ] as const) {
    await person.post("/account/tokens", { name, scope, expires_in_days: "7", current_password: goodPassword });
  }
  executor = (
    await app.services.executors.create(actor, {
      name: "web",
      connection_id: "connection-1",
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "app", source: "main", channel: "stable" }],
      trigger: "manual",
    })
  ).id;
  const hook = { kind: "webhook", language: "en", url: "https://hooks.example.org/a", trigger_events: ["new_release"] };
  notifier = (await app.services.notifications.create(actor, { name: "Chat", ...hook })).id;
  const now = app.clock.now();
  await app.db.write(async (tx) => {
    const saved = { executor_id: executor, sealed_content: app.sealer.seal("{}"), image_id: "", created_at: now };
    await tx.insert(snapshots).values([
      { id: "s1", reference: "app:1.0", size_bytes: 300, is_locked: true, ...saved },
      { id: "s2", reference: "app:3.0", size_bytes: 100, ...saved },
      { id: "s3", reference: "app:2.0", size_bytes: 200, ...saved },
    ]);
    const sent = { notifier_id: notifier, created_at: now };
    await tx.insert(deliveries).values([
      { id: "d1", event: "new_release", body: { title: "web 1.0" }, state: "delivered", ...sent },
      { id: "d2", event: "test", body: { title: "A test" }, state: "failed", ...sent },
      { id: "d3", event: "new_release", body: { title: "web 2.0" }, state: "delivered", ...sent },
    ]);
  });
  const folder = join(app.services.places.data_dir, "backups");
  for (const [name, bytes] of [
    ["manual-1700000000000", 30],
    ["before-upgrade-1700000001000", 10],
    ["manual-1700000002000", 20],
  ] as const) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "tidemark.db"), "x".repeat(bytes));
  }
  writeFileSync(join(folder, "manual-1700000000000", "keys.json"), "{}");
});
afterAll(() => app.close());

const get = async (path: string) => (await person.get(path)).text;
/** The ids of the rows of an address, as they follow each other. */
const rowsOf = async (path: string, prefix: string) =>
  [...(await get(path)).matchAll(new RegExp(`<(?:tr|li) id="${prefix}-([^"]+)"`, "g"))].map(([, id]) => id);
/** The links of filters: what they are called, how many they leave. */
const countsOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<a href="[^"]*"[^>]*>([^<]+)<span class="amount">(\d+)<\/span>/g)].map(([, name, count]) => [
      name,
      Number(count),
    ]),
  );
const unescaped = (text: string) => text.replaceAll("&amp;", "&");
/** Where the heading of a column leads. */
const sortOf = (text: string, title: string) =>
  unescaped(
    new RegExp(`<th scope="col" class="[^"]*sorts[^"]*"[^>]*><a href="([^"]+)">${title}`).exec(text)?.[1] ?? "",
  );

describe("API tokens", () => {
  const tokens = async (query: string) =>
    [
      ...(await get(`/account?${query}`)).matchAll(
        /id="token-[\w-]{36}"[^>]*><th scope="row"[^>]*><span class="clip">(\w+)</g,
      ),
    ].map(([, name]) => name);

  test("are sorted, filtered and searched by the address", async () => {
    expect(await tokens("")).toEqual(["zeta", "alpha", "mid"]);
    expect(await tokens("sort=name")).toEqual(["alpha", "mid", "zeta"]);
    expect(await tokens("sort=-name&scope=full")).toEqual(["mid", "alpha"]);
    expect(await tokens("q=ET")).toEqual(["zeta"]);
    expect(await tokens("use=used")).toEqual([]);
  });

  test("count what their filters leave, and lead back to their section", async () => {
    expect(countsOf(await get("/account"))).toEqual({ All: 3, "Read only": 1, Full: 2 });
    const page = await get("/account?q=a");
    expect(countsOf(page)).toEqual({ All: 2, "Read only": 1, Full: 1 });
    expect(sortOf(page, "Name")).toBe("/account?q=a&sort=name#token-list");
    expect(page).toContain('action="/account#token-list"');
    expect(await get("/account?use=used")).toContain('href="/account#token-list"');
  });
});

test("sessions are sorted and searched", async () => {
  const here = await rowsOf("/account/sessions", "session");
  expect(here.length).toBeGreaterThan(2);
  const oldest = await rowsOf("/account/sessions?sort=since", "session");
  expect(oldest).toEqual(here.toReversed());
  const found = await get("/account/sessions?q=firefox");
  expect(found).toContain("Firefox 128 on Linux");
  expect(found.match(/id="session-[\w-]{36}"/g)).toHaveLength(1);
  expect(found).toContain("End all other sessions");
});

describe("snapshots", () => {
  const path = () => `/executors/${executor}`;
  const ids = (query: string) => rowsOf(`${path()}?${query}`, "snapshot");

  test("of an executor are sorted, filtered and searched by its page's address", async () => {
    expect(await ids("")).toEqual(["s3", "s2", "s1"]);
    expect(await ids("sort=reference")).toEqual(["s1", "s3", "s2"]);
    expect(await ids("sort=-size&lock=unlocked")).toEqual(["s3", "s2"]);
    expect(await ids("q=3.0")).toEqual(["s2"]);
    expect(await ids("executor_id=another")).toEqual(["s3", "s2", "s1"]);
    const page = await get(`${path()}?sort=-size`);
    expect(countsOf(page)).toEqual({ All: 3, Locked: 1, "Not locked": 2 });
    expect(sortOf(page, "Size")).toBe(`${path()}?sort=size#snapshot-list`);
  });

  test("stay as they were asked for when one of them is locked", async () => {
    const next = `${path()}?sort=reference&lock=unlocked`;
    const answer = await person.post(`${path()}/snapshots/s3/lock`, { locked: "yes", next }, { htmx: true });
    expect([...answer.text.matchAll(/id="snapshot-(s\d)"/g)].map(([, id]) => id)).toEqual(["s2"]);
    const back = await person.post(`${path()}/snapshots/s3/lock`, { locked: "no", next });
    expect(back.location).toBe(next);
    const away = { locked: "no", next: "https://elsewhere.example.org" };
    expect((await person.post(`${path()}/snapshots/s3/lock`, away)).location).toBe(path());
  });
});

test("deliveries are sorted, filtered and searched, and reload as they were asked for", async () => {
  const path = `/notifiers/${notifier}`;
  expect(await rowsOf(path, "delivery")).toEqual(["d3", "d2", "d1"]);
  expect(await rowsOf(`${path}?state=failed`, "delivery")).toEqual(["d2"]);
  expect(await rowsOf(`${path}?event=new_release&q=2.0`, "delivery")).toEqual(["d3"]);
  expect(await rowsOf(`${path}?sort=time`, "delivery")).toEqual(["d1", "d2", "d3"]);
  expect(await rowsOf(`${path}?sort=-title`, "delivery")).toEqual(["d3", "d1", "d2"]);
  expect(await rowsOf(`${path}?sort=-event&state=delivered`, "delivery")).toEqual(["d3", "d1"]);
  const orders = /<ul class="orders".+?<\/ul>/.exec(unescaped(await get(`${path}?q=web&sort=title`)))?.[0] ?? "";
  expect([...orders.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual(
    ["state", "-title", "event", "-time"].map((sort) => `${path}?q=web&sort=${sort}#deliveries`),
  );
  const page = await get(path);
  expect(countsOf(page)).toEqual({ All: 3, Delivered: 2, Failed: 1 });
  expect(page).toContain('<option value="new_release">New release (2)</option>');
  const part = await person.get(`${path}/deliveries?state=failed`, { htmx: true });
  expect(part.text).toStartWith('<div id="deliveries"');
  expect(part.text).toContain(`href="${path}#deliveries"`);
  expect([...part.text.matchAll(/id="delivery-(d\d)"/g)].map(([, id]) => id)).toEqual(["d2"]);
  expect((await person.get(`${path}/deliveries?state=failed`)).location).toBe(`${path}?state=failed`);
  expect((await person.api("GET", "/notifiers/unknown/deliveries")).status).toBe(404);
});

test("backups are sorted, filtered and searched, and the newest is the one to restore", async () => {
  const path = "/settings/backups";
  const names = async (query: string) => (await rowsOf(`${path}?${query}`, "backup")).map((id) => id?.slice(-4));
  expect(await names("")).toEqual(["2000", "1000", "0000"]);
  expect(await names("sort=size")).toEqual(["1000", "2000", "0000"]);
  expect(await names("kind=manual&keys=without")).toEqual(["2000"]);
  expect(await names("q=UPGRADE")).toEqual(["1000"]);
  const page = await get(`${path}?sort=time`);
  expect(countsOf(page)).toEqual({ All: 3, Manual: 2, "Before upgrade": 1, "With keys": 1, "Without keys": 2 });
  expect(page).toMatch(/<code>bun run restore [^<]+manual-1700000002000</);
  expect(page).toMatch(/<code>docker compose run --rm tidemark bun run restore [^<]+manual-1700000002000</);
});

test("the audit is filtered by event and outcome, sorted by column, and exported as shown", async () => {
  const page = await get("/settings/audit?q=198.51&from=2026-01-05");
  const { Failed: failed, Done: done, All: all } = countsOf(page);
  expect([failed, all]).toEqual([1, 1 + (done ?? 0)]);
  expect(page).toContain('<option value="api_token_created">API token added (3)</option>');
  expect(page).not.toContain('value="tracker_created"');
  expect(sortOf(page, "Subject")).toBe("/settings/audit?q=198.51&from=2026-01-05&sort=subject");
  const filtered = await get("/settings/audit?event=api_token_created&sort=subject");
  expect([...filtered.matchAll(/class="audit-subject">(\w+)</g)].map(([, name]) => name)).toEqual([
    "alpha",
    "mid",
    "zeta",
  ]);
  const address = unescaped(/href="(\/settings\/audit\/export[^"]*)"/.exec(page)?.[1] ?? "");
  expect(address).toBe("/settings/audit/export?q=198.51&from=2026-01-05");
  const lines = (await get(`${address}&outcome=failed`)).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: "login", outcome: "failed" }]);
});

test("an executor's row names its target, then the connection", async () => {
  const second = { target: { kind: "container", id: "proxy" }, trigger: "manual", connection_id: "connection-1" };
  const bindings = [{ tracker: "app", source: "main", channel: "stable" }];
  await app.services.executors.create(actor, { name: "Front door", bindings, ...second });
  const shown = [
    ...(await get("/executors")).matchAll(
      /title="\w+ on Home"[^>]*><span class="clip"><span class="clip-first">(.+?)<\/span><\/span>/g,
    ),
  ].map(([, cell]) => cell);
  expect(shown).toEqual(
    ["proxy", "web"].map((target) => `<span class="clip">${target}</span> <span class="quiet">· Home`),
  );
});

test("a list that filters fields without script sends the rest along", async () => {
  const page = await get("/settings/audit?q=198&outcome=ok&sort=actor&to=2026-01-06");
  const form = /<form class="filter-fields"[\s\S]*?<\/form>/.exec(page)?.[0] ?? "";
  for (const [name, value] of [
    ["q", "198"],
    ["outcome", "ok"],
    ["sort", "actor"],
  ]) {
    expect(form).toContain(`<input type="hidden" name="${name}" value="${value}"`);
  }
  expect(form).toContain('type="date" name="to" value="2026-01-06"');
  expect(form).toContain('<button class="btn small" type="submit">');
});
