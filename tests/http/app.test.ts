import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/test-app.ts";

const baseUrl = "https://tidemark.example/ops/tide";

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

describe("cookies of pages", () => {
  test.each([
    [baseUrl, "Path=/ops/tide", true],
    ["http://tidemark.example", "Path=/", false],
  ])("below %s are kept as the session's is", async (url, path, isSecure) => {
    const other = await testApp({ env: { BASE_URL: url } });
    const someone = other.browser();
    const answers = [await someone.post("/preferences", { language: "zh" }), await someone.post("/logout")];
    const lines = answers.flatMap((answer) => answer.headers.getSetCookie());
    const names = lines.map((line) => line.split("=")[0]);
    expect(names).toContain("tidemark_language");
    expect(names).toContain("tidemark_notice");
    for (const line of lines) {
      const attributes = line.split("; ");
      expect(attributes).toContain(path);
      expect(attributes.includes("Secure")).toBe(isSecure);
    }
    await other.close();
  });

  test("are taken away where they were kept", async () => {
    const other = await testApp({ env: { BASE_URL: baseUrl } });
    const someone = other.browser();
    await someone.post("/logout");
    const page = await someone.get("/login");
    expect(page.text).toContain("Signed out");
    const line = page.headers.getSetCookie().find((each) => each.startsWith("tidemark_notice="));
    expect(line).toContain("Path=/ops/tide");
    expect((await someone.get("/login")).text).not.toContain("Signed out");
    await other.close();
  });
});

describe("POST /preferences", () => {
  test.each([["application/json"], ["multipart/form-data; boundary=x"], ["text/plain"]])(
    "answers 400 to a body that is no form, sent as %s",
    async (type) => {
      const headers = { "content-type": type, origin: app.origin };
      const answer = await app.send("/preferences", { method: "POST", headers, body: "language=zh" });
      expect(answer.status).toBe(400);
    },
  );
});
