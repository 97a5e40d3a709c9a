import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { contentSecurityPolicy } from "../../../src/http/middleware/security-headers.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

describe("what stands in for a server that does not respond, below a base path", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ env: { BASE_URL: "https://tidemark.example/ops" } });
  });
  afterAll(() => app.close());

  const named = async (headers: Readonly<Record<string, string>> = {}) => {
    const { text } = await app.browser().get("/ops/login", { headers });
    const values = ["worker", "kept"].map((name) => new RegExp(` data-${name}="([^"]+)`).exec(text)?.[1] ?? "");
    const [worker = "", kept = ""] = values.map((value) => value.replaceAll("&amp;", "&"));
    return { worker, kept: kept.split(" ") };
  };
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await app.send(path, { headers });
    return { response, text: await response.text() };
  };

  test("the worker is a script at the base path, whose folder is its scope, with the headers of every response", async () => {
    const { response } = await read("/ops/sw.js");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(contentSecurityPolicy);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
    // Neither a wider scope than its folder, nor a cookie.
    expect(response.headers.get("service-worker-allowed")).toBeNull();
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("the worker is one for everybody: a language or theme must not replace it while a page is on its way", async () => {
    const first = await named();
    const second = await named({ "accept-language": "zh-CN", cookie: "tidemark_theme=dark" });
    expect(first.worker).toMatch(/^\/ops\/sw.js\?version=[0-9a-f]{16}$/);
    expect(second.worker).toBe(first.worker);
    expect((await read(first.worker)).text).toBe((await read(second.worker)).text);
    expect(first.kept).not.toEqual(second.kept);
  });

  test("is kept by browsers at the addresses that name its content, and at no other", async () => {
    const { worker, kept } = await named();
    const [opened = "", sent = ""] = kept;
    for (const address of [worker, opened, sent]) {
      for (const [asked, control] of [
        [address, "public, max-age=31536000, immutable"],
        [address.replace(/version=.{16}/, "version=0123456789abcdef"), "no-store"],
        [address.replace(/.version=.{16}/, ""), "no-store"],
      ] as const) {
        expect([asked, (await read(asked)).response.headers.get("cache-control")]).toEqual([asked, control]);
      }
      const etag = (await read(address)).response.headers.get("etag") ?? "";
      expect((await app.send(address, { headers: { "if-none-match": etag } })).status).toBe(304);
      const packed = await app.send(address, { headers: { "accept-encoding": "gzip" } });
      expect(packed.headers.get("content-encoding")).toBe("gzip");
      expect(packed.headers.get("vary")).toStartWith("Accept-Encoding");
    }
    const other = opened.replace("language=en", "language=zh");
    expect((await read(other)).response.headers.get("cache-control")).toBe("no-store");
  });

  test("speaks the language and wears the theme of the page that names it, and loads what that page names", async () => {
    const chinese = await named({ "accept-language": "zh-CN", cookie: "tidemark_theme=dark" });
    for (const address of chinese.kept.slice(0, 2)) {
      const { response, text } = await read(address);
      const packed = await app.send(address, { headers: { "accept-encoding": "gzip" } });
      expect(Buffer.from(Bun.gunzipSync(await packed.arrayBuffer())).toString()).toBe(text);
      expect(text).toStartWith('<!doctype html><html lang="zh-CN" data-theme="dark" data-base="/ops"');
      const loaded = [...text.matchAll(/(?:src|href)="(\/ops\/assets\/[^"]+)\?kept"/g)].map(([, path]) => path ?? "");
      expect(loaded.toSorted()).toEqual(chinese.kept.slice(2).toSorted());
      expect(response.headers.get("content-security-policy")).toBe(contentSecurityPolicy);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    const { worker, kept } = await named();
    for (const address of kept) expect((await read(address)).response.status).toBe(200);
    expect((await read(kept[0] ?? "")).text).toStartWith('<!doctype html><html lang="en" data-base="/ops"');
    // A file of the stand-ins: what asks whether the server is back.
    const script = /self\.away = \{ script: "([^"]+)" \}/.exec((await read(worker)).text)?.[1] ?? "";
    expect(kept).toContain(script);
  });

  test("offers to try again what was opened, never what was sent", async () => {
    const [opened, sent] = await Promise.all(["opened", "sent"].map(async (what) => await read(`/ops/away/${what}`)));
    expect(opened?.text).toContain('data-away="opened"');
    expect(opened?.text).not.toContain("data-away-back");
    expect(sent?.text).toContain('data-away="sent"');
    expect(sent?.text).toContain("It is not known whether the action was carried out");
    for (const page of [opened, sent]) expect(page?.text).not.toMatch(/<form|<script>|style=/);
    expect((await read("/ops/away/nothing")).response.status).not.toBe(200);
  });

  test("is the same for one who is signed in", async () => {
    const person = await app.signedIn();
    for (const path of ["/ops/sw.js", "/ops/away/opened?language=en&theme=system"]) {
      expect((await person.get(path)).text).toBe((await read(path)).text);
    }
  });
});
