import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { connections, tracker_sources, trackers } from "../../../src/db/tables.ts";
import { newId } from "../../../src/ids.ts";
import { plain } from "../../../src/messages/message.ts";
import { markedParts } from "../../../templates/search/marked.ts";
import { hourMs, installation } from "../../stats/installation.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let world: ReturnType<typeof installation>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
  world = installation(app.db, app.clock);
});
afterEach(() => app.close());

const heading = (html: string) => /<h1[^>]*>([^<]*)</.exec(html)?.[1];
const clean = / (style|on\w+)="|\[object |>undefined|undefined</;

async function busy() {
  await world.connection();
  await world.executor({ name: "immich", difference: "other_version", from: "1.142.1", to: "2.0.0" });
  await world.executor({ name: "traefik", difference: "other_version", from: "3.6.23", to: "3.6.24" });
  const id = await world.executor({ name: "paperless", difference: "other_version" });
  const bad = await world.run(id, { state: "failed", serving: "previous", desired_revision: "paperless@1.1.0" });
  const moving = await world.executor({ name: "home-assistant", difference: "other_version" });
  const progress = { bytes: 412e6, total_bytes: 580e6, layers_done: 3, layers_total: 11 };
  const active = await world.run(moving, { state: "updating", ended_at: null, progress });
  await world.tracker("app");
  await world.tracker("gitea", {
    ...{ failing_since: app.clock.now() - 9 * hourMs, last_success_at: app.clock.now() - 9 * hourMs },
    ...{ last_error_code: "unauthorized", last_error_message: plain("The registry answered 401") },
  });
  const facts = { tracker: "jellyfin/x", channel: "stable", version: "12.0", previous_version: "11.9", also: [] };
  await world.event({ kind: "new_release", created_at: app.clock.now() - 26 * hourMs, facts });
  return { bad, active };
}

describe("GET /", () => {
  test("tells of a host that does not respond in one row, however many sources wait for it", async () => {
    const now = app.clock.now();
    const failing = {
      ...{ failing_since: now, last_error_code: "unreachable", next_check_at: now + 60_000 },
      last_error_message: plain("No answer"),
    };
    for (let n = 0; n < 12; n += 1) await world.tracker(`app-${n}`, failing);
    await world.tracker("own", { ...failing, last_error_code: "unauthorized" });
    const { body: before } = await person.api("GET", "/stats");
    expect(before.counts).toMatchObject({
      needs: 2,
      failing_sources: 1,
      shared_source_failures: 1,
      upstream_outages: 0,
    });
    await world.outage({ since: now, next_due_at: now + 60_000 });
    const { body } = await person.api("GET", "/stats");
    expect(body.counts).toMatchObject({ needs: 2, failing_sources: 1, upstream_outages: 1 });
    expect(body).toMatchObject({
      failing_sources: [{ tracker: "own" }],
      upstream_outages: [{ host: "registry.example.org", waiting: 12, failures: 1, error: { message: "No answer" } }],
      sources: { total: 13, failing: 1, waiting: 12 },
    });
    const { text } = await person.get("/");
    expect(heading(text)).toBe("1 upstream not responding, 1 source failing");
    const needs = /<ul class="panel rows" id="needs">([\s\S]*?)<\/ul>/.exec(text)?.[1] ?? "";
    expect(needs.match(/<li/g)).toHaveLength(2);
    expect(needs).toMatch(
      /Not responding[\s\S]*?registry\.example\.org[\s\S]*?12 sources waiting[\s\S]*?app-0[\s\S]*?and 7 more/,
    );
    expect(needs).toMatch(/next attempt[\s\S]*?12:01[\s\S]*?No answer/);
    expect(text).not.toMatch(clean);
  });

  test("calls a connection unreachable only when it is, and tells of one that was not checked recently", async () => {
    await world.connection();
    const set = (look: Partial<typeof connections.$inferInsert>) =>
      app.db.write((tx) => tx.update(connections).set(look));
    const now = app.clock.now();
    await set({ seen_at: now - hourMs, next_look_at: now - hourMs });
    const unchecked = await person.get("/");
    expect(heading(unchecked.text)).toBe("1 connection not checked recently");
    expect(unchecked.text).toMatch(/id="needs"[\s\S]*?Unknown[\s\S]*?nas[\s\S]*?Not checked recently/);
    await set({ missed_looks: 2, missed_since: now - hourMs, fault_code: "unreachable", next_look_at: now });
    expect(heading((await person.get("/")).text)).toBe("1 connection unreachable");
  });

  test("tells of the missing targets of a connection in one row, with each of them in it", async () => {
    await world.connection();
    const problem = { code: "target_missing", message: "Not there" };
    for (let n = 0; n < 23; n += 1) await world.executor({ name: `app-${n}`, difference: null, problem });
    const { body } = await person.api("GET", "/stats");
    expect(body.counts).toMatchObject({ needs: 1, lost: 1, lost_targets: 0, shared_lost_targets: 1 });
    const { text } = await person.get("/");
    expect(heading(text)).toBe("23 targets missing");
    const needs = /id="needs">([\s\S]*?)<h2/.exec(text)?.[1] ?? "";
    expect(needs).toMatch(/nas[\s\S]*?23 executors[\s\S]*?target not found[\s\S]*?and 18 more/);
    expect(needs.match(/id="need-/g)).toHaveLength(21);
    // The reason is that of the row; its members are only named.
    expect(needs).not.toContain("Not there");
    expect(needs).toContain("/executors?state=unknown");
    expect(text).not.toMatch(clean);
  });

  test("the trackers' list and every page's line tell of a host that does not respond as the overview does", async () => {
    const now = app.clock.now();
    const away = { host: "github.test", next_check_at: now + 60_000 };
    const failed = { failing_since: now, last_error_message: plain("No answer") };
    const unchecked = { ...away, last_checked_at: null, last_success_at: null };
    for (let n = 0; n < 2; n += 1) {
      await world.tracker(`failed-${n}`, { ...away, ...failed, last_error_code: "unreachable" });
    }
    for (let n = 0; n < 3; n += 1) await world.tracker(`unchecked-${n}`, unchecked);
    await world.tracker("own", { ...failed, last_error_code: "unauthorized" });
    const { tracker_id } = await world.tracker("image");
    const second = { id: newId(now), tracker_id, key: "code", kind: "oci", position: 1 };
    const config = { image: "a/b", registry: "github.test" };
    await app.db.write((tx) => tx.insert(tracker_sources).values({ ...second, ...unchecked, config }));
    await world.outage({ host: "github.test", since: now, next_due_at: now + 60_000 });
    expect((await person.get("/")).text).toContain("6 sources waiting");
    const { text } = await person.get("/trackers");
    expect(text).toContain("1 of 8 sources failing, 6 waiting");
    const filters = /<main[\s\S]*?class="segments"[^>]*>([\s\S]*?)<\/(?:nav|ul|div)>/.exec(text)?.[1] ?? "";
    const words = filters.replaceAll(/<[^>]*>/g, " ").split(/\s+/);
    expect(words.join(" ").trim()).toBe("All 7 Failing 1 Waiting 6");
    const stateOf = (name: string) =>
      /<span class="state[^>]*>[\s\S]*?<span>([^<]*)/.exec(text.slice(text.indexOf(`href="/trackers/${name}"`)))?.[1];
    expect(["failed-0", "unchecked-0", "own", "image"].map(stateOf)).toEqual([
      ...["Waiting until 12:01", "Waiting until 12:01", "Failing", "Notify only"],
    ]);
    const sorted = (await person.get("/trackers?sort=state")).text;
    const order = [...sorted.matchAll(/<th scope="row"[^>]*><a[^>]* href="\/trackers\/([\w-]+)"/g)].map(
      ([, name]) => name,
    );
    expect([order[0], order.at(-1)]).toEqual(["own", "image"]);
    const shown = (await person.get("/trackers?state=waiting")).text;
    expect(shown).toContain('href="/trackers/image"');
    expect(shown).not.toContain('href="/trackers/own"');
  });

  test("tells of runs that failed for one reason in one row, which unfolds to each with what can be done", async () => {
    const reason = plain("No <space> left on device");
    const failed = { state: "failed", serving: "previous", reason_code: "update_failed", reason } as const;
    await world.connection();
    const ids: string[] = [];
    const runIds: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const id = await world.executor({ name: `app-${n}`, difference: "other_version" });
      runIds.push(await world.run(id, { ...failed, desired_revision: `app-${n}@1.1.0` }));
      ids.push(id);
    }
    const other = await world.executor({ name: "other", difference: "other_version" });
    await world.run(other, { ...failed, reason: plain("Port taken"), desired_revision: "other@1.1.0" });
    const { body } = await person.api("GET", "/stats");
    expect(body.counts).toMatchObject({ needs: 2, bad_runs: 1, shared_failures: 1, updates: 0 });
    expect(body).toMatchObject({
      bad_runs: [{ executor: "other" }],
      shared_failures: [{ connection: "nas", run_count: 8, reason: "No <space> left on device" }],
    });
    const page = await person.get("/");
    expect(heading(page.text)).toBe("9 failed runs");
    expect(page.text).toMatch(/aria-current="page"[\s\S]*?<span class="count">2<\/span>/);
    const row = page.text.slice(page.text.indexOf("need-cause-"), page.text.indexOf(`need-${other}`));
    expect(row).toMatch(/Failed[\s\S]*?<b>nas<\/b>[\s\S]*?8 executors/);
    expect(row.match(/No &lt;space&gt; left on device/g)).toHaveLength(1);
    expect(row).toMatch(/<summary>[\s\S]*?app-\d, app-\d, app-\d, app-\d, app-\d and 3 more[\s\S]*?<\/summary>/);
    for (const id of ids)
      expect(row).toMatch(new RegExp(`<li id="need-${id}"[\\s\\S]*?/executors/${id}/run"[\\s\\S]*?Retry`));
    expect(page.text).toMatch(
      /<li id="need-cause-[\s\S]*?class="btn main" href="\/executors\/bulk\?action=update[\s\S]*?Retry all/,
    );
    expect(page.text).not.toMatch(clean);
    const sent = /name="_action" value="dismiss"[^>]*><input type="hidden" name="ids" value="([^"]*)"/.exec(
      page.text,
    )?.[1];
    expect(sent?.split(",").toSorted()).toEqual(ids.map((id, n) => `${id} ${runIds[n]}`).toSorted());
    const done = await person.post("/executors/bulk", { _action: "dismiss", ids: sent ?? "", next: "/" });
    expect([done.status, done.location]).toEqual([303, "/"]);
    const after = await person.get("/");
    expect(after.text).toContain("Dismissed 8 failed runs");
    expect(heading(after.text)).toBe("1 failed run");
    const undo = /name="_action" value="undismiss"[^>]*><input type="hidden" name="ids" value="([^"]*)"/.exec(
      after.text,
    )?.[1];
    await person.post("/executors/bulk", { _action: "undismiss", ids: undo ?? "", next: "/" });
    expect(heading((await person.get("/")).text)).toBe("9 failed runs");
    const stale = await person.post("/executors/bulk", {
      _action: "dismiss",
      ids: `${ids[0]} ${runIds[1]}`,
      next: "/",
    });
    expect((await person.get(stale.location ?? "")).text).toContain("cannot be dismissed");
    const chinese = await person.get("/", { headers: { "accept-language": "zh" } });
    expect(chinese.text).toMatch(/8 个执行器[\s\S]*?另有 3 个[\s\S]*?全部重试[\s\S]*?忽略全部失败/);
  });

  test("tells of sources that fail for one reason in one row, as the badge counts them", async () => {
    const id = await world.credential("<i>ci");
    const failing = {
      ...{ failing_since: app.clock.now() - 9 * hourMs, last_error_code: "malformed", credential_id: id },
      last_error_message: plain("This is <no> registry"),
    };
    for (let n = 1; n <= 6; n += 1) await world.tracker(`app-${n}`, failing);
    const { text } = await person.get("/");
    expect(heading(text)).toBe("6 sources failing");
    expect(text).toMatch(/aria-current="page"[\s\S]*?<span class="count">1<\/span>/);
    const needs = /<ul class="panel rows" id="needs">([\s\S]*?)<\/ul>/.exec(text)?.[1] ?? "";
    expect(needs.match(/<li/g)).toHaveLength(1);
    expect(needs).toMatch(/registry\.example\.org[\s\S]*?6 sources with credential “&lt;i&gt;ci”[\s\S]*?and 1 more/);
    expect(needs).toContain("This is &lt;no&gt; registry");
    expect(needs).toContain('href="/trackers?state=failing"');
    const chinese = await person.get("/", { headers: { "accept-language": "zh" } });
    expect(chinese.text).toContain("使用凭据“&lt;i&gt;ci”的 6 个来源");
  });

  test("names what is down while that is few, and counts it otherwise", async () => {
    await world.connection();
    for (const name of ["a", "b", "c", "d"]) {
      await world.run(await world.executor({ name }), { state: "failed", serving: "none" });
      if (name === "b") expect(heading((await person.get("/")).text)).toBe("a and b are down");
    }
    expect(heading((await person.get("/")).text)).toBe("4 executors are down");
  });

  test("counts all that is down or missing in its heading, however few of them it lists", async () => {
    await world.connection();
    const reason = plain("no space left on device");
    const down = { state: "failed", serving: "none", reason_code: "target_down", reason } as const;
    for (let n = 0; n < 23; n += 1) await world.run(await world.executor({ name: `down-${n}` }), down);
    const problem = (n: number) => ({ code: "target_missing", message: `Reason ${n}` });
    for (let n = 0; n < 22; n += 1) await world.executor({ name: `gone-${n}`, problem: problem(n) });
    const { text } = await person.get("/");
    expect(heading(text)).toBe("23 executors are down, 22 targets missing");
    expect(text).toContain('<a href="/executors?state=unknown">22 targets missing</a>');
    expect(text).toMatch(/aria-current="page"[\s\S]*?<span class="count">23<\/span>/);
  });

  test("tells of a refused credential in one row that leads to it, however many sources use it", async () => {
    const id = await world.credential('<b>ghcr</b>"');
    const failing = {
      ...{ failing_since: app.clock.now() - 9 * hourMs, last_error_code: "unauthorized", credential_id: id },
      last_error_message: plain("The registry answered 401"),
    };
    await world.tracker("app-1", failing);
    const single = await person.get("/");
    expect(heading(single.text)).toBe("1 credential refused, 1 source failing");
    expect(single.text).toMatch(/<li id="need-credential-[\s\S]*?1 source at registry\.example\.org[\s\S]*?app-1/);
    // It works for another source: then the reason is the first one's own.
    const { tracker_id } = await world.tracker("fine", { credential_id: id });
    expect(heading((await person.get("/")).text)).toBe("1 source failing");
    await app.db.write((tx) => tx.update(trackers).set({ is_enabled: false }).where(eq(trackers.id, tracker_id)));
    expect(heading((await person.get("/")).text)).toBe("1 credential refused, 1 source failing");
    for (let n = 2; n <= 12; n += 1) await world.tracker(`app-${n}`, failing);
    await world.tracker("own", { ...failing, credential_id: null });
    const { body } = await person.api("GET", "/stats");
    expect(body.counts).toMatchObject({ needs: 2, failing_sources: 1, refused_credentials: 1 });
    expect(body).toMatchObject({
      failing_sources: [{ tracker: "own" }],
      refused_credentials: [{ credential_id: id, host: "registry.example.org", failing: 12 }],
      sources: { total: 13, failing: 13 },
    });
    expect(body.refused_credentials?.[0]).toMatchObject({ since: "2026-01-05T03:00:00.000Z" });
    const { text } = await person.get("/");
    expect(heading(text)).toBe("1 credential refused, 13 sources failing");
    expect(text).toContain("13 of 13 sources failing");
    expect(text).toMatch(/aria-current="page"[\s\S]*?<span class="count">2<\/span>/);
    const needs = /<ul class="panel rows" id="needs">([\s\S]*?)<\/ul>/.exec(text)?.[1] ?? "";
    expect(needs.match(/<li/g)).toHaveLength(2);
    expect(needs).toMatch(
      new RegExp(`Credential refused[\\s\\S]*?href="/credentials/${id}/edit">&lt;b&gt;ghcr&lt;/b&gt;&quot;</a>`),
    );
    expect(needs).toMatch(/12 sources at registry\.example\.org[\s\S]*?since[\s\S]*?The registry answered 401/);
    expect(needs).toMatch(/app-1, app-2, app-3, app-4, app-5 and 7 more/);
    expect(text).not.toContain("<b>ghcr");
    expect(text).not.toMatch(clean);
    const chinese = await person.get("/", { headers: { "accept-language": "zh" } });
    expect(heading(chinese.text)).toBe("1 个凭据被拒绝，13 个来源检查失败");
    expect(chinese.text).toMatch(/凭据被拒绝[\s\S]*?registry\.example\.org 上的 12 个来源[\s\S]*?另有 7 个/);
  });

  test("says of a patch to an older line what it is, and calls a candidate none of the stable versions", async () => {
    const now = app.clock.now();
    const facts = {
      tracker: "db",
      channel: "stable",
      maturity: "release",
      version: "16.12",
      previous_version: "16.11",
    };
    const remark = { code: "older_line", params: { newest: "18.1" } };
    await world.event({ kind: "new_release", created_at: now, facts: { ...facts, also: [], remark } });
    const candidate = { ...facts, tracker: "web", version: "2.0-rc1", maturity: "candidate", also: [], remark: null };
    await world.event({ kind: "new_release", created_at: now, facts: candidate });
    const { text } = await person.get("/");
    expect(text).toMatch(
      /Older line[\s\S]*?>db<[\s\S]*?16\.11[\s\S]*?16\.12[\s\S]*?Stable[\s\S]*?newest is still[\s\S]*?18\.1/,
    );
    expect(text).toMatch(/New release[\s\S]*?>web<[\s\S]*?2\.0-rc1[\s\S]{0,80}Pre-release/);
    expect(text).not.toMatch(clean);
  });

  test("teaches a fresh installation its next step, and ticks what is done", async () => {
    const page = await person.get("/");
    expect(heading(page.text)).toBe("Two steps to your first update");
    expect(page.text).toMatch(/class="btn main" href="\/connections\/new"/);
    expect(page.text).not.toContain("Needs attention");
    await world.connection();
    const next = await person.get("/");
    expect(heading(next.text)).toBe("1 step left to your first update");
    expect(next.text).toMatch(/class="btn main" href="\/adopt"/);
    expect(next.text).toContain("Done");
  });

  test("says that everything is current only where everybody was looked at", async () => {
    await world.connection();
    await world.executor({ name: "web", ...(await world.tracker("app")) });
    expect(heading((await person.get("/")).text)).toBe("Everything is up to date");
    await world.executor({ name: "api", is_observed: false });
    expect(heading((await person.get("/")).text)).toBe("All clear");
  });

  test("begins with what needs the administrator, with a verb for each", async () => {
    const { bad, active } = await busy();
    const { text } = await person.get("/");
    expect(heading(text)).toBe("1 failed run, 1 source failing, 2 updates to review");
    const words = [...text.matchAll(/<li id="need-[\s\S]*?<span class="state[^>]*>[\s\S]*?<span>([^<]*)</g)];
    expect(words.map(([, word]) => word)).toEqual(["Failed", "Source failing", "Update", "Update"]);
    // A failing source has one colour on every page.
    expect(text).toMatch(/class="state failed"[^>]*>(?:(?!<\/svg>)[\s\S])*<\/svg><span>Source failing</);
    expect(text).toMatch(/id="status">[\s\S]{0,80}class="state failed"/);
    expect(text).toMatch(new RegExp(`class="btn main" href="/runs/${bad}"[\\s\\S]*?See why`));
    expect(text).toMatch(/href="\/executors\/[\w-]+"[^>]*>immich<[\s\S]*?1\.142\.1[\s\S]*?2\.0\.0[\s\S]*?Review/);
    expect(text).toContain("failing for 9 h");
    expect(text).toMatch(/href="\/trackers\/gitea"[\s\S]*?The registry answered 401/);
    expect(text).toMatch(
      new RegExp(`In progress[\\s\\S]*?href="/runs/${active}"[\\s\\S]*?412 MB of 580 MB · 3 of 11 layers`),
    );
    expect(text).toMatch(/Yesterday[\s\S]*?New release[\s\S]*?href="\/trackers\/jellyfin%2Fx"/);
    expect(text).toMatch(
      /aria-current="page"[\s\S]*?<span class="count">4<\/span>[\s\S]*?<span class="count">1<\/span>/,
    );
    expect(text).toContain("1 of 2 sources failing");
    expect(text).not.toMatch(clean);
  });

  test("answers htmx with the part that asks again, and the numbers of the frame", async () => {
    await busy();
    const { text, headers } = await person.get("/", { htmx: true });
    expect(text).toStartWith('<div id="overview"');
    expect(text).toContain('hx-trigger="every 10s"');
    expect(text).toContain('hx-target="#sections"');
    expect(text).toContain('hx-target="#status"');
    expect(text).not.toContain("<html");
    expect(headers.get("vary")).toContain("HX-Request");
  });

  test("is complete in Chinese", async () => {
    await busy();
    const { text } = await person.get("/", { headers: { "accept-language": "zh" } });
    expect(heading(text)).toBe("1 次运行失败，1 个来源检查失败，2 个更新待查看");
    expect(text).not.toMatch(/Needs attention|In progress|Review|published|Yesterday/);
    expect(text).not.toMatch(clean);
  });

  test("shows names from data as text", async () => {
    await world.connection("<b>nas</b>");
    await world.executor({ name: '<img src=x onerror="x">', difference: "other_version" });
    const { text } = await person.get("/");
    expect(text).not.toContain("<img");
    expect(text).not.toContain("<b>nas");
  });
});

test("executors are sorted by state, with what needs attention first, over several pages", async () => {
  await busy();
  await world.executor({ name: "idle" });
  const ordered = async (sort: string, cursor = ""): Promise<string[]> => {
    const { body } = await person.api("GET", `/executors?sort=${sort}&limit=2${cursor}`);
    const names = (body.items ?? []).map(({ state, name }) => `${state} ${name}`);
    return body.next_cursor === null ? names : [...names, ...(await ordered(sort, `&cursor=${body.next_cursor}`))];
  };
  const expected = ["failed paperless", "update immich", "update traefik", "running home-assistant", "current idle"];
  expect(await ordered("state")).toEqual(expected);
  expect(await ordered("-state")).toEqual(expected.toReversed());
  expect((await person.get("/executors?sort=state")).text).toMatch(/aria-sort="ascending"><a[^>]*>State/);
});

test("GET /api/stats answers with instants as texts, and only to those who are signed in", async () => {
  await busy();
  const { status, body } = await person.api("GET", "/stats");
  expect(status).toBe(200);
  expect(body.counts).toMatchObject({ needs: 4, updates: 2, bad_runs: 1, failing_sources: 1 });
  expect(body.failing_sources?.[0]).toMatchObject({ tracker: "gitea", failing_since: "2026-01-05T03:00:00.000Z" });
  expect((await app.send("/api/stats")).status).toBe(401);
});

test("the line at the top says how fresh the facts are, on every page", async () => {
  await world.tracker("app");
  const { text } = await person.get("/credentials");
  expect(text).toMatch(/Source checked <time[^>]*>2 minutes ago/);
});

describe("GET /search", () => {
  test("teaches without a query, and groups what it finds", async () => {
    expect((await person.get("/search")).text).toContain("nginx 1.29");
    const app1 = await world.tracker("nginx");
    await world.release(app1.source_id, "1.29.1");
    const { text } = await person.get("/search?q=nginx+1.29");
    expect(heading(text)).toBe("Results for “nginx 1.29”");
    expect(text).toContain('value="nginx 1.29"');
    expect(text).toMatch(/Releases[\s\S]*?<mark>nginx<\/mark>[\s\S]*?<mark>1.29<\/mark>.1/);
    expect((await person.get("/search?q=zzz")).text).toContain("No results for “zzz”");
  });

  test("takes any query as text", async () => {
    const hostile = `"><script>${"x".repeat(300)}`;
    const { status, text } = await person.get(`/search?q=${encodeURIComponent(hostile)}`);
    expect(status).toBe(200);
    expect(text).not.toContain("<script>x");
  });
});

test.each([
  ["nginx", ["NG"], ["[ng]", "inx"]],
  ["aXbXc", ["x"], ["a", "[X]", "b", "[X]", "c"]],
  ["foobar", ["foo", "foobar"], ["[foobar]"]],
  ["plain", ["z"], ["plain"]],
  ["İstanbul", ["i"], ["İstanbul"]],
  ["", ["a"], []],
])("markedParts() of %p finds %p", (text, terms, expected) => {
  expect(markedParts(text, terms).map((part) => (part.is_match ? `[${part.text}]` : part.text))).toEqual(expected);
});
