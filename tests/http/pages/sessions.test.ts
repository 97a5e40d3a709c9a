import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runs } from "../../../src/db/tables.ts";
import { dayStart } from "../../../src/http/pages/day-start.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type Browser, goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterEach(() => app.close());

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
async function another(): Promise<Browser> {
  const browser = app.browser();
  const headers = { "user-agent": firefox };
  expect((await browser.post("/login", { username: "admin", password: goodPassword }, { headers })).status).toBe(303);
  return browser;
}
/** The newest first. */
const idsIn = (text: string) => [
  ...new Set([...text.matchAll(/\/account\/sessions\/([\w-]{36})\/end"/g)].map((match) => match[1] ?? "")),
];

describe("the page of sessions", () => {
  test("tells each with browser, address, method and which is this one, and never a token", async () => {
    await another();
    const page = await person.get("/account/sessions");
    expect(page.status).toBe(200);
    expect(page.text).toContain("Firefox 128 on Linux");
    expect(page.text).toContain("Unknown program");
    expect(page.text).toContain("198.51.100.7");
    expect(page.text.match(/This session<\/span>/g)?.length).toBe(1);
    expect(page.text).not.toContain("eyJ");
    expect((await person.get("/account")).text).toContain('href="/account/sessions"');
  });

  test("asks, then ends one, which is led to the sign-in at its next request", async () => {
    const other = await another();
    const [newest = ""] = idsIn((await person.get("/account/sessions")).text);
    const question = await person.get(`/account/sessions/${newest}/end`, { htmx: true });
    expect(question.text).toStartWith("<form");
    expect(question.text).toContain("Firefox 128 on Linux");
    expect((await person.post(`/account/sessions/${newest}/end`)).location).toBe("/account/sessions");
    expect((await other.get("/account")).location).toBe("/login?next=%2Faccount");
    expect((await person.get("/account")).status).toBe(200);
    expect((await person.post(`/account/sessions/${newest}/end`)).status).toBe(404);
  });

  test("ends its own, and takes the cookie away", async () => {
    const other = await another();
    const [own = ""] = idsIn((await other.get("/account/sessions")).text);
    expect((await other.post(`/account/sessions/${own}/end`)).location).toBe("/login");
    expect([...other.cookies.keys()]).not.toContain("tidemark_session");
  });

  test("ends all others at once, and says how many", async () => {
    const others = [await another(), await another()];
    expect((await person.get("/account/sessions/end-others")).text).toContain("3 other sessions");
    expect((await person.post("/account/sessions/end-others")).location).toBe("/account/sessions");
    for (const other of others) expect((await other.get("/")).status).toBe(303);
    const page = await person.get("/account/sessions");
    expect(page.text).toContain("3 sessions ended");
    expect(page.text).not.toContain("End all other sessions");
  });

  test("takes no request from elsewhere", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.test" };
    expect((await person.post("/account/sessions/end-others", {}, { headers })).status).toBe(403);
  });

  test("speaks Chinese", async () => {
    await another();
    const { text } = await person.get("/account/sessions", { headers: { "accept-language": "zh" } });
    expect(text).toContain("Linux 上的 Firefox 128");
    expect(text).toContain("结束其他所有会话");
  });
});

test("the stream of a run ends when its session is ended", async () => {
  await addSurroundings(app);
  const executor = await app.services.executors.create(
    { name: "admin", address: null, request_id: null },
    {
      name: "web",
      connection_id: "connection-1",
      target: { kind: "container", id: "web" },
      bindings: [{ tracker: "app", source: "main", channel: "stable" }],
      trigger: "manual",
    },
  );
  const now = app.clock.now();
  const run = { id: "run-1", executor_id: executor.id, kind: "update", state: "pending", trigger: "manual" } as const;
  await app.db.write((tx) => tx.insert(runs).values({ ...run, due_at: now + 3_600_000, created_at: now }));
  const other = await another();
  const cookie = [...other.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const stream = await app.send("/runs/run-1/stream", { headers: { cookie } });
  expect(stream.status).toBe(200);
  const text = stream.text();
  await app.clock.advance(3000);
  await person.post("/account/sessions/end-others");
  await app.clock.advance(1000);
  expect(await text).not.toContain("id:");
  expect((await app.send("/runs/run-1/stream", { headers: { cookie } })).status).toBe(303);
});

describe("making an API token", () => {
  const fields = { name: "ci", scope: "read", expires_in_days: "7" };
  test("asks for the password again, at its own field, and keeps what was typed", async () => {
    for (const current_password of ["", "wrong-password-1"]) {
      const refused = await person.post("/account/tokens", { ...fields, current_password });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('id="f-current_password-error"');
      expect(refused.text).toContain('value="ci"');
      expect(refused.text).not.toContain("wrong-password-1");
    }
    expect((await person.post("/account/tokens", { ...fields, current_password: goodPassword })).text).toContain("eyJ");
  });

  test("is throttled as signing in is", async () => {
    for (let guess = 0; guess < 5; guess += 1) {
      await person.post("/account/tokens", { ...fields, current_password: "wrong-password-1" });
    }
    const refused = await person.post("/account/tokens", { ...fields, current_password: goodPassword });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
  });

  test("says where a token was used last, and when", async () => {
    const { body } = await person.api("POST", "/api-tokens", { name: "ci", current_password: goodPassword });
    const token = String(body.token);
    const view = async () => (await person.api("GET", "/api-tokens")).body as unknown as { items: unknown[] };
    expect((await view()).items).toMatchObject([{ last_used_at: null, last_used_address: null }]);
    await app.clock.advance(5000);
    const use = (peer_address: string) =>
      app.app.request(`${app.origin}/api/account`, { headers: { authorization: `Bearer ${token}` } }, { peer_address });
    await use("203.0.113.8");
    expect((await view()).items).toMatchObject([
      { last_used_at: "2026-01-05T12:00:05.000Z", last_used_address: "203.0.113.8" },
    ]);
    // Another place is noted at once, the same one once a minute.
    await app.clock.advance(5000);
    await use("203.0.113.9");
    expect((await view()).items).toMatchObject([
      { last_used_at: "2026-01-05T12:00:10.000Z", last_used_address: "203.0.113.9" },
    ]);
    expect((await person.get("/account")).text).toContain("203.0.113.9");
  });
});

describe("the audit", () => {
  test("is filtered by a form whose address can be shared", async () => {
    const all = await person.get("/settings/audit");
    expect(all.text).toContain("Password changed");
    const page = await person.get("/settings/audit?event=login&outcome=ok&actor=admin&from=2026-01-05&to=2026-01-05");
    expect(page.text).not.toContain(">Password changed<span");
    expect(page.text).toContain('<option value="login" selected');
    expect(page.text).toContain('value="2026-01-05"');
    expect(page.text).toContain('href="/settings/audit/export?event=login&amp;outcome=ok&amp;actor=admin');
    for (const none of ["from=2026-01-06", "to=2026-01-04", "actor=nobody", "subject=%25", "q=%25"]) {
      expect((await person.get(`/settings/audit?${none}`)).text).toContain('href="/settings/audit"');
      expect((await person.get(`/settings/audit?${none}`)).text).not.toContain('id="entry-');
    }
    expect((await person.get("/settings/audit?q=Tidemark")).text).toContain("Administrator added");
    expect((await person.get("/settings/audit?outcome=maybe&event=%00&from=today")).text).toContain('id="entry-');
  });

  test.each([
    ["page", "/settings/audit/export?event=login"],
    ["API", "/audit-entries/export?event=login"],
  ])("is exported as JSON lines by the %s", async (where, path) => {
    const send = async () => {
      if (where === "page") return await person.get(path);
      const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await app.send(`/api${path}`, { headers: { cookie } });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
    const answer = await send();
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="tidemark-audit-2026-01-05.jsonl"');
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.text).toEndWith("}\n");
    const lines = answer.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.length).toBe(2);
    for (const line of lines) {
      expect(line).toMatchObject({ event: "login", outcome: "ok", at: "2026-01-05T12:00:00.000Z", actor: "admin" });
    }
  });

  test("refuses a query that is none by API, and is nothing for strangers", async () => {
    expect((await person.api("GET", "/audit-entries/export?since=yesterday")).status).toBe(422);
    expect((await app.send("/api/audit-entries/export")).status).toBe(401);
    expect((await app.browser().get("/settings/audit/export")).status).toBe(303);
  });

  test.each(["PUT", "PATCH", "DELETE", "POST"])("takes no %s", async (method) => {
    expect((await person.api(method, "/audit-entries")).status).toBe(405);
    expect((await person.api(method, "/audit-entries/x")).status).toBe(404);
  });

  test("keeps at least 30 days, whatever is asked for", async () => {
    for (const days of [29, 0, -1, 3651, 30.5]) {
      const refused = await person.api("PATCH", "/settings", { audit_retention_days: days });
      expect([days, refused.status]).toEqual([days, 422]);
    }
    expect((await person.api("PATCH", "/settings", { audit_retention_days: 30 })).status).toBe(200);
    expect((await person.get("/settings/audit")).text).toContain("kept for 30 days");
  });
});

describe("dayStart()", () => {
  test.each([
    ["UTC", "2026-01-05", 0, "2026-01-05T00:00:00.000Z"],
    ["UTC", "2026-01-05", 1, "2026-01-06T00:00:00.000Z"],
    ["Asia/Tokyo", "2026-01-05", 0, "2026-01-04T15:00:00.000Z"],
    ["America/New_York", "2026-01-05", 0, "2026-01-05T05:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29", 0, "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29", 1, "2026-03-29T22:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25", 1, "2026-10-25T23:00:00.000Z"],
    ["Asia/Kathmandu", "2026-12-31", 1, "2026-12-31T18:15:00.000Z"],
    ["UTC", "2026-02-30", 0, null],
    ["UTC", "5 January", 0, null],
    ["UTC", "", 0, null],
    ["UTC", "2026-13-01", 0, null],
  ])("in %s of %p, %p days later, is %p", (zone, day, later, expected) => {
    expect(dayStart(zone, day, later)).toBe(expected);
  });
});
