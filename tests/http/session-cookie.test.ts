import { describe, expect, test } from "bun:test";
import { Hono } from "hono";
import type { AppEnv } from "../../src/http/context.ts";
import { clearSessionCookie, readSessionCookie, writeSessionCookie } from "../../src/http/session-cookie.ts";

function appFor(baseUrlText: string) {
  const baseUrl = () => baseUrlText;
  const app = new Hono<AppEnv>();
  app.get("/write", (c) => {
    writeSessionCookie(c, baseUrl, "token", 60);
    return c.text("");
  });
  app.get("/clear", (c) => {
    clearSessionCookie(c, baseUrl);
    return c.text("");
  });
  app.get("/read", (c) => c.text(readSessionCookie(c, baseUrl) ?? "none"));
  return app;
}

describe("the session's cookie", () => {
  test.each([
    ["https://tidemark.example", "__Host-tidemark_session=token; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      "https://tidemark.example/tide",
      "__Secure-tidemark_session=token; Max-Age=60; Path=/tide; HttpOnly; Secure; SameSite=Lax",
    ],
    ["http://127.0.0.1:8080", "tidemark_session=token; Max-Age=60; Path=/; HttpOnly; SameSite=Lax"],
    ["http://127.0.0.1:8080/tide", "tidemark_session=token; Max-Age=60; Path=/tide; HttpOnly; SameSite=Lax"],
  ])("for %s", async (baseUrl, expected) => {
    const app = appFor(baseUrl);
    expect((await app.request("/write")).headers.get("set-cookie")).toBe(expected);
    const cleared = (await app.request("/clear")).headers.get("set-cookie") ?? "";
    expect(cleared).toBe(expected.replace("=token", "=").replace("Max-Age=60", "Max-Age=0"));
    const name = expected.slice(0, expected.indexOf("="));
    expect(await (await app.request("/read", { headers: { cookie: `${name}=token` } })).text()).toBe("token");
  });

  test("is not read from a name that a host beside us could set", async () => {
    const app = appFor("https://tidemark.example");
    const cookie = "tidemark_session=a; __Secure-tidemark_session=b";
    expect(await (await app.request("/read", { headers: { cookie } })).text()).toBe("none");
  });
});
