import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

describe("every page", () => {
  test.each([
    "/account",
    "/account/password",
    "/account/tokens/new",
    "/settings",
    "/settings/audit",
    "/settings/audit?outcome=refused",
    "/notifiers",
    "/notifiers/new",
    "/credentials",
    "/credentials/new",
  ])("%s answers in both languages", async (path) => {
    for (const language of ["en", "zh-CN,zh;q=0.9,en;q=0.1"]) {
      const page = await person.get(path, { headers: { "accept-language": language } });
      expect(page.status).toBe(200);
      expect(page.text).toContain(language === "en" ? 'lang="en"' : 'lang="zh-CN"');
      expect(page.text).not.toMatch(/ (style|on\w+)="|undefined|\[object Object\]/);
    }
  });
});
