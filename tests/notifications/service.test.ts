import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inEnglish, say } from "../../src/messages/message.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const input = { name: "chat", url: "https://hooks.example.org/x", language: "en", trigger_events: ["new_release"] };
const blocked = async () =>
  (await app.services.audit_entries.list({ event: "destination_blocked" })).items.map(({ actor, outcome, detail }) => ({
    actor,
    outcome,
    detail,
  }));

describe("a webhook's address that is refused when it is saved", () => {
  test.each([
    ["http://10.0.0.1/token-1234567", "10.0.0.1:80"],
    ["http://169.254.169.254/token-1234567", null],
    ["http://a.local/token-1234567", "a.local:80"],
  ])("stores nothing and leaves an entry without the path: %s", async (url, entry) => {
    const said = say("net.destination_blocked", { entry });
    const before = await blocked();
    const answer = await person.api("POST", "/notifiers", { ...input, url });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: { fields: { url: inEnglish(said) } } });
    const entries = await blocked();
    expect(entries).toHaveLength(before.length + 1);
    const detail = { reason: inEnglish(said), reason_data: said, notifier: "chat" };
    expect(entries[0]).toEqual({ actor: "admin", outcome: "refused", detail });
    expect((await app.services.notifications.list({})).items).toEqual([]);
    const page = await person.get("/settings/audit", { headers: { "accept-language": "zh" } });
    expect(page.text).toMatch(/原因：目标地址已被拦截.* · 通知：chat/);
  });

  test("does the same at an edit, and keeps what is stored", async () => {
    const created = await person.api("POST", "/notifiers", { ...input, name: "kept" });
    const before = await blocked();
    const path = `/notifiers/${String(created.body.id)}`;
    expect((await person.api("PATCH", path, { url: "http://127.0.0.1/" })).status).toBe(422);
    expect(await blocked()).toHaveLength(before.length + 1);
    expect((await person.api("GET", path)).body).toMatchObject({ destination: "hooks.example.org" });
  });
});
