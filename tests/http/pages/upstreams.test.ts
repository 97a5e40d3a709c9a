import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { check_hours, rate_limits, trackers } from "../../../src/db/tables.ts";
import { installation } from "../../stats/installation.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

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
  expect(text).toMatch(
    /Not responding[\s\S]*?2 sources waiting[\s\S]*?12:01[\s\S]*?No answer[\s\S]*?6 failed attempts/,
  );
  expect(text).toMatch(/href="\/trackers\/db"[\s\S]*?href="\/trackers\/web"/);
  expect(text).toMatch(/Outages in the last 30 days[\s\S]*?other\.example\.org[\s\S]*?1 h/);
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
});

test("a host that allows no request now says until when", async () => {
  const world = installation(app.db, app.clock);
  await world.tracker("web");
  const [now, host] = [app.clock.now(), "registry.example.org"];
  const state = { host, credential_id: null, limit: 100, remaining: 0, reset_at: null, strikes: 0, observed_at: now };
  const row = { key: `${host} -`, state: { ...state, blocked_until: now + 1_800_000 }, updated_at: now };
  await app.db.write((tx) => tx.insert(rate_limits).values(row));
  const next = await testApp({ after: { app, at: now } });
  const { api, get, post } = await next.signedIn();
  await post("/login", { username: "admin", password: goodPassword });
  const { body } = await api("GET", "/upstreams?state=waiting");
  expect(body.items).toMatchObject([{ state: "waiting", blocked_until: "2026-01-05T12:30:00.000Z", remaining: 0 }]);
  expect((await get("/upstreams")).text).toMatch(/<table[\s\S]*>Waiting<[\s\S]*?until <time[^>]*>12:30</);
  await next.services.stop();
});

describe("the list of upstreams", () => {
  /** What the rows are of, as they follow each other. */
  const rowsOf = (text: string) =>
    [...text.matchAll(/<tr id="upstream-([\w.:]+)-(\w+)/g)].map(([, host, account]) =>
      account === "anonymous" ? host : `${host} with login`,
    );
  const listed = async (query: string) => rowsOf((await person.get(`/upstreams?${query}`)).text);
  const byApi = async (query: string) => {
    const { items } = (await person.api("GET", `/upstreams?${query}`)).body as never as {
      items: { host: string; credential_id: string | null }[];
    };
    return items.map(({ host, credential_id }) => (credential_id === null ? host : `${host} with login`));
  };
  const all = ["registry.example.org", "api.github.com", "api.github.com with login", "quay.test:5000"];

  beforeEach(async () => {
    const world = installation(app.db, app.clock);
    const github = { kind: "github", host: "api.github.com", config: { repository: "acme/app" } };
    for (const name of ["one", "two"]) await world.tracker(name, github);
    await app.db.write((tx) => tx.update(trackers).set({ check_interval_minutes: 1 }));
    await world.tracker("three", { ...github, credential_id: await world.credential("Deploy bot") });
    await world.tracker("four", { host: "quay.test:5000" });
    const failing = { failing_since: app.clock.now(), last_error_code: "unreachable" };
    for (const name of ["web", "db", "cache"]) {
      await world.tracker(name, { ...failing, next_check_at: app.clock.now() + 60_000 });
    }
    await world.outage();
  });

  test("begins with what needs attention, and has the state of each", async () => {
    const { body } = await person.api("GET", "/upstreams");
    expect(body).toMatchObject({
      items: [
        { host: "registry.example.org", state: "not_responding" },
        { host: "api.github.com", state: "limit_too_low", fair_interval_minutes: 2 },
        { host: "api.github.com", state: "within_limit" },
        { host: "quay.test:5000", state: "limit_unknown" },
      ],
      next_cursor: null,
      outages: [{ host: "registry.example.org" }],
    });
    const { text } = await person.get("/upstreams");
    expect(rowsOf(text)).toEqual(all);
    expect(text).toMatch(
      /<table[\s\S]*>Not responding<[\s\S]*Each checked every 2 min<[\s\S]*>Limit too low<[\s\S]*>Within limit<[\s\S]*>Limit unknown</,
    );
  });

  test.each([
    ["state", all],
    ["-state", all.toReversed()],
    ["host", ["api.github.com", "api.github.com with login", "quay.test:5000", "registry.example.org"]],
    ["account", ["api.github.com", "quay.test:5000", "registry.example.org", "api.github.com with login"]],
    ["-sources", ["registry.example.org", "api.github.com", "quay.test:5000", "api.github.com with login"]],
    ["-requests", ["api.github.com", "registry.example.org", "api.github.com with login", "quay.test:5000"]],
    ["-limit", ["api.github.com with login", "api.github.com", "registry.example.org", "quay.test:5000"]],
    ["remaining", ["api.github.com", "api.github.com with login", "quay.test:5000", "registry.example.org"]],
  ])("is sorted by %s", async (sort, expected) => {
    expect(await listed(`sort=${sort}`)).toEqual(expected);
    expect(await byApi(`sort=${sort}`)).toEqual(expected);
  });

  test("is filtered by state, and by a part of a host or an account", async () => {
    expect(await listed("state=limit_too_low")).toEqual(["api.github.com"]);
    expect(await listed("q=GitHub&sort=requests")).toEqual(["api.github.com with login", "api.github.com"]);
    expect(await listed("q=deploy+BOT")).toEqual(["api.github.com with login"]);
    expect(await listed("q=github&state=limit_unknown")).toEqual([]);
    expect(await byApi("search=deploy&state=within_limit")).toEqual(["api.github.com with login"]);
    const { text } = await person.get("/upstreams?q=github&sort=-sources");
    const counts = [...text.matchAll(/>([\w ]+)<span class="amount">(\d)</g)].map(([, word, count]) => [word, count]);
    expect(counts).toEqual([
      ["All", "2"],
      ["Limit too low", "1"],
      ["Within limit", "1"],
    ]);
    expect(text).toContain('href="/upstreams?q=github&amp;sort=-sources&amp;state=limit_too_low#upstream-list"');
    expect(text).toContain('href="/upstreams?q=github&amp;sort=host#upstream-list"');
    expect(text).toContain('aria-sort="descending"');
  });

  test("keeps what is beside it, and says where nothing matches", async () => {
    const { text } = await person.get("/upstreams?q=nowhere");
    expect(text).toMatch(/Nothing matches these filters[\s\S]*?<a href="\/upstreams#upstream-list">/);
    expect(text).toContain('id="outage-registry.example.org"');
    expect(text).not.toContain("No trackers checked yet");
  });

  test("refuses in the API what it does not know, where a page leaves it out", async () => {
    for (const [query, field] of [
      ["state=fine", "state"],
      ["sort=reset_at", "sort"],
      ["limit=0", "limit"],
      [`search=${"x".repeat(201)}`, "search"],
    ]) {
      const { status, body } = await person.api("GET", `/upstreams?${query}`);
      expect([status, Object.keys(Object(body.error).fields)]).toEqual([422, [String(field)]]);
    }
    expect(await listed("state=fine&sort=reset_at")).toEqual(all);
  });

  test("comes page by page", async () => {
    const first = (await person.api("GET", "/upstreams?limit=3&sort=host")).body as never as { next_cursor: string };
    expect(await byApi(`limit=3&sort=host&cursor=${first.next_cursor}`)).toEqual(["registry.example.org"]);
  });
});
