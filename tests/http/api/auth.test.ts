import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { say, told } from "../../../src/messages/message.ts";
import { goodPassword } from "../../auth/auth-house.ts";
import { type AuthApp, authApp } from "../auth-app.ts";

let app: AuthApp;
beforeEach(async () => {
  app = await authApp();
});
afterEach(() => app.close());

async function signInByApi(password: string): Promise<string> {
  const answer = await app.call("POST", "/session", null, { username: "admin", password });
  expect(answer.status).toBe(201);
  return (await answer.json()).token;
}

describe("POST /api/session", () => {
  test("gives a token, its end, and whether the password must be changed", async () => {
    await app.bootstrap();
    const answer = await app.call("POST", "/session", null, { username: "admin", password: app.bootstrapPassword() });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await answer.json()).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_at: "2026-01-12T12:00:00.000Z",
      password_change_required: true,
    });
  });

  test("answers an unknown name and a wrong password with the same status and body", async () => {
    await app.settle();
    const answers = [
      await app.call("POST", "/session", null, { username: "admin", password: "wrong-password-1" }),
      await app.call("POST", "/session", null, { username: "nobody", password: goodPassword }),
    ];
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map((answer) => answer.status)).toEqual([401, 401]);
    expect(bodies[0]).toBe(bodies[1] ?? "");
  });

  test("answers the sixth failure with 429 and Retry-After, behind a trusted proxy per client", async () => {
    await app.settle();
    const from = (peer: string, forwarded: string, password: string) =>
      app.app.request(
        "https://tidemark.example/api/session",
        {
          method: "POST",
          headers: { ...app.json, "x-forwarded-for": forwarded },
          body: JSON.stringify({ username: "admin", password }),
        },
        { peer_address: peer },
      );
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await from("10.0.0.1", "203.0.113.1", "wrong-password-1")).status).toBe(401);
    }
    const refused = await from("10.0.0.1", "203.0.113.1", goodPassword);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect((await from("10.0.0.1", "203.0.113.2", goodPassword)).status).toBe(201);
    // Without trust the header changes nothing: one peer is one client, whatever it writes.
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await from("203.0.113.9", `198.51.100.${attempt}`, "wrong-password-1")).status).toBe(401);
    }
    expect((await from("203.0.113.9", "198.51.100.99", goodPassword)).status).toBe(429);
  });
});

describe("until the bootstrap password is changed", () => {
  test("only the session's state, signing out and changing the password answer", async () => {
    await app.bootstrap();
    const token = await signInByApi(app.bootstrapPassword());
    const refused = [
      await app.call("GET", "/account", token),
      await app.call("PATCH", "/account", token, { username: "eve" }),
      await app.call("GET", "/api-tokens", token),
      await app.call("POST", "/api-tokens", token, { name: "ci" }),
      await app.call("GET", "/audit-entries", token),
      await app.call("GET", "/full", token),
    ];
    for (const answer of refused) {
      expect(answer.status).toBe(403);
      expect((await answer.json()).error.code).toBe("password_change_required");
    }
    const state = await app.call("GET", "/session", token);
    expect(await state.json()).toMatchObject({ username: "admin", password_change_required: true });
    const input = { current_password: app.bootstrapPassword(), new_password: goodPassword };
    const changed = await app.call("PUT", "/account/password", token, input);
    expect(changed.status).toBe(200);
    const next = await changed.json();
    expect(next).toMatchObject({ password_change_required: false });
    expect((await app.call("GET", "/full", next.token)).status).toBe(200);
    expect((await app.call("GET", "/session", token)).status).toBe(401);
  });

  test("signing out works", async () => {
    await app.bootstrap();
    const token = await signInByApi(app.bootstrapPassword());
    expect((await app.call("DELETE", "/session", token)).status).toBe(204);
    expect((await app.call("GET", "/session", token)).status).toBe(401);
  });
});

describe("the session of a request", () => {
  const cookie = (token: string) => ({ cookie: `__Host-tidemark_session=${token}` });

  test("is that of the cookie or of the Bearer token", async () => {
    const { token } = await app.settle();
    expect((await app.request("GET", "/api/full", cookie(token))).status).toBe(200);
    expect((await app.request("GET", "/api/full", { authorization: `bearer ${token}` })).status).toBe(200);
  });

  test.each([
    ["an invalid token", "Bearer x.y.z"],
    ["no token", "Bearer"],
    ["a blank one", "Bearer "],
    ["another scheme", "Basic YWRtaW46YWRtaW4="],
    ["an empty header", ""],
  ])("never falls back to the cookie behind %s", async (_name, authorization) => {
    const { token } = await app.settle();
    expect((await app.request("GET", "/api/full", { ...cookie(token), authorization })).status).toBe(401);
  });

  test.each([
    ["GET", "/session"],
    ["DELETE", "/session"],
    ["GET", "/account"],
    ["PATCH", "/account"],
    ["PUT", "/account/password"],
    ["GET", "/api-tokens"],
    ["POST", "/api-tokens"],
    ["DELETE", "/api-tokens/x"],
    ["GET", "/audit-entries"],
  ])("is needed for %s /api%s", async (method, path) => {
    await app.settle();
    const answer = await app.call(method, path, null);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({
      error: { code: "unauthorized", ...told(say("request.sign_in_first")) },
      request_id: "request-1",
    });
  });

  test("of a token with the scope read takes no change", async () => {
    const { token } = await app.settle();
    const created = await app.call("POST", "/api-tokens", token, {
      name: "ci",
      scope: "read",
      current_password: goodPassword,
    });
    expect(created.status).toBe(201);
    const reader = (await created.json()).token;
    expect((await app.call("GET", "/account", reader)).status).toBe(200);
    for (const [method, path, body] of [
      ["PATCH", "/account", { username: "eve" }],
      ["POST", "/api-tokens", { name: "more" }],
      ["PUT", "/account/password", { current_password: goodPassword, new_password: "harbour-seal-compass" }],
    ] as const) {
      const answer = await app.call(method, path, reader, body);
      expect((await answer.json()).error.code).toBe("scope_too_small");
    }
  });

  test("in a cookie gets a new cookie with a new password, and loses it by signing out", async () => {
    const { token } = await app.settle();
    const headers = { ...app.json, "sec-fetch-site": "same-origin" };
    const changed = await app.request(
      "PUT",
      "/api/account/password",
      { ...headers, ...cookie(token) },
      JSON.stringify({ current_password: goodPassword, new_password: "harbour-seal-compass" }),
    );
    const next = (await changed.json()).token;
    expect(changed.headers.get("set-cookie")).toStartWith(`__Host-tidemark_session=${next}; Max-Age=604800; Path=/;`);
    const out = await app.request("DELETE", "/api/session", { ...headers, ...cookie(next) });
    expect(out.status).toBe(204);
    expect(out.headers.get("set-cookie")).toStartWith("__Host-tidemark_session=; Max-Age=0; Path=/;");
    expect((await app.request("GET", "/api/session", cookie(next))).status).toBe(401);
  });
});

describe("the hash and the secrets of the account", () => {
  test("are in no answer", async () => {
    const { token } = await app.settle();
    await app.call("POST", "/api-tokens", token, { name: "ci", current_password: goodPassword });
    for (const path of ["/account", "/session", "/api-tokens", "/audit-entries"]) {
      const text = await (await app.call("GET", path, token)).text();
      expect(text).not.toMatch(/argon2|password_hash|eyJ/);
    }
  });
});
