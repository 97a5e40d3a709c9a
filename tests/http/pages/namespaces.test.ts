import { afterAll, beforeAll, expect, test } from "bun:test";
import { plain } from "../../../src/messages/message.ts";
import { untoldSettings } from "../../../src/runtimes/target.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

const engine = new FakeEngine();
let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let connection: string;
beforeAll(async () => {
  for (const id of ["shop/web", "blog/web", "shop/api"]) engine.add(id, "registry.test/app:1.0", digest("a"));
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  const input = { name: "Home", kind: "docker", config: { address: "fake://home" } };
  connection = String((await person.api("POST", "/runtime-connections", input)).body.id);
});
afterAll(() => app.close());

/** The texts of `<b>`, headings and row headings of a page, in order. */
const order = (html: string, names: readonly string[]) =>
  names.toSorted((a, b) => html.indexOf(`>${a}`) - html.indexOf(`>${b}`));

test("targets without namespaces are one list", async () => {
  const { text } = await person.get(`/connections/${connection}/targets`);
  expect(text).not.toContain("group-heading");
  expect(text).toContain("linux/amd64");
  const form = (await person.get(`/executors/new?connection=${connection}`)).text;
  expect(form.split('<ul class="targets">')).toHaveLength(2);
  expect(form).not.toContain('class="target-group"');
});

test("targets of namespaces are listed below them, by their short names", async () => {
  engine.namespaceOf = (id) => id.split("/")[0] ?? null;
  const { text } = await person.get(`/connections/${connection}/targets`);
  expect(text.match(/scope="rowgroup"/g)).toHaveLength(2);
  expect(order(text, ["shop <span", "blog <span"])).toEqual(["blog <span", "shop <span"]);
  expect(text).toMatch(/<th[^>]* title="api"><span class="clip">api</);
  expect(text).not.toContain("linux/amd64");
  expect(text).not.toContain("Managed by");
  const form = await person.get(`/executors/new?connection=${connection}`);
  expect(form.text.match(/class="target-group"/g)).toHaveLength(2);
  expect(form.text).toContain("<b>api</b>");
});

test("a chosen target has its full name", async () => {
  const query = new URLSearchParams({ connection, kind: "container", target: "shop/api" });
  const { text } = await person.get(`/executors/new?${query}`);
  expect(text).toContain("<b>shop/api</b>");
});

test("an owner and the runtime's own words for a state are shown, and the owner once", async () => {
  engine.ownerOf = (id) => (id === "shop/web" ? 'Helm "shop"' : null);
  engine.warnings = [{ code: untoldSettings, message: plain('It is managed by Helm "shop"') }];
  const { text } = await person.get(`/connections/${connection}/targets`);
  const row = /<tr id="target-container-shop\/web".*?<\/tr>/s.exec(text)?.[0] ?? "";
  expect(text).toContain("Managed by");
  expect(row.split("Helm &quot;shop&quot;")).toHaveLength(2);
  expect(row).toContain("2 of 3 ready");
  expect(row).toContain("may revert");
  const { body } = await person.api("GET", `/runtime-connections/${connection}/targets`);
  const items = body.items as unknown as {
    id: string;
    namespace: string;
    owner: string | null;
    condition: string | null;
  }[];
  const web = items.find(({ id }) => id === "shop/web");
  expect(web).toMatchObject({ namespace: "shop", owner: 'Helm "shop"', condition: "2 of 3 ready" });
});
