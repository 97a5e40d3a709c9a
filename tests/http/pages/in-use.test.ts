import { afterAll, beforeAll, expect, test } from "bun:test";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
});
afterAll(() => app.close());

const chinese = { headers: { "accept-language": "zh" } };

test("why a credential in use stays is told in the page's language", async () => {
  const credential = await person.api("POST", "/credentials", {
    name: "forge",
    kind: "github",
    secret: { token: "ghp_token-of-the-tests" },
  });
  const id = String(credential.body.id);
  for (const name of ["first", "second"]) {
    await person.api("POST", "/trackers", {
      name,
      is_enabled: false,
      sources: [
        {
          key: "git",
          kind: "github",
          config: { repository: "a/b" },
          credential_id: id,
          channels: [{ type: "stable" }],
        },
      ],
    });
  }
  const { text } = await person.get(`/credentials/${id}/delete`);
  expect(text).toMatch(/href="\/trackers\/first"[\s\S]*href="\/trackers\/second"/);
  const refused = await person.post(`/credentials/${id}/delete`, {}, chinese);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("凭据“forge”正被追踪器“first”、追踪器“second”使用");
});

test("why a tracker in use stays is told in the page's language", async () => {
  const { body } = await person.api("POST", "/executors", {
    name: "website",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  expect((await person.get("/trackers/app/delete")).text).toContain(`href="/executors/${body.id}"`);
  const refused = await person.post("/trackers/app/delete", {}, chinese);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("追踪器“app”正被执行器“website”使用");
});
