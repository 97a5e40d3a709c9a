import { afterAll, beforeAll, expect, test } from "bun:test";
import { addImage, emptyContent, type StandIn, serve, standIn } from "../../sources/oci/stand-in-registry.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

/** A project that patches an older line, sorted by publish time: its latest is not its newest. */
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let registry: StandIn;
const content = emptyContent();
const publish = (tag: string, day: number) => addImage(content, tag, { created: `2026-01-0${day}T08:00:00Z` });

beforeAll(async () => {
  registry = standIn((request, url) => serve(content, "acme/app", request, url));
  app = await testApp({});
  person = await app.signedIn();
  publish("16.11", 1);
  publish("18.1", 2);
  publish("16.12", 3);
  const saved = await person.post("/trackers", {
    name: "db",
    is_enabled: "on",
    sorting: "publish_time",
    "sources.0.key": "main",
    "sources.0.kind": "oci",
    "sources.0.config.image": "acme/app",
    "sources.0.config.registry": registry.url,
    "sources.0.channels.0.type": "stable",
  });
  expect([saved.status, saved.text]).toEqual([303, ""]);
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
});
afterAll(async () => {
  await app.close();
  await registry.stop();
});

const plain = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

test.each([
  ["en", "16.12 Older line newest is still 18.1", "Stable · older line"],
  ["zh-CN", "16.12 旧版本线 最新版本仍是 18.1", "稳定版 · 旧版本线"],
])(
  "the list, the page and the history of a tracker say that its latest is of an older line (%s)",
  async (language, latest, pill) => {
    const headers = { "accept-language": language };
    expect(plain((await person.get("/trackers", { headers })).text)).toContain(latest);
    const page = plain((await person.get("/trackers/db", { headers })).text);
    expect(page).toContain(latest);
    expect(page).toContain(pill);
  },
);

test("the API says it too", async () => {
  const remark = { code: "older_line", params: { newest: "18.1" } };
  expect((await person.api("GET", "/trackers/db")).body).toMatchObject({
    sources: [{ channels: [{ latest: { tag: "16.12", remark } }] }],
  });
  const { items } = (await person.api("GET", "/trackers/db/releases")).body as unknown as {
    items: { tag: string; remark: unknown }[];
  };
  expect(items.map(({ tag, remark }) => [tag, remark])).toEqual([
    ["16.12", remark],
    ["18.1", null],
    ["16.11", null],
  ]);
});
