import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let id: string;

beforeAll(async () => {
  app = await testApp({ runtimes: fakeRuntimes(new FakeEngine()) });
  person = await app.signedIn();
  await addSurroundings(app);
  const made = await person.api("POST", "/executors", {
    name: "web",
    connection_id: "connection-1",
    target: { kind: "container", id: "front" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "immediate",
  });
  id = String(made.body.id);
});
afterAll(() => app.close());

const palette = async (q: string, headers: Record<string, string> = {}) =>
  (await person.get(`/search/palette?q=${encodeURIComponent(q)}`, { htmx: true, headers })).text;
/** The entries: their words, and where those that are links lead. */
const entriesOf = (html: string) =>
  [...html.matchAll(/<(a|button)[^>]*role="option"[^>]*>.*?<\/\1>/gs)].map(([all]) => ({
    words: all
      .replace(/<svg.*?<\/svg>/gs, "")
      .replaceAll(/<[^>]+>/g, " ")
      .trim()
      .split(/\s+/)
      .join(" "),
    href: / href="([^"]+)"/.exec(all)?.[1] ?? null,
  }));
const wordsOf = async (q: string) => entriesOf(await palette(q)).map(({ words }) => words);

describe("the palette", () => {
  test("without a query offers what is about no single thing, and tells how much that is", async () => {
    const html = await palette("");
    const entries = entriesOf(html);
    const words = entries.map((entry) => entry.words);
    expect(words).toEqual(
      expect.arrayContaining(["Add tracker", "Add connection", "Check all trackers", "Use the dark theme", "Sign out"]),
    );
    expect(words).toContain("Go to Security keys");
    expect(words).toContain("Update all safe");
    expect(html).toContain(`>${entries.length} results<`);
  });

  test("leads only to pages that are there, and changes nothing by getting them", async () => {
    for (const { href } of entriesOf((await palette("")) + (await palette("web")) + (await palette("app")))) {
      if (href === null) continue;
      expect([href, (await person.get(href.replaceAll("&amp;", "&"))).status]).toEqual([href, 200]);
    }
  });

  test("sends what changes something with the form token, and comes back to the open page", async () => {
    const html = await palette("hold web", { "hx-current-url": `${app.origin}/runs?state=failed` });
    const form = /<form id="palette-0-0-form" method="post" action="([^"]+)" hidden.*?<\/form>/s.exec(html);
    expect(form?.[1]).toBe(`/executors/${id}/actions`);
    expect(form?.[0]).toMatch(/name="csrf_token" value="[^"]+"/);
    expect(form?.[0]).toContain('name="next" value="/runs?state=failed"');
  });

  test("finds things first, then what their state calls for", async () => {
    const words = await wordsOf("web");
    expect(words[0]).toBe("web");
    expect(words).toEqual(expect.arrayContaining(["Hold updates web", "Logs web", "Edit executor web"]));
    expect(words).not.toContain("Resume updates web");
    await person.post(`/executors/${id}/actions`, { action: "hold" });
    const held = await wordsOf("web");
    expect(held).toContain("Resume updates web");
    expect(held).not.toContain("Hold updates web");
    await person.post(`/executors/${id}/actions`, { action: "resume" });
  });

  test.each(["hold web", "web hold"])("understands %p as a command about a thing", async (query) => {
    expect((await wordsOf(query))[0]).toBe("Hold updates web");
  });

  test("finds commands by any of their words, and says when there is nothing", async () => {
    expect(await wordsOf("tracker add")).toContain("Add tracker");
    const none = await palette("zzz");
    expect(entriesOf(none)).toEqual([]);
    expect(none).toContain("No results");
  });

  test("speaks Chinese and takes any query as text", async () => {
    const chinese = await palette("追踪器", { "accept-language": "zh" });
    expect(entriesOf(chinese).map(({ words }) => words)).toContain("添加追踪器");
    expect(await palette(`"><script>x`)).not.toContain("<script>");
  });
});

test("the search page lists the same without script", async () => {
  const { text } = await person.get("/search?q=web");
  for (const action of ["Hold updates", "Logs", "Edit executor"]) expect(text).toContain(`<span>${action}</span>`);
  expect((await person.get("/search?q=add")).text).toContain("<span>Add tracker</span>");
  expect((await person.get("/search")).text).toContain("<span>Check all trackers</span>");
});

test("every row of the search page has its commands, the palette those of the first", async () => {
  const names = ["north", "east", "south", "west"].map((name) => `${name}-branch`);
  for (const name of names) {
    const sources = [
      { key: "main", kind: "oci", config: { image: `registry.test/${name}` }, channels: [{ type: "stable" }] },
    ];
    expect((await person.api("POST", "/trackers", { name, sources })).status).toBe(201);
  }
  const { text } = await person.get("/search?q=branch");
  for (const name of names) expect(text).toContain(`Commands for ${name}`);
  const words = (await wordsOf("branch")).filter((entry) => entry.startsWith("Edit tracker"));
  expect(words).toHaveLength(3);
});
