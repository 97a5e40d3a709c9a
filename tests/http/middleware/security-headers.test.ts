import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AuthApp, authApp } from "../auth-app.ts";

let app: AuthApp;
beforeAll(async () => {
  app = await authApp();
});
afterAll(() => app.close());

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

describe("securityHeaders()", () => {
  test.each([
    ["a page", "GET", "/form", 200],
    ["a file", "GET", "/file.css", 200],
    ["an API error", "GET", "/api/session", 401],
    ["a page that is not there", "GET", "/nothing", 404],
    ["an unexpected error", "GET", "/broken", 500],
    ["a redirect", "POST", "/login", 303],
    ["a refused request", "DELETE", "/form", 403],
    ["HEAD", "HEAD", "/form", 200],
    ["TRACE", "TRACE", "/form", 405],
  ])("are on %s", async (_name, method, path, status) => {
    const site = method === "DELETE" ? "cross-site" : "same-origin";
    const answer = await app.request(method, path, { "sec-fetch-site": site });
    const { headers } = answer;
    expect(answer.status).toBe(status);
    expect(headers.get("content-security-policy")).toBe(policy);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
    expect(headers.get("server")).toBeNull();
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("cache-control")).toBe(
      path === "/file.css" ? "public, max-age=31536000, immutable" : "no-store",
    );
  });

  test("have no HSTS under plain http", async () => {
    const plain = await authApp("http://127.0.0.1:8080");
    expect((await plain.request("GET", "/form")).headers.get("strict-transport-security")).toBeNull();
    await plain.close();
  });
});
