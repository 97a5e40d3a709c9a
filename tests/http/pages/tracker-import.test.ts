import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterEach(() => app.close());

const text = "services:\n  web: { image: 'nginx:1.27.3-alpine' }\n  app: { image: 'ghcr.io/acme/app:2.0.0' }\n";

const names = async () => (await app.services.trackers.list({})).items.map(({ name }) => name);

describe("the page that imports trackers", () => {
  test("shows what a text would give and creates nothing", async () => {
    const shown = await person.post("/trackers/import", { format: "auto", text });
    expect(shown.status).toBe(200);
    for (const words of [
      "2 trackers found",
      "nginx",
      "nginx:1.27.3-alpine",
      "ghcr.io/acme/app:2.0.0",
      "Keeps alpine",
    ]) {
      expect(shown.text).toContain(words);
    }
    expect(await names()).toEqual([]);
  });

  test("creates those that are chosen, and says of the others that they are there", async () => {
    const created = await person.post("/trackers/import", { format: "auto", text, _action: "create", chosen: "nginx" });
    expect([created.status, created.location]).toEqual([303, "/trackers"]);
    expect(await names()).toEqual(["nginx"]);
    const again = await person.post("/trackers/import", { format: "auto", text });
    expect(again.text).toContain("Already tracked as nginx");
    const none = await person.post("/trackers/import", { format: "auto", text, _action: "create", chosen: "nginx" });
    expect(none.status).toBe(422);
    expect(none.text).toContain("Select at least one tracker");
    expect(none.text).toContain("acme/app");
  });

  test("follows a name that moves, or numbered versions of the same variant where that is chosen", async () => {
    const moving = "services: { web: { image: 'nginx:alpine' }, other: { image: 'caddy:alpine' } }";
    const shown = await person.post("/trackers/import", { format: "auto", text: moving });
    expect(shown.text).toContain("Follows the tag alpine");
    const created = await person.post("/trackers/import", {
      format: "auto",
      text: moving,
      _action: "create",
      chosen: ["nginx", "caddy"],
      by_version: "nginx",
    });
    expect(created.status).toBe(303);
    const patterns = async (name: string) =>
      (await app.services.trackers.get(name)).sources[0]?.channels.map(({ include_pattern }) => include_pattern);
    expect(await patterns("caddy")).toEqual(["^alpine$"]);
    expect(await patterns("nginx")).toEqual(["^v?\\d+(\\.\\d+)+-alpine$"]);
  });

  test("asks for the values that a compose file leaves to its .env file, and takes nothing before they are there", async () => {
    const open = "services: { vault: { image: 'vaultwarden/server:$VW_TAG' }, db: { image: 'postgres:alpine' } }";
    const asked = await person.post("/trackers/import", { format: "auto", text: open, variables: "A=1" });
    expect(asked.text).toContain("A=1\nVW_TAG=</textarea>");
    expect(asked.text).toContain("The tag comes from VW_TAG");
    expect(asked.text).toContain("moves on to the next major version");
    expect(asked.text).not.toMatch(/name="chosen" value="[a-z]+" checked/);
    const known = await person.post("/trackers/import", { format: "auto", text: open, variables: "VW_TAG=1.32.5" });
    expect(known.text).toContain("vaultwarden/server:1.32.5");
    expect(known.text).toMatch(/name="chosen" value="server" checked/);
  });

  test("brings a text that cannot be read back with a sentence", async () => {
    const refused = await person.post("/trackers/import", { format: "auto", text: "kind: <Pod>\n" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("kind: &lt;Pod&gt;");
    expect(refused.text).toContain("Paste a compose file, a list of image references");
  });

  test("speaks Chinese", async () => {
    await person.post("/preferences", { language: "zh", next: "/trackers/import" });
    const page = await person.get("/trackers/import");
    expect(page.text).toContain("导入追踪器");
  });
});

test("the API proposes the same without creating anything", async () => {
  const answer = await person.api("POST", "/tracker-proposals", { text });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    format: "compose",
    proposals: [{ name: "nginx" }, { name: "app" }],
    skipped: [],
  });
  expect(await names()).toEqual([]);
});
