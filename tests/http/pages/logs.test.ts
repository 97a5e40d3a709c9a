import { afterEach, beforeEach, expect, test } from "bun:test";
import { connections } from "../../../src/db/tables.ts";
import { PluginError } from "../../../src/errors.ts";
import { plain } from "../../../src/messages/message.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let engine: FakeEngine;
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let path: string;

beforeEach(async () => {
  engine = new FakeEngine();
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  await addSurroundings(app);
  engine.add("shop-web-1", "registry.test/app:1.0", null, { project: "shop", service: "web" });
  engine.add("shop-db-1", "registry.test/app:1.0", null, { project: "shop", service: "db" });
  const { body } = await person.api("POST", "/executors", {
    name: "shop",
    connection_id: "connection-1",
    target: { kind: "compose", id: "shop" },
    bindings: [{ service: "web", tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  path = `/executors/${body.id}/logs`;
});
afterEach(() => app.close());

test("the page shows the last lines of each container with its service, escaped, and works without a script", async () => {
  engine.logOf = (name) => [{ at: "2026-01-05T11:59:59.500000000Z", text: `<b>${name}</b>` }];
  const { text, status } = await person.get(`${path}?lines=7`);
  expect(status).toBe(200);
  expect(text).toContain("web · shop-web-1");
  expect(text).toContain("<span>&lt;b&gt;shop-db-1&lt;/b&gt;</span>");
  expect(text).toContain('<option value="7" selected');
  expect(text).toContain("Nothing is stored");
  expect(text).toMatch(/data-stream="\/executors\/[^"]+\/logs\/stream\?lines=7"/);
  expect(text).toContain(`href="${path}?lines=7"`);
  expect(text).toContain("/assets/logs.");
});

test("containers can be chosen, also when none of them could be read", async () => {
  const one = await person.get(`${path}?container=shop-web-1`);
  expect(one.text).toContain("shop-web-1 runs");
  expect(one.text).not.toContain("shop-db-1 runs");
  expect(one.text).toContain('value="shop-db-1"');
  engine.isUnreachable = true;
  const failed = await person.get(`${path}?container=shop-web-1&container=shop-db-1`);
  expect([failed.status, failed.text.includes("The logs could not be read")]).toEqual([200, true]);
  for (const name of ["shop-web-1", "shop-db-1"]) expect(failed.text).toContain(`value="${name}" checked`);
});

test("a page that could read nothing begins by itself once the logs can be read, and until then does not call them empty", async () => {
  engine.isUnreachable = true;
  const { text } = await person.get(path);
  expect(text).toContain("Tidemark tries again every 10 seconds");
  expect(text).toContain("data-again");
  expect(text).toMatch(/data-stream="\/executors\/[^"]+\/logs\/stream\?lines=200" data-after=""/);
  expect(text).not.toContain("The target has no containers");
  await app.db.write((tx) => tx.update(connections).set({ is_enabled: false }));
  const disabled = await person.get(path);
  expect(disabled.text).toContain("The logs could not be read");
  expect(disabled.text).not.toMatch(/data-again|data-stream/);
});

test("a log that is refused is told, never shown as empty", async () => {
  engine.failures.set("log shop-db-1", new PluginError("unauthorized", plain("Not for you")));
  const { text } = await person.get(path);
  expect(text).toContain("Not for you");
  expect(text).toContain("shop-web-1 runs");
});

test("the stream sends states and new lines from its marks on, and its links lead to the page", async () => {
  engine.logOf = (name) => [{ at: "2026-01-05T11:59:59.500000000Z", text: `${name} one` }];
  const page = await person.get(`${path}?container=shop-web-1`);
  const after = /data-after="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  engine.logOf = (name) => [
    { at: "2026-01-05T11:59:59.500000000Z", text: `${name} one` },
    { at: "2026-01-05T11:59:59.500000000Z", text: `${name} two` },
  ];
  const stream = `${path}/stream?containers=shop-web-1&after=${encodeURIComponent(after)}`;
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const response = await app.send(stream, { headers: { cookie } });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = response.body?.getReader();
  let received = "";
  while (!received.includes("shop-web-1 two")) {
    const { value, done } = await app.clock.runUntil(reader?.read() ?? Promise.reject(new Error("No body")));
    if (done) break;
    received += new TextDecoder().decode(value);
  }
  await reader?.cancel();
  expect(received).toContain("shop-web-1 two");
  expect(received).toContain('id="log-parts"');
  expect(received).not.toContain("shop-web-1 one");
  expect(received).not.toContain("shop-db-1 one");
  // All that can be chosen, for a page that could not say.
  const boxes = received.match(/name="container" value="[^"]+"( checked)?/g);
  expect(boxes).toEqual(['name="container" value="shop-web-1" checked', 'name="container" value="shop-db-1"']);
  expect(received).toMatch(/^id: shop-web-1=2026-01-05T11%3A59%3A59\.500000000Z\*2\*[0-9a-f]{8}$/m);
});

test("the API answers the same lines, and who may only read may read them", async () => {
  const { body, status } = await person.api("GET", `${path}?containers=shop-web-1&lines=1`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    executor: { name: "shop" },
    containers: [{ name: "shop-web-1", lines: [{ text: "shop-web-1 runs" }] }],
    more_containers: 0,
  });
  engine.isUnreachable = true;
  expect((await person.api("GET", path)).status).toBe(424);
});
