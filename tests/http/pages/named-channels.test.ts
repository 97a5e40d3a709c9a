import { afterAll, beforeAll, expect, test } from "bun:test";
import { events } from "../../../src/db/tables.ts";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
} from "../../sources/oci/stand-in-registry.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { type FormFields, type TestApp, testApp } from "../../support/test-app.ts";

/** One repository with two lines, each followed by a stable channel of its own. */
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let content: Content;
let registry: StandIn;
let engine: FakeEngine;
const executors = new Map<string, string>();

const source = (channels: readonly Record<string, string>[]): FormFields => ({
  "sources.0.key": "main",
  "sources.0.kind": "oci",
  "sources.0.config.image": "acme/app",
  "sources.0.config.registry": registry.url,
  ...Object.fromEntries(
    channels.flatMap((channel, position) =>
      Object.entries(channel).map(([name, value]) => [`sources.0.channels.${position}.${name}`, value]),
    ),
  ),
});
const lines = [
  { type: "stable", name: "16", include_pattern: "^16\\." },
  { type: "stable", name: "17", include_pattern: "^17\\." },
];
const form = (name: string, channels: readonly Record<string, string>[], changes: FormFields = {}): FormFields => ({
  name,
  is_enabled: "on",
  ...source(channels),
  ...changes,
});

function publish(...tags: string[]): void {
  for (const tag of tags) addImage(content, tag, { created: "2026-01-04T08:00:00Z", config: { Labels: { tag } } });
}

/** Lets a check end, and gives what the registry was asked for. */
async function check(name: string): Promise<string[]> {
  registry.take();
  await person.api("POST", `/trackers/${name}/checks`);
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  return registry.take().map((line) => line.replace("/v2/acme/app/", ""));
}

const listings = (requests: readonly string[]) => requests.filter((line) => line.startsWith("GET tags/list"));
const plain = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const optionsOf = (html: string, name: string) => {
  const select = new RegExp(`<select[^>]* name="${name.replaceAll(".", "\\.")}"[\\s\\S]*?</select>`).exec(html)?.[0];
  return [...(select ?? "").matchAll(/value="([^"]*)"[^>]*>([^<]*)</g)].map(([, value, title]) => [value, title]);
};

beforeAll(async () => {
  content = emptyContent();
  registry = standIn((request, url) => serve(content, "acme/app", request, url));
  engine = new FakeEngine();
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  publish("16.1", "17.1");
  for (const [name, channels] of Object.entries({ db: lines, one: lines.slice(0, 1) })) {
    const saved = await person.post("/trackers", form(name, channels));
    expect([saved.status, saved.text]).toEqual([303, ""]);
  }
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  const made = await person.api("POST", "/runtime-connections", {
    ...{ name: "Home", kind: "docker", config: { address: "fake://home" } },
  });
  for (const line of ["16", "17"]) {
    engine.add(`db-${line}`, `${registry.host}/acme/app:${line}.1`, digest("a"));
    const { status, body } = await person.api("POST", "/executors", {
      name: `db-${line}`,
      connection_id: made.body.id,
      target: { kind: "container", id: `db-${line}` },
      bindings: [{ tracker: "db", source: "main", channel: line }],
      trigger: "manual",
      image_selection: "use_tracker",
      reference_mode: "tag",
      health_check: { strategy: "disabled" },
    });
    expect([status, body]).toMatchObject([201, { bindings: [{ channel: line }] }]);
    executors.set(line, body.id ?? "");
  }
});
afterAll(async () => {
  await app.close();
  await registry.stop();
});

test("two lines of one source take one listing for each check, and are announced and proposed each by itself", async () => {
  // What a check asks beside the list: the digest of each channel's latest.
  expect(await check("one")).toEqual(["GET tags/list?n=1000", "HEAD manifests/16.1"]);
  expect((await check("db")).toSorted()).toEqual([
    "GET tags/list?n=1000",
    "HEAD manifests/16.1",
    "HEAD manifests/17.1",
  ]);
  const { body: costs } = await person.api("GET", "/upstreams");
  // Both trackers are checked every six hours.
  expect(costs).toMatchObject({ items: [{ sources: 2, requests_per_hour: expect.closeTo(5 / 6) }] });
  publish("16.2", "17.2");
  expect(listings(await check("db"))).toHaveLength(1);
  const tracker = (await person.api("GET", "/trackers/db")).body as never as {
    sources: { channels: { name: string; type: string; latest: { tag: string } }[] }[];
  };
  expect(tracker.sources[0]?.channels).toMatchObject([
    { name: "16", type: "stable", latest: { tag: "16.2" } },
    { name: "17", type: "stable", latest: { tag: "17.2" } },
  ]);
  const { items } = (await person.api("GET", "/events?kind=new_release")).body as never as {
    items: { facts: Record<string, unknown> }[];
  };
  const told = items.map(({ facts: { tracker, channel, channel_type, version, previous_version } }) =>
    [tracker, channel, channel_type, version, previous_version].join(" "),
  );
  expect(told.toSorted()).toEqual(["db 16 stable 16.2 16.1", "db 17 stable 17.2 17.1"]);
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  for (const [line, id] of executors) {
    const { body } = await person.api("GET", `/executors/${id}`);
    expect(body).toMatchObject({ services: [{ channel: line, desired: { tag: `${line}.2` } }] });
  }
});

test("releases, versions and notes are of the channel asked for", async () => {
  const get = async (path: string) =>
    (await person.api("GET", path)).body as never as { items: { tag: string; version: string; channels: string[] }[] };
  const releases = await get("/trackers/db/releases?channel=17");
  expect(releases.items.map(({ tag, channels }) => [tag, channels])).toEqual([
    ["17.2", ["17"]],
    ["17.1", ["17"]],
  ]);
  expect((await get("/trackers/db/versions?channel=16")).items.map(({ version }) => version)).toEqual(["16.2", "16.1"]);
  expect((await person.api("GET", "/trackers/db/notes?channel=16")).body).toMatchObject({ to: "16.2" });
  // The list of trackers is by type: a name is one source's own.
  expect((await get("/trackers?channel=stable")).items).toHaveLength(2);
});

test("the history of a tracker counts the versions of each channel, and offers no filter where there is no choice", async () => {
  const countsOf = async (path: string) =>
    [...(await person.get(path)).text.matchAll(/>([^<]+)<span class="amount">(\d+)</g)].map(
      ([, ...counted]) => counted,
    );
  const counts = [
    ["Any channel", "4"],
    ["16", "2"],
    ["17", "2"],
  ];
  expect(await countsOf("/trackers/db")).toEqual(counts);
  expect(await countsOf("/trackers/db?channel=16")).toEqual(counts);
  expect(await countsOf("/trackers/one")).toEqual([]);
});

test.each([
  ["en", "16 (Stable)", "Stable"],
  ["zh", "16（稳定版）", "稳定版"],
])(
  "pages in %s show a channel's name, and its type's word where it has none of its own",
  async (language, title, word) => {
    const read = async (path: string) => (await person.get(path, { headers: { "accept-language": language } })).text;
    expect(plain(await read("/trackers/db"))).toContain(title);
    expect(optionsOf(await read(`/executors/${executors.get("16")}/edit`), "bindings.0.channel")).toEqual([
      ["16", title],
      ["17", title.replace("16", "17")],
    ]);
    expect(plain(await read(`/executors/${executors.get("16")}`))).toContain("db 16");
    expect(plain(await read("/trackers"))).toMatch(new RegExp(`${word}.* 16 16\\.2 17 17\\.2`));
  },
);

test("events say the channel's name, and those of before that had only a type its word", async () => {
  const facts = { tracker: "db", channel: "beta", version: "17.0", tag: "17.0", maturity: "beta" };
  await app.db.write((tx) =>
    tx.insert(events).values({ id: "old", kind: "new_release", tracker_id: null, facts, created_at: app.clock.now() }),
  );
  const words = plain((await person.get("/")).text);
  expect(words).toContain("New release db 16.1 16.2 16 12:00");
  expect(words).toContain("New release db 17.0 Beta");
});

test("the form refuses a second channel of one name at its field, and a word of another type", async () => {
  const refused = async (channel: Record<string, string>) => {
    const { status, text } = await person.post("/trackers", form("new-db", [{ type: "stable" }, channel]));
    return [status, plain(/id="f-sources-0-channels-1-name-error"[\s\S]*?<\/p>/.exec(text)?.[0] ?? "")];
  };
  expect(await refused({ type: "stable", name: "" })).toEqual([
    422,
    expect.stringContaining("already has a release channel &quot;stable&quot;; choose another name"),
  ]);
  expect(await refused({ type: "stable", name: "beta" })).toEqual([
    422,
    expect.stringContaining("Only channels of type beta can be named"),
  ]);
  expect(await refused({ type: "stable", name: "PG 16" })).toEqual([422, expect.stringContaining("lowercase letters")]);
});

test("the form adds a channel though every type is taken, and shows no name that is only the type's", async () => {
  const types = ["stable", "prerelease", "beta", "canary"].map((type) => ({ type }));
  const added = await person.post("/trackers", form("x", types, { _action: "add:sources.0.channels" }));
  expect(added.text).toMatch(/name="sources\.0\.channels\.4\.type"[\s\S]*?value="stable" selected/);
  expect(added.text).toMatch(/name="sources\.0\.channels\.4\.name" value=""/);
  const channels = [{ type: "beta" }, ...lines];
  expect((await person.post("/trackers/db/edit", form("db", channels))).status).toBe(303);
  const { text } = await person.get("/trackers/db/edit");
  const names = [...text.matchAll(/name="sources\.0\.channels\.\d\.name" value="([^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual(["", "16", "17"]);
  const { body } = await person.api("GET", "/trackers/db");
  expect(body).toMatchObject({
    sources: [
      {
        channels: [
          { name: "beta", type: "beta" },
          { name: "16", latest: { tag: "16.2" } },
          { name: "17", latest: { tag: "17.2" } },
        ],
      },
    ],
  });
});

test("a channel that an executor follows stays, and the refusal names it", async () => {
  const refused = await person.post("/trackers/db/edit", form("db", lines.slice(1)));
  expect(refused.status).toBe(409);
  expect(plain(refused.text)).toContain(
    "The release channel &quot;16&quot; of source &quot;main&quot; is used by executor",
  );
  const missing = await person.api("PATCH", `/executors/${executors.get("16")}`, {
    bindings: [{ tracker: "db", source: "main", channel: "18" }],
  });
  expect(missing).toMatchObject({
    status: 422,
    body: { error: { fields: { "bindings.0.channel": expect.stringMatching(/has the channels (beta, )?16, 17/) } } },
  });
});
