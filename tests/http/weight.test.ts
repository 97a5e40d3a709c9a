import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { eq } from "drizzle-orm";
import { executors } from "../../src/db/tables.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { digest } from "../support/run-world.ts";
import { seedRows } from "../support/seeded-rows.ts";
import { type Browser, type TestApp, testApp } from "../support/test-app.ts";

// What a browser loads over a network: bodies as they are sent. 50 trackers, 50 executors, a month of runs, and an engine with 250 targets.

const firstLoadLimit = 60_000;
const scriptLimit = 15_360;
const repeatLoadLimit = 15_000;

let app: TestApp;
let person: Browser;
let seeded: Awaited<ReturnType<typeof seedRows>>;
let connection: string;
beforeAll(async () => {
  const engine = new FakeEngine();
  for (let count = 0; count < 250; count++) {
    const image = `registry.example.com/team/part-${count % 60}:1.${count % 7}.0-alpine`;
    engine.add(`service-${count}`, image, digest("a"));
  }
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  const admin = await app.signedIn();
  person = admin;
  const config = { address: "fake://home" };
  const added = await admin.api("POST", "/runtime-connections", { name: "home", kind: "docker", config });
  connection = String(added.body.id);
  const size = { trackers: 50, releases_each: 10, executors: 50, runs_each: 20 };
  const now = app.clock.now();
  seeded = await app.db.write(async (tx) => {
    const rows = await seedRows(tx, size, now);
    for (let index = 0; index < size.executors; index++) {
      const name = `app-${String(index).padStart(4, "0")}`;
      await tx
        .update(executors)
        .set({ observed: behind(name), observed_at: now, next_evaluation_at: null })
        .where(eq(executors.name, name));
    }
    return rows;
  });
});

/** What is observed of an executor that has an update. */
function behind(name: string) {
  const image = `registry.example.com/team/${name}`;
  const running = { image: `${image}:1.9.0`, image_id: digest("c"), digest: digest("a"), platform: "linux/amd64" };
  const found = { ...running, name: "main", containers: [name], state: "running", tag: "1.9.0" };
  const desired = { version: "1.10.0", tag: "1.10.0", digest: digest("b"), reference: `${image}:1.10.0` };
  const service = { service: "main", tracker: name, source: "registry", channel: "stable", unmet: null };
  return {
    services: [
      {
        ...{ ...service, found, desired: { ...desired, published_at: app.clock.now() }, difference: "other_version" },
        behind: { releases: 4, steps: { major: 0, minor: 1, patch: 3 }, days: 20, is_at_least: false },
      },
    ],
    ...{ unbound: [], problem: null, waiting: null, desired_revision: `main ${digest("b")}` },
  };
}
afterAll(() => app.close());

async function load(path: string, headers: Record<string, string> = {}) {
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const signedIn = path === "/login" ? {} : { cookie };
  const answer = await app.send(path, { headers: { ...signedIn, "accept-encoding": "gzip", ...headers } });
  const body = new Uint8Array(await answer.arrayBuffer());
  const isPacked = answer.headers.get("content-encoding") === "gzip";
  return { answer, sent: body.length, plain: isPacked ? gunzipSync(body) : body, is_packed: isPacked };
}

const namedBy = (html: string, pattern: RegExp) =>
  [...html.matchAll(pattern)].map(([, path = ""]) => path.replaceAll("&amp;", "&"));
/** Without the icon that is loaded only where Tidemark is installed on a phone. */
const named = (html: string) =>
  new Set(namedBy(html, /<(?!link rel="apple-touch-icon")[^>]* (?:src|href)="([^"]*\/assets\/[^"#]+)/g));
/** What the page asks for by itself. */
const askedBy = (html: string) => [
  ...namedBy(html, / data-worker="([^"]+)/g),
  ...namedBy(html, / data-kept="([^"]+)/g).flatMap((each) => each.split(" ").filter((path) => path.includes("/away/"))),
  ...namedBy(html, /<link rel="manifest" href="([^"]+)/g),
];
const partsOf = (html: string) => namedBy(html, / hx-get="([^"]+)" hx-trigger="load/g);

const pages: [string, () => string][] = [
  ["/login", () => "/login"],
  ["/", () => "/"],
  ["/trackers", () => "/trackers"],
  ["/trackers/new", () => "/trackers/new"],
  ["a tracker", () => `/trackers/${seeded.tracker}`],
  ["/executors", () => "/executors"],
  ["/executors/new", () => "/executors/new"],
  ["an executor", () => `/executors/${seeded.executor_id}`],
  ["/runs", () => "/runs"],
  ["a run", () => `/runs/${seeded.run_id}`],
  ["/connections", () => "/connections"],
  ["/connections/new", () => "/connections/new"],
  ["a connection", () => `/connections/${connection}`],
  ["adoption", () => `/connections/${connection}/adopt`],
  ["an executor of a connection", () => `/executors/new?connection=${connection}`],
  ["/credentials", () => "/credentials"],
  ["/notifiers", () => "/notifiers"],
  ["/notifiers/new", () => "/notifiers/new"],
  ["/settings", () => "/settings"],
  ["/docs", () => "/docs"],
  ["a page that is not there", () => "/nothing"],
];

test("app.js stays small", () => {
  expect(readFileSync(join(import.meta.dir, "../../public/app.js")).length).toBeLessThanOrEqual(scriptLimit);
});

describe("what is sent for", () => {
  test.each(pages)("%s stays small, first and again", async (_name, path) => {
    const page = await load(path());
    const html = new TextDecoder().decode(page.plain);
    const parts = await Promise.all([
      ...[...named(html), ...askedBy(html)].map((each) => load(each)),
      ...partsOf(html).map((each) => load(each, { "hx-request": "true" })),
    ]);
    expect(parts.map(({ answer }) => answer.status)).toEqual(parts.map(() => 200));
    const again = parts.filter(({ answer }) => !answer.headers.get("cache-control")?.includes("immutable"));
    const sum = (some: { sent: number }[]) => some.reduce((bytes, { sent }) => bytes + sent, page.sent);
    expect(sum(parts)).toBeLessThanOrEqual(firstLoadLimit);
    expect(sum(again)).toBeLessThanOrEqual(repeatLoadLimit);
  });
});

describe("compression()", () => {
  const encodingOf = async (path: string, headers: Record<string, string> = {}) =>
    (await load(path, headers)).is_packed;

  test.each([
    ["gzip, deflate, br", true],
    ["br;q=1.0, gzip;q=0.5", true],
    ["*", true],
    ["gzip;q=0", false],
    ["gzip;q=0, *", false],
    ["br", false],
    ["x-gzip-not", false],
    ["", false],
  ])("understands Accept-Encoding: %s", async (accepted, expected) => {
    expect(await encodingOf("/trackers", { "accept-encoding": accepted })).toBe(expected);
    const [asset = ""] = named((await person.get("/trackers")).text);
    expect(await encodingOf(asset, { "accept-encoding": accepted })).toBe(expected);
  });

  test("sends the same page either way, and says that it depends on the request", async () => {
    const [packed, plain] = [await load("/docs"), await load("/docs", { "accept-encoding": "identity" })];
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replaceAll(/csrf_token" value="[^"]+"/g, "");
    expect(text(packed.plain)).toBe(text(plain.plain));
    for (const { answer } of [packed, plain]) {
      expect(answer.headers.get("vary")).toContain("Accept-Encoding");
      expect(answer.headers.get("content-security-policy")).not.toBeNull();
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("keeps the status and the cookies of an answer", async () => {
    const wrong = new URLSearchParams({ username: "admin", password: "not-this-one" });
    const headers = { origin: app.origin, "accept-encoding": "gzip", cookie: "tidemark_notice=old" };
    const answer = await app.send("/login", { method: "POST", headers, body: wrong });
    expect([answer.status, answer.headers.get("content-encoding")]).toEqual([422, "gzip"]);
    expect(answer.headers.getSetCookie().join()).toContain("tidemark_notice=");
  });

  test.each(["cross-site", "same-site"])("leaves out what another site asks for (%s)", async (site) => {
    expect(await encodingOf("/search?q=guess", { "sec-fetch-site": site })).toBe(false);
    expect(await encodingOf("/search?q=guess", { "sec-fetch-site": "same-origin" })).toBe(true);
    expect(await encodingOf("/search?q=guess", { "sec-fetch-site": "none" })).toBe(true);
  });

  test("packs JSON, but neither small answers nor downloads", async () => {
    expect(await encodingOf("/openapi.json")).toBe(true);
    expect(await encodingOf("/health/live")).toBe(false);
    const audit = await load("/api/audit-entries/export");
    expect(audit.answer.headers.get("content-disposition")).toContain("attachment");
    expect(audit.is_packed).toBe(false);
  });

  test("leaves event streams alone", async () => {
    const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await app.send(`/runs/${seeded.run_id}/stream`, { headers: { cookie, "accept-encoding": "gzip" } });
    const read = await answer.body?.getReader().read();
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("content-encoding")).toBeNull();
    expect(new TextDecoder().decode(read?.value)).toStartWith("event: ping");
  });
});

describe("static files", () => {
  test("have a strong ETag for each form, and are not sent again", async () => {
    const [asset = ""] = named((await person.get("/trackers")).text);
    const [packed, plain] = [await load(asset), await load(asset, { "accept-encoding": "identity" })];
    const tags = [packed, plain].map(({ answer }) => answer.headers.get("etag") ?? "");
    expect(new Set(tags).size).toBe(2);
    for (const tag of tags) expect(tag).toMatch(/^"[0-9a-f]{16}(-gzip)?"$/);
    const again = await load(asset, { "if-none-match": `"other", ${tags[0]}` });
    expect([again.answer.status, again.sent]).toEqual([304, 0]);
    expect((await load(asset, { "if-none-match": tags[1] ?? "" })).answer.status).toBe(200);
    expect(packed.answer.headers.get("cache-control")).toContain("immutable");
  });
});

describe("what is served without its comments", () => {
  const folder = join(import.meta.dir, "../../public");
  const served = async (name: string, kind: ".js" | ".css") => {
    const paths = [...named((await person.get("/executors/new")).text)];
    const path = paths.find((each) => each.includes(`/${name}.`) && each.endsWith(kind)) ?? "";
    return new TextDecoder().decode((await load(path)).plain);
  };

  test.each(["app", "away", "palette", "transition"])("%s.js says the same as its file", async (name) => {
    const source = readFileSync(join(folder, `${name}.js`), "utf8");
    const text = await served(name, ".js");
    const bare = new Bun.Transpiler({ minifyWhitespace: true });
    expect(bare.transformSync(text)).toBe(bare.transformSync(source));
    expect(text.length).toBeLessThan(source.length);
    expect(text).not.toMatch(/^\s*\/\//m);
  });

  test("the style sheet has all of their rules", async () => {
    const names = readdirSync(join(folder, "styles")).toSorted();
    const sources = names.map((name) => readFileSync(join(folder, "styles", name), "utf8")).join("");
    const bare = (text: string) => text.replace(/\/\*.*?\*\//gs, "").replace(/\s+/g, " ");
    expect(bare(await served("app", ".css")).trim()).toBe(bare(sources).trim());
  });
});

describe("the form token", () => {
  const tokensOf = (html: string) =>
    new Set([...html.matchAll(/name="csrf_token" value="([^"]+)"/g)].map(([, token]) => token));

  test("is another in each answer and one within it, and each is taken", async () => {
    const [first, second] = [await person.get("/settings"), await person.get("/settings")];
    const [a, b] = [[...tokensOf(first.text)], [...tokensOf(second.text)]];
    expect([a.length, b.length]).toEqual([1, 1]);
    expect(a[0]).not.toBe(b[0]);
    for (const token of [...a, ...b]) {
      const answer = await person.post("/preferences", { csrf_token: token ?? "", language: "en" });
      expect(answer.status).toBe(303);
    }
    expect((await person.post("/preferences", { csrf_token: "A".repeat(86), language: "en" })).status).toBe(403);
  });
});
