import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { contentSecurityPolicy } from "../../../src/http/middleware/security-headers.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

interface Away {
  pages: { opened: string; sent: string };
  headers: [string, string][];
  files: string[];
  script: string;
}

describe("the service worker below a base path", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ env: { BASE_URL: "https://tidemark.example/ops" } });
  });
  afterAll(() => app.close());

  const away = async (query = "", headers: Readonly<Record<string, string>> = {}) => {
    const response = await app.send(`/ops/sw.js${query}`, { headers });
    const text = await response.text();
    const [first = ""] = text.split("\n", 1);
    return { response, text, away: JSON.parse(first.slice("self.away = ".length, -1)) as Away };
  };

  test("is a script at the base path, whose folder is its scope, with the headers of every response", async () => {
    const { response } = await away();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(contentSecurityPolicy);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
    // Neither a wider scope than its folder, nor a cookie.
    expect(response.headers.get("service-worker-allowed")).toBeNull();
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("is named by every page, with the language and theme of its reader", async () => {
    const page = await app
      .browser()
      .get("/ops/login", { headers: { "accept-language": "zh-CN", cookie: "tidemark_theme=dark" } });
    expect(page.text).toMatch(/data-worker="\/ops\/sw.js\?language=zh&amp;theme=dark&amp;version=[0-9a-f]{16}"/);
  });

  test("is kept by browsers at the address that names its content, and at no other", async () => {
    const { text } = await app.browser().get("/ops/login");
    const address = /data-worker="\/ops\/sw.js([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    for (const [query, kept] of [
      [address, "public, max-age=31536000, immutable"],
      [address.replace("language=en", "language=zh"), "no-store"],
      [address.replace(/version=.{16}/, "version=0123456789abcdef"), "no-store"],
      [address.replace(/&version=.{16}/, ""), "no-store"],
    ] as const) {
      expect([query, (await away(query)).response.headers.get("cache-control")]).toEqual([query, kept]);
    }
    // Once a day a browser asks all the same.
    const etag = (await away(address)).response.headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await app.send(`/ops/sw.js${address}`, { headers })).status).toBe(304);
    const packed = await app.send(`/ops/sw.js${address}`, { headers: { "accept-encoding": "gzip" } });
    expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
  });

  test("brings its page in that language and theme, and names files that there are", async () => {
    const chinese = await away("?language=zh&theme=dark");
    for (const page of [chinese.away.pages.opened, chinese.away.pages.sent]) {
      expect(page).toStartWith('<!doctype html><html lang="zh-CN" data-theme="dark" data-base="/ops"');
      const loaded = [...page.matchAll(/(?:src|href)="(\/ops\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
      expect(loaded.toSorted()).toEqual(chinese.away.files.toSorted());
    }
    expect(chinese.away.files).toContain(chinese.away.script);
    for (const file of chinese.away.files) expect((await app.send(file)).status).toBe(200);
    const english = await away("?language=en&theme=light");
    expect(english.away.pages.opened).toStartWith('<!doctype html><html lang="en" data-theme="light"');
    expect(Object.fromEntries(english.away.headers)["Content-Security-Policy"]).toBe(contentSecurityPolicy);
  });

  test("offers to try again what was opened, never what was sent", async () => {
    const { pages } = (await away("?language=en&theme=system")).away;
    expect(pages.opened).toContain('data-away="opened"');
    expect(pages.opened).not.toContain("data-away-back");
    expect(pages.sent).toContain('data-away="sent"');
    expect(pages.sent).toContain("It is not known whether the action was carried out");
    for (const page of [pages.opened, pages.sent]) expect(page).not.toMatch(/<form|<script>|style=/);
  });

  test("is the same for one who is signed in", async () => {
    const person = await app.signedIn();
    const query = "?language=en&theme=system";
    expect((await person.get(`/ops/sw.js${query}`)).text).toBe((await away(query)).text);
  });
});
