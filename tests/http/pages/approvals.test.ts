import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { systemActor } from "../../../src/auth/schema.ts";
import { audit_entries, releases, runs } from "../../../src/db/tables.ts";
import { createApprovalTokens } from "../../../src/secrets/approval-tokens.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

const id = "01900000-0000-7000-8000-000000000001";
const hash = "a".repeat(64);
const hourMs = 3_600_000;

let app: TestApp;
let stranger: ReturnType<TestApp["browser"]>;
let until: number;
let token: string;
let executor: string;

const plan = {
  services: [
    {
      service: "main",
      from: { reference: "registry.test/app:1.0", digest: null, image_id: "old", is_running: true },
      to: { reference: "registry.test/app:1.1", digest: null, is_running: true },
    },
  ],
  diff: [
    {
      service: "main",
      path: "Image",
      before: "registry.test/app:1.0",
      after: "registry.test/app:1.1",
      because: "desired",
    },
  ],
  carried: { settings: 40 },
  warnings: [{ code: "floating", message: "The tag floats" }],
};

beforeEach(async () => {
  app = await testApp({ env: { BASE_URL: "http://tide.test" } });
  stranger = app.browser();
  await addSurroundings(app);
  const created = await app.services.executors.create(systemActor, {
    name: "web",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "immediate",
    requires_approval: true,
  });
  executor = created.id;
  until = app.clock.now() + 2 * hourMs;
  token = createApprovalTokens(app.keys.session).token({ run: id, plan_hash: hash, approval_until: until });
  await app.db.write((tx) =>
    tx.insert(runs).values({
      ...{ id, executor_id: executor, kind: "update", state: "pending", trigger: "immediate", desired_revision: "r" },
      ...{ approval: "awaiting", approval_until: until, plan, plan_hash: hash, from_tag: "1.0", to_tag: "1.1" },
      ...{ due_at: until, created_at: app.clock.now() },
    }),
  );
});
afterEach(() => app.close());

async function addNotes(version: string, notes: string): Promise<void> {
  const names = { id: `release-${version}`, source_id: "s", version, tag: version, stage: "tag" as const };
  const at = app.clock.now();
  await app.db.write((tx) =>
    tx.insert(releases).values({ ...names, first_observed_at: at, notes, notes_digest: version }),
  );
}

const link = (text = token, run = id) => `/approvals/${run}/${text}`;
const stored = async () => {
  const [row] = await app.db.read.select().from(runs);
  if (row === undefined) throw new Error("The run is gone");
  return row;
};
const audited = async () =>
  (await app.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id))).filter((entry) =>
    entry.event.startsWith("run_"),
  );

test("on the executor's page approving is what it is for, and opening the run is not as large", async () => {
  const person = await app.signedIn();
  const { text } = await person.get(`/executors/${executor}`);
  const main = [...text.matchAll(/<a class="btn main"[^>]*href="([^"]+)"/g)].map(([, href]) => href);
  expect(main).toEqual([`/runs/${id}/approve`]);
  expect(text).toContain(`href="/runs/${id}"`);
});

describe("the page of a one-time link", () => {
  test("shows without a session the plan and until when, and changes nothing however often it is asked for", async () => {
    for (let times = 0; times < 3; times += 1) {
      const page = await stranger.get(link());
      expect(page.status).toBe(200);
      for (const word of [
        "1.0",
        "1.1",
        "registry.test/app:1.<mark>1</mark>",
        "The tag floats",
        "Approve and update",
        "Refuse the update",
      ]) {
        expect(page.text).toContain(word);
      }
      expect(page.text).not.toContain('href="/executors');
    }
    expect(await stored()).toMatchObject({ approval: "awaiting", due_at: until });
    expect(await audited()).toEqual([]);
  });

  test("begins with what breaks on the way, and with nothing where the notes say nothing", async () => {
    expect((await stranger.get(link())).text).not.toContain("breaking change");
    await addNotes("1.1", "## Breaking changes\n\n- the <i>port</i> is 80 now");
    await addNotes("1.0.5", "- feat!: no more X");
    await addNotes("1.0", "BREAKING: what runs already");
    const { text } = await stranger.get(link());
    expect(text).toContain("This update contains 2 breaking changes");
    expect(text).toContain("In 1.0.5");
    expect(text).toContain("feat!: no more X");
    expect(text).not.toContain("<i>port");
    expect(text).not.toContain("what runs already");
    expect(text.indexOf("This update contains")).toBeLessThan(text.indexOf("The tag floats"));
  });

  test("has the headers of every page, and is in no cache", async () => {
    const { headers } = await stranger.get(link());
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-frame-options")).toBe("DENY");
  });

  test("approves once: the link is used up, and the entry names it", async () => {
    const done = await stranger.post(link(), { decision: "approve" });
    expect(done.status).toBe(200);
    expect(done.text).toContain("Approved the update of");
    expect(await stored()).toMatchObject({ approval: "approved", expected_plan_hash: hash, due_at: app.clock.now() });
    expect((await stranger.get(link())).status).toBe(404);
    expect((await stranger.post(link(), { decision: "refuse" })).status).toBe(404);
    const entries = await audited();
    expect(entries.map(({ event, actor, address }) => [event, actor, address])).toEqual([
      ["run_approved", "link", "198.51.100.7"],
    ]);
    expect(JSON.stringify(entries)).not.toContain(token);
  });

  test("refuses once", async () => {
    expect((await stranger.post(link(), { decision: "refuse" })).text).toContain("Refused the update of");
    expect(await stored()).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    expect((await stranger.get(link())).status).toBe(404);
  });

  test("of a browser that is signed in acts by the link all the same", async () => {
    const person = await app.signedIn();
    await person.get(link());
    expect((await person.post(link(), { decision: "approve" })).status).toBe(200);
    expect((await audited()).map((entry) => entry.actor)).toEqual(["link"]);
  });

  test("takes no other decision than the two", async () => {
    expect((await stranger.post(link(), { decision: "delete" })).status).toBe(422);
    expect((await stranger.post(link(), {})).status).toBe(422);
    expect(await stored()).toMatchObject({ approval: "awaiting" });
  });

  test("refuses what comes from another page", async () => {
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ]) {
      expect((await stranger.post(link(), { decision: "approve" }, { headers })).status).toBe(403);
    }
    const bare = await app.send(link(), { method: "POST", body: new URLSearchParams({ decision: "approve" }) });
    expect(bare.status).toBe(403);
    expect(await stored()).toMatchObject({ approval: "awaiting" });
  });

  test.each([
    ["another token", () => link("x".repeat(43))],
    ["a token of another length", () => link("x")],
    [
      "one character of it changed",
      () => link(`${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.at(-1)}`),
    ],
    ["a run that does not exist", () => link(token, "none")],
    ["a path that goes on", () => `${link()}/more`],
  ])("is the same for %s", async (_name, path) => {
    const answer = await stranger.get(path());
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("This link is no longer valid");
    expect(answer.text).not.toContain("registry.test");
    expect((await stranger.post(path(), { decision: "approve" })).status).toBe(404);
    expect(await stored()).toMatchObject({ approval: "awaiting" });
  });

  test("is gone when its time is over, when its plan is another, and when the run has ended", async () => {
    const wrong = await stranger.get(link("x".repeat(43)));
    app.clock.set(until);
    const late = await stranger.get(link());
    const told = (html: string) => /<main[\s\S]*<\/main>/.exec(html)?.[0];
    expect([late.status, told(late.text)]).toEqual([404, told(wrong.text)]);
    app.clock.set(until - hourMs);
    await app.db.write((tx) => tx.update(runs).set({ plan_hash: "b".repeat(64) }));
    expect((await stranger.get(link())).status).toBe(404);
    await app.db.write((tx) => tx.update(runs).set({ plan_hash: hash, state: "skipped" }));
    expect((await stranger.get(link())).status).toBe(404);
  });

  test("slows down whoever guesses, and nobody else", async () => {
    for (let times = 0; times < 5; times += 1) await stranger.get(link("x".repeat(43)));
    const slowed = await stranger.get(link("x".repeat(43)));
    expect(slowed.status).toBe(429);
    expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThan(0);
    const other = await app.app.request(`http://tide.test${link()}`, {}, { peer_address: "203.0.113.9" });
    expect(other.status).toBe(200);
    // The sign-in has a count of its own.
    expect((await stranger.get("/login")).status).toBe(200);
  });

  test("lets whoever has the right one in, whatever was guessed from the same address", async () => {
    const guess = () => stranger.get(link("x".repeat(43)));
    for (let times = 0; times < 6; times += 1) await guess();
    expect((await guess()).status).toBe(429);
    expect((await stranger.get(link())).status).toBe(200);
    // Having a link is no reason to guess at others.
    expect((await guess()).status).toBe(429);
    expect((await stranger.post(link(), { decision: "approve" })).status).toBe(200);
    expect(await stored()).toMatchObject({ approval: "approved" });
    // A link that is used up is no guess either.
    expect((await stranger.get(link())).status).toBe(404);
  });

  test("lets whoever has the right one in while many addresses guess", async () => {
    const from = (peer_address: string, path: string) =>
      app.app.request(`http://tide.test${path}`, {}, { peer_address });
    for (let count = 0; count < 100; count += 1) await from(`203.0.113.${count}`, link("x".repeat(43)));
    expect((await from("203.0.113.200", link("x".repeat(43)))).status).toBe(429);
    expect((await from("203.0.113.200", link())).status).toBe(200);
  });

  test("leaves its token nowhere but in itself", async () => {
    await stranger.get(link());
    await stranger.post(link(), { decision: "approve" }, { headers: { "sec-fetch-site": "cross-site" } });
    const person = await app.signedIn();
    await person.post(link(), { decision: "approve" }, { headers: { "sec-fetch-site": "cross-site" } });
    await stranger.get(`${link()}/more`);
    await stranger.post(link(), { decision: "approve" });
    await stranger.get(link());
    const { rows } = await app.db.client.execute("select name from sqlite_master where type = 'table'");
    for (const { name } of rows) {
      const table = await app.db.client.execute(`select * from "${String(name)}"`);
      expect(JSON.stringify(table.rows)).not.toContain(token);
    }
    expect(app.lines.join("\n")).not.toContain(token);
  });
});

describe("POST /api/runs/{id}/approvals", () => {
  test("approves for the administrator, and tells a second one that it was done", async () => {
    const { api } = await app.signedIn();
    const path = `/runs/${id}/approvals`;
    expect((await api("GET", `/runs/${id}`)).body).toMatchObject({
      approval: "awaiting",
      approval_until: new Date(until).toISOString(),
    });
    expect(await api("POST", path, { plan_hash: "b".repeat(64) })).toMatchObject({
      status: 409,
      body: { error: { code: "plan_changed", fields: { plan_hash: hash } } },
    });
    expect(await api("POST", path, { plan_hash: hash })).toMatchObject({ status: 200, body: { approval: "approved" } });
    expect(await api("POST", path, { plan_hash: hash })).toMatchObject({
      status: 409,
      body: { error: { code: "not_awaiting" } },
    });
    expect((await audited()).map(({ event, actor }) => [event, actor])).toEqual([["run_approved", "admin"]]);
  });

  test("refuses with the decision to", async () => {
    const { api } = await app.signedIn();
    const answer = await api("POST", `/runs/${id}/approvals`, { plan_hash: hash, decision: "refuse" });
    expect(answer).toMatchObject({ status: 200, body: { state: "skipped", reason_code: "not_approved" } });
  });

  test("is not for tokens that only read", async () => {
    const { api } = await app.signedIn();
    const { body } = await api("POST", "/api-tokens", {
      name: "reader",
      scope: "read",
      current_password: goodPassword,
    });
    const answer = await app.send(`/api/runs/${id}/approvals`, {
      method: "POST",
      headers: { authorization: `Bearer ${String(body.token)}`, "content-type": "application/json" },
      body: JSON.stringify({ plan_hash: hash }),
    });
    expect(answer.status).toBe(403);
    expect(await stored()).toMatchObject({ approval: "awaiting" });
  });
});

describe("the administrator's pages", () => {
  test("show what waits: first of all on the Overview, on the run, and on its executor", async () => {
    const person = await app.signedIn();
    const overview = (await person.get("/")).text;
    expect(/<h1[^>]*>([^<]*)</.exec(overview)?.[1]).toBe("1 update needs approval");
    expect(overview).toContain(`href="/runs/${id}/approve"`);
    const run = (await person.get(`/runs/${id}`)).text;
    expect(run).toContain("Waiting for approval until");
    expect(run).toContain("registry.test/app:1.<mark>1</mark>");
    expect(run).toContain(`href="/runs/${id}/refuse"`);
    expect((await person.get(`/executors/${executor}`)).text).toContain(`href="/runs/${id}/approve"`);
    expect((await person.get("/executors")).text).toContain(`/executors/${executor}`);
  });

  test("ask once more beside the plan, and tell when somebody was faster", async () => {
    const person = await app.signedIn();
    const question = await person.get(`/runs/${id}/approve`);
    expect(question.text).toContain("Approve and update");
    expect(question.text).toContain(`name="plan_hash" value="${hash}"`);
    const fields = { plan_hash: hash, decision: "approve" };
    const stale = await person.post(`/runs/${id}/approvals`, { ...fields, plan_hash: "b".repeat(64) });
    expect(stale.status).toBe(409);
    // The script moves the focus to what the page says of the refusal, and only there.
    expect(stale.text.match(/data-errors/g)).toHaveLength(1);
    expect(stale.text).toMatch(/<p [^>]*role="alert" tabindex="-1" data-errors/);
    const done = await person.post(`/runs/${id}/approvals`, fields);
    expect([done.status, done.location]).toEqual([303, `/runs/${id}`]);
    const again = await person.post(`/runs/${id}/approvals`, fields);
    expect(again.status).toBe(409);
    expect(again.text).toMatch(/<h1 [^>]*tabindex="-1" data-errors=""[^>]*>The run is already approved/);
    expect(again.text.match(/The run is already approved/g)).toHaveLength(1);
    expect(again.text).not.toContain('name="plan_hash"');
    expect((await person.get(`/runs/${id}/approvals`)).location).toBe(`/runs/${id}/approve`);
    expect((await person.get(`/runs/${id}/refuse`)).text).not.toContain('name="plan_hash"');
  });

  test("refuse by the other verb", async () => {
    const person = await app.signedIn();
    expect((await person.get(`/runs/${id}/refuse`)).text).toContain('value="refuse"');
    await person.post(`/runs/${id}/approvals`, { plan_hash: hash, decision: "refuse" });
    const page = await person.get(`/runs/${id}`);
    expect(page.text).toContain("Skipped, not approved");
    expect(page.text).toContain("Plan not approved");
  });
});
