import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { tracker_sources } from "../../../src/db/tables.ts";
import { say } from "../../../src/messages/message.ts";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
} from "../../sources/oci/stand-in-registry.ts";
import { installation } from "../../stats/installation.ts";
import { type FormFields, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let content: Content;
let registry: StandIn;
/** While set, the registry's answers wait for it. */
let gate: Promise<void> | null;
beforeEach(async () => {
  content = emptyContent();
  gate = null;
  registry = standIn(async (request, url) => {
    await gate;
    return serve(content, "acme/app", request, url);
  });
  app = await testApp();
  person = await app.signedIn();
});
afterEach(async () => {
  await app.close();
  await registry.stop();
});

function publish(...tags: string[]): void {
  for (const tag of tags) addImage(content, tag, { created: "2026-01-04T08:00:00Z", config: { Labels: { tag } } });
}

const form = (name: string, changes: FormFields = {}): FormFields => ({
  name,
  is_enabled: "on",
  "sources.0.key": "main",
  "sources.0.kind": "oci",
  "sources.0.config.image": "acme/app",
  "sources.0.config.registry": registry.url,
  "sources.0.channels.0.type": "stable",
  "sources.0.channels.0.include_pattern": "^\\d+\\.\\d+$",
  ...changes,
});

/** Stores a tracker by the form and lets its first check end. */
async function create(name: string, changes: FormFields = {}): Promise<string> {
  const answer = await person.post("/trackers", form(name, changes));
  expect([answer.status, answer.text]).toEqual([303, ""]);
  await checked();
  return answer.location ?? "";
}

async function checked(): Promise<void> {
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
}

const plain = (html: string) =>
  html
    .replaceAll(/<(?!mark|\/mark)[^>]+>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");
const clean = / (style|on\w+)="|\[object |>undefined|undefined</;

describe("GET /trackers", () => {
  test("teaches while there is none, and says so when only the filter finds none", async () => {
    expect((await person.get("/trackers")).text).toContain("No trackers yet");
    const filtered = await person.get("/trackers?q=nothing&state=failing");
    expect(filtered.text).toContain("Nothing matches these filters");
    expect(filtered.text).toContain('value="nothing"');
  });

  test("shows the latest of each channel, what runs and how it stands", async () => {
    publish("1.0", "1.1", "2.0-rc1");
    await create("app", { "sources.0.channels.1.type": "prerelease", "sources.0.channels.1.include_pattern": "-rc" });
    const { text } = await person.get("/trackers");
    expect(plain(text)).toContain("app 1.1 2.0-rc1 Not deployed Notify only");
    expect(text).toContain('aria-label="Registry main"');
    expect(text).not.toMatch(clean);
  });

  test("filters by part of a name or image, channel and state, also alone for htmx", async () => {
    publish("1.0");
    await create("one");
    await create("two", { "sources.0.channels.0.type": "beta" });
    await create("gone", { "sources.0.config.image": "acme/gone" });
    await create("asleep", { is_enabled: [] });
    const shown = async (query: string) => {
      const { text } = await person.get(`/trackers?${query}`, { htmx: true });
      expect(text).not.toContain("<html");
      return [...text.matchAll(/href="\/trackers\/(\w+)">/g)].map(([, name]) => name);
    };
    expect(await shown("q=on")).toEqual(["gone", "one"]);
    expect(await shown("q=acme/gone")).toEqual(["gone"]);
    expect(await shown("q=published_at")).toEqual([]);
    expect(await shown("channel=beta")).toEqual(["two"]);
    expect(await shown("state=failing")).toEqual(["gone"]);
    expect(await shown("state=disabled")).toEqual(["asleep"]);
    expect(await shown("state=update")).toEqual([]);
  });

  test("offers the kinds of sources that the other filters leave, while they are a choice", async () => {
    const filters = async (query: string) => {
      const { text } = await person.get(`/trackers${query}`);
      const group = /<ul class="segments" aria-label="Source">[\s\S]*?<\/ul>/.exec(text)?.[0] ?? "";
      return [...group.matchAll(/kind=(\w+)/g)].map(([, kind]) => kind);
    };
    await create("image");
    expect(await filters("")).toEqual([]);
    await create("code", {
      is_enabled: [],
      "sources.0.kind": "github",
      "sources.0.config.image": [],
      "sources.0.config.registry": [],
      "sources.0.config.repository": "acme/app",
    });
    expect(await filters("")).toEqual(["github", "oci"]);
    expect(await filters("?kind=oci")).toEqual(["github", "oci"]);
    expect(await filters("?q=nothing")).toEqual([]);
  });

  test("finds what waits for an update by what was seen of the executors", async () => {
    const world = installation(app.db, app.clock);
    await world.connection();
    await world.executor({ name: "web", ...(await world.tracker("behind")), difference: "other_version", from: "1.0" });
    await world.executor({ name: "api", ...(await world.tracker("even")) });
    const problem = { code: "unreachable", message: "No answer" };
    await world.executor({ name: "db", ...(await world.tracker("unseen")), difference: "other_version", problem });
    const { text } = await person.get("/trackers?state=update");
    expect(plain(text)).toMatch(/behind .*1\.0.* Update/);
    expect(text).not.toContain('href="/trackers/even"');
    expect(text).not.toContain('href="/trackers/unseen"');
  });

  test("speaks Chinese", async () => {
    await create("app");
    const { text } = await person.get("/trackers", { headers: { "accept-language": "zh" } });
    expect(text).toContain("全部检查");
    expect(text).toContain("上次检查");
  });
});

describe("a check from a page", () => {
  test("is seen going on, then its result is told once", async () => {
    publish("1.0");
    await create("app");
    await app.clock.advance(60_000);
    publish("1.1");
    const opening = Promise.withResolvers<void>();
    gate = opening.promise;
    const asked = await person.post("/trackers/app/checks", { next: "/trackers?q=a" }, { htmx: true });
    expect(asked.status).toBe(200);
    expect(plain(asked.text)).toContain("Checking");
    const again = /hx-get="([^"]+)" hx-trigger="every 1s"/.exec(asked.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(again).toStartWith("/trackers?q=a&awaited=app&since=");
    opening.resolve();
    await checked();
    const ended = await person.get(again, { htmx: true });
    expect(ended.text).toContain('id="look-again"');
    expect(ended.text).not.toContain('hx-trigger="every');
    expect(plain(ended.text)).toContain("Checked app: found 1.1");
    expect(ended.text).not.toContain("awaited=");
  });

  test("changes the row that it is of, and no other, until its end, whatever the filters find", async () => {
    publish("1.0");
    for (const name of ["app", "calm", "gone"]) await create(name);
    const ids = new Map<string, string>();
    for (const name of ["app", "calm", "gone"]) {
      ids.set(name, String((await person.api("GET", `/trackers/${name}`)).body.id));
    }
    await app.clock.advance(60_000);
    publish("1.1");
    const opening = Promise.withResolvers<void>();
    gate = opening.promise;
    const rows = (text: string) => [...text.matchAll(/<tr id="tracker-([^"]+)"/g)].map(([, id]) => id);
    const asked = await person.post("/trackers/app/checks", { next: "/trackers?state=failing" }, { htmx: true });
    expect(rows(asked.text)).toEqual([ids.get("app")]);
    expect(asked.text).toContain(`name="checking" value="${ids.get("app")}"`);
    expect(asked.text).not.toContain('id="tracker-list"');
    await person.api("DELETE", "/trackers/gone");
    const look = async (...shown: string[]) => {
      const query = shown.map((name) => `&checking=${ids.get(name)}`).join("");
      return (await person.get(`/trackers?state=failing${query}`, { htmx: true })).text;
    };
    expect(rows(await look("app"))).toEqual([]);
    opening.resolve();
    await checked();
    const ended = await look("app", "gone");
    expect(rows(ended)).toEqual([ids.get("app")]);
    expect(plain(ended)).toContain("1.1");
    expect(ended).not.toContain('name="checking"');
    expect(ended).toContain(`hx-target="#tracker-${ids.get("gone")}" hx-swap="delete"`);
  });

  test("of all trackers leaves out those that are disabled", async () => {
    publish("1.0");
    await create("app");
    await create("off", { is_enabled: [] });
    registry.take();
    const answer = await person.post("/trackers/checks", { next: "https://elsewhere.example/" });
    expect([answer.status, answer.location]).toEqual([303, "/trackers"]);
    await checked();
    expect(registry.take().filter((line) => line.includes("tags/list"))).toHaveLength(1);
  });

  test("of all trackers goes on without one that is deleted meanwhile", async () => {
    publish("1.0");
    await create("stays");
    await create("goes");
    const { list } = app.services.trackers;
    app.services.trackers.list = async (query) => {
      const page = await list(query);
      if (page.items.some(({ name }) => name === "goes")) await person.api("DELETE", "/trackers/goes");
      return page;
    };
    registry.take();
    const answer = await person.post("/trackers/checks");
    app.services.trackers.list = list;
    expect([answer.status, answer.location]).toEqual([303, "/trackers"]);
    expect((await person.api("GET", "/trackers/goes")).status).toBe(404);
    await checked();
    expect(registry.take().filter((line) => line.includes("tags/list"))).not.toEqual([]);
  });

  test("that waits for its upstream's limit is not shown as going on, and says until when", async () => {
    await registry.stop();
    const spent = { status: 429, headers: { "retry-after": "600" } };
    registry = standIn(() => Response.json({ errors: [{ code: "TOOMANYREQUESTS", message: "slow down" }] }, spent));
    await create("spends", { "sources.0.config.image": "acme/other" });
    await person.post("/trackers", form("waits"));
    const page = await person.get("/trackers/waits");
    expect(plain(page.text)).toContain("Waiting until 12:10");
    expect(page.text).not.toContain("look-again");
    const asked = await person.post("/trackers/waits/checks", { next: "/trackers/waits" }, { htmx: true });
    expect(plain(asked.text)).toContain("The check of waits waits until 12:10");
    expect(asked.text).not.toContain("look-again");
  });

  test("says calmly why it failed, and that the versions shown are old", async () => {
    publish("1.0");
    await create("app");
    content.tags.clear();
    content.manifests.clear();
    await registry.stop();
    await person.post("/trackers/app/checks", {});
    await checked();
    await app.clock.advance(2 * 60 * 60_000);
    const { text } = await person.get("/trackers/app");
    expect(plain(text)).toContain("the connection was refused");
    expect(plain(text)).toContain("Failing for 2 h");
    expect(plain(text)).toContain("The versions shown are from 2 hours ago");
    expect(plain(text)).toContain("1.0");
  });
});

describe("GET /trackers/{name}", () => {
  test("groups versions by the day of the system time zone", async () => {
    publish("1.0", "1.1");
    addImage(content, "1.2", { created: "2026-01-04T23:30:00Z" });
    await create("app");
    const days = async () =>
      [...(await person.get("/trackers/app")).text.matchAll(/<h3>(\w+ \d+ \w+)<\/h3>/g)].map(([, day]) => day);
    expect(await days()).toEqual(["Sunday 4 January"]);
    await person.api("PATCH", "/settings", { timezone: "Asia/Shanghai" });
    expect(await days()).toEqual(["Monday 5 January", "Sunday 4 January"]);
  });

  test("shows the tags of one image as one row under the plainest", async () => {
    for (const tag of ["18", "18.1", "18.1-trixie", "latest", "trixie"]) addImage(content, tag, { created: null });
    await create("app", { "sources.0.channels.0.include_pattern": "" });
    const { text } = await person.get("/trackers/app");
    expect([...text.matchAll(/id="release-/g)]).toHaveLength(1);
    expect(plain(text)).toMatch(/also tagged [\s\S]*18.1-trixie[\s\S]*, latest/);
    expect([...text.matchAll(/data-copy="sha256:/g)]).toHaveLength(1);
    const chinese = await person.get("/trackers/app", { headers: { "accept-language": "zh" } });
    expect(plain(chinese.text)).toMatch(/其他标签： ?18.1-trixie/);
  });

  test("calls a candidate no stable version, in the history and in the preview", async () => {
    publish("2.0.0-rc1", "2.0.0-beta1", "1.9.5", "1.9.4");
    const channels = {
      "sources.0.channels.0.include_pattern": "",
      "sources.0.channels.1.type": "prerelease",
    };
    await create("app", channels);
    const { text } = await person.get("/trackers/app");
    const pills = (html: string, tag: string) => {
      const row = html.slice(html.indexOf(`>${tag}<`)).split("</li>")[0] ?? "";
      return [...row.matchAll(/class="badge[^"]*"[^>]*>(?:<[^>]*>)*([^<]+)</g)].map(([, word]) => word);
    };
    expect(pills(text, "2.0.0-rc1")).toEqual(["Pre-release · latest"]);
    expect(pills(text, "2.0.0-beta1")).toEqual(["Beta", "Pre-release"]);
    expect(pills(text, "1.9.5")).toEqual(["Stable · latest", "Pre-release"]);
    const answer = (await person.post("/trackers/preview", form("app", channels))).text;
    const preview = answer.slice(answer.indexOf('class="judged"'));
    expect(pills(preview, "2.0.0-rc1")).toEqual(["Pre-release · latest"]);
    expect(pills(preview, "1.9.5")).toEqual(["Stable · latest", "Pre-release"]);
  });

  test("says of an event for an older line what it is", async () => {
    publish("18.1", "16.11");
    await create("app");
    await app.clock.advance(60_000);
    addImage(content, "16.12", { created: "2026-01-05T08:00:00Z" });
    await person.post("/trackers/app/checks", {});
    await checked();
    const events = async (headers: Record<string, string> = {}) =>
      plain((await person.get("/trackers/app", { headers })).text);
    expect(await events()).toMatch(/Older line\s*16\.12\s*Stable[\s·]*newest is still\s*18\.1/);
    expect(await events({ "accept-language": "zh" })).toMatch(/旧版本线\s*16\.12[\s\S]*最新版本仍是\s*18\.1/);
  });

  test("marks a tag that moved, with a digest that can be copied", async () => {
    publish("1.0");
    await create("app");
    await app.clock.advance(60_000);
    const digest = addImage(content, "1.0", { created: "2026-01-04T09:00:00Z", config: { Labels: { tag: "again" } } });
    await person.post("/trackers/app/checks", {});
    await checked();
    const { text } = await person.get("/trackers/app");
    expect(text).toContain("Republished");
    expect(text).toContain(`data-copy="${digest}"`);
  });

  test("explains a tag under its own address, and alone in a dialog", async () => {
    publish("1.0", "1.1");
    await create("app");
    const page = await person.get("/trackers/app?explain=2.0-rc1");
    expect(page.text).toContain("<html");
    expect(plain(page.text)).toContain("Why 2.0-rc1 is accepted or rejected");
    expect(plain(page.text)).toContain("No check of this source has found this tag");
    expect(plain(page.text)).toMatch(/Rejected Stable does not match the include pattern/);
    const dialog = await person.get("/trackers/app?explain=1.1", {
      htmx: true,
      headers: { "hx-target": "dialog#dialog" },
    });
    expect(dialog.text).not.toContain("Sources");
    expect(plain(dialog.text)).toContain("the latest version of this channel");
  });

  test("answers 404 for one that is not there", async () => {
    expect((await person.get("/trackers/nobody")).status).toBe(404);
  });
});

test("an executor whose build is unknown reads on a tracker's page as on its own", async () => {
  const world = installation(app.db, app.clock);
  await world.connection();
  const id = await world.executor({ name: "web", difference: "unknown", ...(await world.tracker("app")) });
  for (const path of ["/trackers/app", `/executors/${id}`]) {
    expect((await person.get(path)).text).toContain("<span>Build unknown</span>");
  }
});

describe("the form of a tracker", () => {
  test("begins with the image of a discovered target", async () => {
    const { text } = await person.get("/trackers/new?image=ghcr.io%2Facme%2Fapp%3A1.2%40sha256%3Aabc");
    expect(text).toMatch(/name="name"[^>]* value="app"/);
    expect(text).toMatch(/name="sources.0.config.image"[^>]* value="ghcr.io\/acme\/app"/);
    expect(text).not.toMatch(clean);
  });

  test("begins with rules that keep what runs, and says what these keep", async () => {
    const { text } = await person.get("/trackers/new?image=postgres%3A16-alpine");
    expect(text).toMatch(
      /name="sources\.0\.channels\.0\.include_pattern"[^>]* value="\^v\?16\(\\\.\\d\+\)\*-alpine\$"/,
    );
    expect(plain(text)).toContain("postgres:16-alpine");
    expect(plain(text)).toContain("Stays on 16 · Keeps alpine");
    expect(text).toMatch(/name="name"[^>]* value="postgres"/);
  });

  test("of a stored tracker keeps what is stored, whatever image its address names", async () => {
    await create("app");
    const { text } = await person.get("/trackers/app/edit?image=postgres%3A16-alpine");
    expect(plain(text)).toContain("Edit app");
    expect(plain(text)).not.toContain("postgres");
  });

  test.each([
    ["?image=nginx%3A1.27-alpine", "semantic"],
    ["?image=nginx%3Aalpine", "publish_time"],
    ["?image=127.0.0.1%3A5000%2Fnginx", "publish_time"],
    ["", "publish_time"],
  ])("%s begins with sorting %s", async (query, sorting) => {
    const { text } = await person.get(`/trackers/new${query}`);
    const select = /<select[^>]* name="sorting"[\s\S]*?<\/select>/.exec(text)?.[0] ?? "";
    expect(/value="([^"]*)" selected/.exec(select)?.[1] ?? "publish_time").toBe(sorting);
  });

  test("gives an added channel the next free type and an added source a key, without storing anything", async () => {
    const channel = await person.post("/trackers", form("app", { _action: "add:sources.0.channels" }));
    expect(channel.text).toMatch(/name="sources\.0\.channels\.1\.type"[\s\S]*?value="prerelease" selected/);
    const source = await person.post("/trackers", form("app", { _action: "add:sources" }));
    expect(source.text).toMatch(/name="sources\.1\.key"[^>]* value="source-1"/);
    expect(source.text).toContain('name="sources.1.channels.0.type"');
    expect((await person.api("GET", "/trackers")).body.items).toEqual([] as never);
  });

  test("offers credentials of the kind of its sources", async () => {
    expect((await person.get("/trackers/new")).text).not.toContain("sources.0.credential_id");
    await person.api("POST", "/credentials", { name: "hub", kind: "oci", secret: { username: "u", password: "p" } });
    await person.api("POST", "/credentials", { name: "forge", kind: "github", secret: { token: "ghp_abcdefgh" } });
    const { text } = await person.get("/trackers/new");
    expect(text).toMatch(/name="sources\.0\.credential_id"[\s\S]*?>hub</);
    expect(text).not.toContain("forge");
  });

  test("keeps a source to which an executor is bound, and says which", async () => {
    const world = installation(app.db, app.clock);
    await world.connection();
    await world.executor({ name: "web", ...(await world.tracker("app")) });
    const answer = await person.post("/trackers/app/edit", form("app", { "sources.0.key": "other" }));
    expect(answer.status).toBe(409);
    expect(plain(answer.text)).toContain('executor "web"');
    const refused = await person.post("/trackers/app/delete");
    expect(refused.status).toBe(409);
    expect(plain(refused.text)).toContain("web");
  });

  test("a tracker with a name of any script is edited and deleted under its address", async () => {
    const location = await create("网页.1");
    expect(location).toBe(`/trackers/${encodeURIComponent("网页.1")}`);
    expect((await person.get(`${location}/edit`)).text).toContain("网页.1");
    const saved = await person.post(`${location}/edit`, form("网页.1", { description: "new" }));
    expect([saved.status, saved.location]).toEqual([303, location]);
    expect((await person.get(location)).text).toContain("new");
    expect((await person.get(`${location}/delete`, { htmx: true })).text).toContain("Delete 网页.1?");
    expect((await person.post(`${location}/delete`)).location).toBe("/trackers");
    expect((await person.get(location)).status).toBe(404);
  });
});

describe("POST /trackers/preview", () => {
  const preview = (changes: FormFields = {}) => person.post("/trackers/preview", form("", changes), { htmx: true });

  test("judges each tag, marks what the pattern found and asks the registry once", async () => {
    publish("1.0", "1.1", "1.1-rc1", "latest");
    const first = await preview();
    expect(first.status).toBe(200);
    expect(plain(first.text)).toContain("Latest 1.1 2 of 4 tags match");
    expect(first.text).toContain("<mark>1.1</mark>");
    expect(plain(first.text)).toContain("1.1-rc1 does not match the include pattern");
    const second = await preview({ "sources.0.channels.0.include_pattern": "-rc" });
    expect(second.text).toContain("1.1<mark>-rc</mark>1");
    expect(plain(second.text)).toContain("from the response at 12:00, no new request");
    expect(registry.take().filter((line) => line.includes("tags/list"))).toHaveLength(1);
  });

  test("offers to sort by version where older lines are patched, and does it in the form", async () => {
    publish("18.1", "18.0", "16.12", "16.11");
    const { text } = await person.post("/trackers/preview", form("app"));
    expect(text).toContain("The list contains several lines: 18.1, 16.12.");
    const [button = ""] = /<button[^>]*value="set:sorting=semantic"[^>]*>/.exec(text) ?? [];
    expect(button).toContain('form="tracker-form"');
    const sorted = await person.post("/trackers", form("app", { _action: "set:sorting=semantic" }));
    expect(/<select[^>]* name="sorting"[\s\S]*?<\/select>/.exec(sorted.text)?.[0]).toMatch(/value="semantic" selected/);
    expect(/<input[^>]* name="name"[^>]*>/.exec(sorted.text)?.[0]).toContain('value="app"');
    expect((await person.api("GET", "/trackers")).body.items).toEqual([] as never);
    const after = await person.post("/trackers/preview", form("app", { sorting: "semantic" }));
    expect(after.text).not.toContain("set:sorting");
    const chinese = await person.post("/trackers/preview", form("app"), { headers: { "accept-language": "zh" } });
    expect(chinese.text).toContain("列表中有多条版本线：18.1, 16.12。");
  });

  test("says at the field what is wrong with a pattern", async () => {
    publish("1.0");
    const { text, status } = await preview({ "sources.0.channels.0.exclude_pattern": "(?<!x)rc" });
    expect(status).toBe(200);
    expect(text).toMatch(
      /hx-target="#live-f-sources-0-channels-0-exclude_pattern"[^>]*><p class="field-error">[\s\S]*?Lookaround \([^`]*<code>/,
    );
    expect(text).not.toMatch(/hx-target="#live-f-sources-0-channels-0-include_pattern"[^>]*><p/);
  });

  test("says upstream's refusal calmly, and waits for an image", async () => {
    const { text, status } = await preview({ "sources.0.config.image": "acme/gone" });
    expect(status).toBe(200);
    expect(plain(text)).toContain("The versions could not be listed");
    expect(text).toContain("/credentials/new?kind=oci");
    // As in an executor's form, and read aloud by the region around it alone.
    expect(text).toMatch(/<div class="banner attention">[\s\S]*The versions could not be listed/);
    expect(plain((await preview({ "sources.0.config.image": "" })).text)).toContain("Enter an image or repository");
  });

  test.each([
    ["github", { repository: "", fetch_mode: "rest" }],
    ["gitlab", { project: "", instance_url: "https://gitlab.example.com" }],
    ["gitea", { repository: "" }],
    ["helm", { chart: "app", repository_url: "" }],
  ])("complains of nothing before the address of a %s source is written", async (kind, config) => {
    const values = Object.entries(config).map(([key, value]) => [`sources.0.config.${key}`, value]);
    const typed = { "sources.0.kind": kind, "sources.0.config.image": "", "sources.0.config.registry": "" };
    const { text } = await preview({ ...typed, ...Object.fromEntries(values) });
    expect(plain(text)).toContain("Enter an image or repository");
    expect(text).not.toContain("field-error");
  });
});

describe("the first save without a name", () => {
  const unnamed = (config: FormFields) => {
    const { "sources.0.config.image": _image, "sources.0.config.registry": _registry, ...rest } = form("");
    return { ...rest, "sources.0.channels.0.include_pattern": "", ...config };
  };

  test.each<[FormFields, string]>([
    [{ "sources.0.config.image": "ghcr.io/acme/web-app" }, "web-app"],
    [{ "sources.0.kind": "github", "sources.0.config.repository": "https://github.com/acme/tool.git" }, "tool"],
    [
      {
        "sources.0.kind": "helm",
        "sources.0.config.chart": "ingress-nginx",
        "sources.0.config.repository_url": "https://charts.example.com/stable",
      },
      "ingress-nginx",
    ],
  ])("takes it from the address: %o", async (config, name) => {
    const saved = await person.post("/trackers", unnamed(config));
    expect([saved.status, saved.location]).toEqual([303, `/trackers/${name}`]);
  });

  test("takes a free one, and complains about nothing but what is wrong", async () => {
    await person.post("/trackers", unnamed({ "sources.0.config.image": "ghcr.io/acme/app" }));
    const second = await person.post("/trackers", unnamed({ "sources.0.config.image": "quay.io/other/app" }));
    expect(second.location).toBe("/trackers/other-app");
    const wrong = await person.post("/trackers", unnamed({ "sources.0.config.image": "no image" }));
    expect(wrong.status).toBe(422);
    expect(wrong.text.match(/class="field-error"/g)).toHaveLength(1);
  });
});

test("what an upstream refuses while its address is typed is told, and is no error in the log", async () => {
  const config = { image: "acme/missing", registry: registry.url };
  const answer = await person.api("POST", "/tracker-previews", { kind: "oci", config, channels: [{ type: "stable" }] });
  expect(answer.status).toBe(424);
  expect(app.lines.filter((line) => line.includes("ERROR"))).toEqual([]);
  expect(app.lines.some((line) => line.includes("Upstream refused"))).toBe(true);
});

test("a failing source advises what helps against its failure", async () => {
  publish("1.0");
  await create("app");
  const advised = async (code: string) => {
    const failing = {
      failing_since: app.clock.now(),
      last_error_code: code,
      last_error_message: say("text.plain", { text: "No" }),
    };
    await app.db.write((tx) => tx.update(tracker_sources).set({ ...failing, next_check_at: app.clock.now() + 1e9 }));
    const { text } = await person.get("/trackers/app");
    return [/add a credential/, /Check the address of/, /Check the settings of/, /To retry now/].map((each) =>
      each.test(text),
    );
  };
  expect(await advised("unauthorized")).toEqual([true, false, false, false]);
  expect(await advised("not_found")).toEqual([false, true, false, false]);
  expect(await advised("rejected")).toEqual([false, false, true, false]);
  expect(await advised("unreachable")).toEqual([false, false, false, true]);
  expect(await advised("rate_limited")).toEqual([false, false, false, false]);
});
