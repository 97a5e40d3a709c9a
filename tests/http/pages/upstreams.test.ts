import { afterEach, beforeEach, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterEach(() => app.close());

test("the page of upstreams teaches while there is none", async () => {
  expect((await person.get("/upstreams")).text).toContain("No trackers checked yet");
});

test("upstreams are told with what is asked of them in an hour", async () => {
  const source = { key: "main", kind: "oci", config: { image: "registry.test:5000/acme/app" } };
  const input = { name: "app", check_interval_minutes: 30, sources: [{ ...source, channels: [{ type: "stable" }] }] };
  expect((await person.api("POST", "/trackers", input)).status).toBe(201);
  const { body } = await person.api("GET", "/upstreams");
  expect(body.items).toMatchObject([
    {
      host: "registry.test:5000",
      credential_id: null,
      sources: 1,
      requests_per_hour: 4,
      quota_per_hour: 0,
      hourly_limit: null,
    },
  ]);
  const page = await person.get("/upstreams");
  expect(page.text).toContain("registry.test:5000");
  expect(page.text).toContain("limit unknown");
});
