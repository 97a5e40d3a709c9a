import { afterEach, beforeEach, expect, test } from "bun:test";
import { snapshots } from "../../../src/db/tables.ts";
import type { RuntimeImages, UnusedImage } from "../../../src/runtimes/session.ts";
import { FakeEngine, fakeRuntime, fakeRuntimes } from "../../support/fake-runtime.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let unused: UnusedImage[];
/** How often the engine was asked. */
let asked: number;

const path = "/connections/connection-1/images";
const idOf = (letter: string) => `sha256:${letter.repeat(64)}`;

/** An image by the letter of its id. */
function image(letter: string, size: number, changes: Partial<UnusedImage> = {}): UnusedImage {
  return { id: idOf(letter), references: [], size_bytes: size, created_at: null, is_kept: false, ...changes };
}

beforeEach(async () => {
  asked = 0;
  unused = [
    image("a", 900, { references: ["app:1.0"], created_at: 3_000 }),
    image("b", 100, { references: ["other/thing:9"], is_kept: true, created_at: 1_000 }),
    image("c", 500, { references: ["app:0.9", "app:old"], created_at: 2_000 }),
    image("d", 700),
    image("e", 300, { references: ["elsewhere.test/unrelated:1"] }),
    image("f", 400, { references: ["app:0.8"], created_at: 4_000 }),
  ];
  const images: RuntimeImages = {
    keep: async () => undefined,
    findPresent: async (ids) => ids.filter((each) => unused.some(({ id }) => id === each)),
    listUnused: async () => {
      asked += 1;
      return unused;
    },
    remove: async (id) => {
      unused = unused.filter((each) => each.id !== id);
    },
  };
  const engine = new FakeEngine();
  const runtime = fakeRuntime(engine);
  const open = async (...parameters: Parameters<typeof runtime.open>) => ({
    ...(await runtime.open(...parameters)),
    images,
  });
  app = await testApp({ runtimes: { ...fakeRuntimes(engine), docker: { ...runtime, open } } });
  person = await app.signedIn();
  await addSurroundings(app);
  await app.db.client.execute(`update connections set config = '{"address":"fake://home"}'`);
  const { body } = await person.api("POST", "/executors", {
    name: "Web shop",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  const saved = { sealed_content: app.sealer.seal("{}"), size_bytes: 1, created_at: app.clock.now() };
  await app.db.write((tx) =>
    tx
      .insert(snapshots)
      .values({ ...saved, id: "s", executor_id: body.id ?? "", reference: "app:1.0", image_id: idOf("a") }),
  );
});
afterEach(() => app.close());

/** The letters of the rows, as they follow each other. */
const rowsOf = (text: string) => [...text.matchAll(/<tr id="image-sha256-(\w)/g)].map(([, letter]) => letter).join("");
const choicesOf = (text: string) =>
  [...text.matchAll(/class="choice"[^>]* value="sha256:(\w)/g)].map(([, letter]) => letter).join("");
const countsOf = (text: string) =>
  [...text.matchAll(/>([\w ]+)<span class="amount">(\d+)</g)].map(([, name, count]) => `${name} ${count}`);
const listed = async (query: string) => rowsOf((await person.get(`${path}?${query}`)).text);
const byApi = async (query: string) => {
  const { items } = (await person.api("GET", `/runtime-connections/connection-1/images?${query}`)).body as never as {
    items: { id: string }[];
  };
  return items.map(({ id }) => id.charAt(7)).join("");
};

test("unused images begin with what can be removed, the largest of each reason first, and count the reasons", async () => {
  const { text } = await person.get(path);
  expect(rowsOf(text)).toBe("bcfda");
  expect(choicesOf(text)).toBe("bcfd");
  expect(countsOf(text)).toEqual([
    "All 5",
    "Kept for a deleted snapshot 1",
    "Repository updated here 2",
    "No longer tagged 1",
    "Needed by a snapshot 1",
  ]);
  expect(asked).toBe(1);
  const { body } = await person.api("GET", "/runtime-connections/connection-1/images?reason=needed");
  expect(body).toMatchObject({
    items: [{ id: idOf("a"), reason: "needed", named_by: [{ snapshot_id: "s", executor: "Web shop" }] }],
    next_cursor: null,
    others: 1,
  });
});

test.each([
  ["sort=reference", "fcabd"],
  ["sort=-size", "adcfb"],
  ["sort=-time", "facbd"],
  ["reason=repository", "cf"],
  ["q=APP%3Aold", "c"],
  ["q=ddd", "d"],
  ["q=web+shop", "a"],
  ["q=app&sort=size", "fca"],
  ["reason=untagged&q=app", ""],
])("with %s they are %s", async (query, expected) => {
  expect(await listed(query)).toBe(expected);
  expect(await byApi(query.replace("q=", "search="))).toBe(expected);
});

test("the part that the page of the connection loads leads to an address with its filters, and is refreshed with them", async () => {
  const { text } = await person.get(`${path}?q=app&sort=-size`, { htmx: true });
  expect(text.startsWith('<section id="images">')).toBe(true);
  expect(text).toContain('hx-target="#images" hx-select="#images"');
  expect(text).toContain(`href="${path}?q=app&amp;sort=-size&amp;reason=repository#image-list"`);
  expect(text).toContain(`hx-get="${path}?q=app&amp;sort=-size" hx-target="#images"`);
  expect(text).toContain("5 images");
  expect(countsOf(text)).toEqual(["All 3", "Repository updated here 2", "Needed by a snapshot 1"]);
  const none = (await person.get(`${path}?q=nowhere`, { htmx: true })).text;
  expect(none).toContain("Nothing matches these filters");
  expect(none).toContain("5 images");
});

test("the question about selected images names them, and its answer leads back to the list as it was", async () => {
  const next = `${path}?q=app&sort=-size#image-list`;
  const asking = await person.post(`${path}/remove`, { row: [idOf("c"), idOf("a")], next, _action: "remove" });
  expect(asking.status).toBe(303);
  const question = await person.get(asking.location ?? "");
  expect(question.text).toContain("Remove 1 image?");
  expect(question.text).toContain('title="app:old"');
  const fields = Object.fromEntries(
    [...question.text.matchAll(/<input type="hidden" name="(images|next)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value?.replaceAll("&amp;", "&"),
    ]),
  ) as Record<string, string>;
  expect(fields).toEqual({ images: idOf("c"), next });
  const done = await person.post(`${path}/remove/confirmed`, fields);
  expect([done.status, done.location]).toEqual([303, next]);
  expect(unused.map(({ id }) => id.charAt(7)).join("")).toBe("abdef");
  // Somebody confirmed it in another tab: it is gone, as was wanted.
  const again = await person.post(`${path}/remove/confirmed`, fields);
  const { text } = await person.get(again.location ?? "");
  expect(text).toContain("Removed 1 image");
  expect(text).not.toContain("not be removed");
});

test("all that match are those of the filters which can be removed, and nothing else is", async () => {
  for (let count = 0; count < 60; count++) {
    unused.push(image("0", count, { id: `sha256:${String(count).padStart(64, "0")}`, references: [`app:n${count}`] }));
  }
  const { text } = await person.get(`${path}?q=app`);
  expect(text).toContain("All 62 that match");
  const asking = await person.post(`${path}/remove`, { all: "1", row: [idOf("c")], next: `${path}?q=app` });
  const question = await person.get(asking.location ?? "");
  expect(question.text).toContain("Remove 62 images?");
  expect(question.text).not.toContain(idOf("a"));
  expect(question.text).not.toContain(idOf("d"));
  expect((await person.get(`${path}?reason=needed`)).text).not.toContain("selection-bar");
});

test("whoever selects nothing, or comes from elsewhere, is led to the list", async () => {
  const asking = await person.post(`${path}/remove`, { next: "https://elsewhere.example.org/" });
  const question = await person.get(asking.location ?? "");
  expect(question.text).toContain("Select at least one image");
  expect(question.text).toContain(`href="${path}"`);
});
