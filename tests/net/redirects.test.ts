import { describe, expect, test } from "bun:test";
import { type Hop, nextHop } from "../../src/net/redirects.ts";

const hop = (url: string, more: Partial<Hop> = {}): Hop => ({
  url: new URL(url),
  method: "GET",
  headers: new Headers({ authorization: "Bearer t", accept: "*/*", "content-type": "text/plain" }),
  body: null,
  credential_id: "c1",
  ...more,
});

describe("nextHop()", () => {
  test.each([
    ["/b?c", "https://a.example.test/b?c", "c1"],
    ["b", "https://a.example.test/x/b", "c1"],
    ["https://a.example.test./b", "https://a.example.test/b", "c1"],
    ["//b.example.test/y", "https://b.example.test/y", null],
    ["https://a.example.test:8443/", "https://a.example.test:8443/", null],
    ["https://a.example.test:443/#part", "https://a.example.test/", "c1"],
  ])("goes to %p as %s, with the credential %p", (location, url, credential) => {
    const next = nextHop(hop("https://a.example.test/x/y"), 302, location);
    expect([next?.url.href, next?.credential_id]).toEqual([url, credential]);
    expect(next?.headers.has("authorization")).toBe(credential !== null);
  });

  test("takes validators to another origin, and nothing that is secret", () => {
    const headers = new Headers({ "if-none-match": '"v1"', authorization: "Bearer t", cookie: "a=b" });
    const next = nextHop(hop("https://a.example.test/", { headers }), 302, "https://b.example.test/");
    expect([...(next?.headers ?? [])]).toEqual([["if-none-match", '"v1"']]);
  });

  test("never goes from https to http, but the other way", () => {
    expect(() => nextHop(hop("https://a.example.test/"), 302, "http://a.example.test/")).toThrow("from https to http");
    expect(nextHop(hop("http://a.example.test/"), 301, "https://a.example.test/")?.credential_id).toBeNull();
  });

  test.each([200, 300, 304, 305, 306, 404])("goes nowhere for %i", (status) => {
    expect(nextHop(hop("https://a.example.test/"), status, "/b")).toBeNull();
  });

  test("goes nowhere without a place", () => {
    expect(nextHop(hop("https://a.example.test/"), 302, null)).toBeNull();
  });

  test("refuses a place that is no URL", () => {
    expect(() => nextHop(hop("https://a.example.test/"), 302, "http://[")).toThrow("not a URL");
  });

  test.each([
    ["HEAD", 303, "HEAD"],
    ["HEAD", 301, "HEAD"],
    ["PUT", 302, "PUT"],
    ["PUT", 303, "GET"],
    ["DELETE", 307, "DELETE"],
  ])("turns %s after %i into %s", (method, status, expected) => {
    const next = nextHop(hop("https://a.example.test/", { method }), status, "/b");
    expect([next?.method, next?.headers.has("content-type")]).toEqual([expected, expected === method]);
  });
});
