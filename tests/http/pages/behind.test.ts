import { afterAll, beforeAll, expect, test } from "bun:test";
import { installation } from "../../stats/installation.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let paths: readonly string[];
const behind = { releases: 5, steps: { major: 0, minor: 1, patch: 3 }, days: 51, is_at_least: true };
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  const world = installation(app.db, app.clock);
  await world.connection();
  const bound = await world.tracker("web");
  const id = await world.executor({ name: "web", difference: "other_version", behind, ...bound });
  paths = ["/", "/trackers", "/trackers/web", "/executors", `/executors/${id}`];
});
afterAll(() => app.close());

test("every page that shows an update says how far behind it is, in both languages", async () => {
  for (const path of paths) {
    const english = await person.get(path);
    expect([path, english.text.includes("at least 1 minor, 3 patches")]).toEqual([path, true]);
    expect([path, english.text.includes("published 51 days apart")]).toEqual([path, true]);
    const chinese = await person.get(path, { headers: { "accept-language": "zh" } });
    expect([path, chinese.text.includes("至少 1 个次版本、3 个补丁")]).toEqual([path, true]);
  }
});
