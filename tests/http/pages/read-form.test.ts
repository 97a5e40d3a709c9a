import { afterAll, beforeAll, expect, test } from "bun:test";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const repeated = (count: number) => ({ a: Array.from({ length: count }, () => "") });

test("a form of a thousand fields is read", async () => {
  const person = await app.signedIn();
  const saved = await person.post("/settings", {
    timezone: "Asia/Tokyo",
    log_level: "info",
    version_history_count: "7",
    snapshot_history_count: "8",
    ...repeated(1_000),
  });
  expect(saved.location).toBe("/settings");
  expect(app.services.settings.current().timezone).toBe("Asia/Tokyo");
});

test.each(["/settings", "/trackers/import", "/notifiers", "/account/password"])(
  "POST %s refuses more fields than any form of ours has",
  async (path) => {
    const person = await app.browser();
    await person.post("/login", { username: "admin", password: goodPassword });
    const answer = await person.post(path, repeated(2_001), { headers: { "accept-language": "zh" } });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("表单的字段超过 2000 个");
  },
);

test("POST /login refuses them from strangers too", async () => {
  const answer = await app.browser().post("/login", { username: "admin", password: goodPassword, ...repeated(2_001) });
  expect(answer.status).toBe(413);
});
