import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { PluginError } from "../../../src/errors.ts";
import { say } from "../../../src/messages/message.ts";
import { readForgeError, readForgeJson } from "../../../src/sources/forge/answer.ts";

const action = say("sources.list_releases", { name: "host.example/owner/app" });

describe("readForgeError()", () => {
  test.each<[string, number, BodyInit, string]>([
    ["GitHub's message", 404, '{"message":"Not Found","documentation_url":"x"}', "404: Not Found"],
    [
      "GitHub's refused fields",
      422,
      '{"message":"Validation Failed","errors":[{"resource":"R","field":"f","code":"invalid"},"text"]}',
      "422: Validation Failed: invalid; text",
    ],
    ["GitLab's message", 404, '{"message":"404 Project Not Found"}', "404: 404 Project Not Found"],
    ["GitLab's fields", 400, '{"message":{"ref":["is missing","is empty"]}}', "400: ref is missing; is empty"],
    [
      "OAuth's words",
      401,
      '{"error":"invalid_token","error_description":"Token was revoked."}',
      "401: invalid_token: Token was revoked",
    ],
    ["Gitea's message", 404, '{"errors":null,"message":"not found","url":"u"}', "404: not found"],
    ["plain text", 403, "Forbidden\nby the proxy\u001b[31m", "403: Forbidden by the proxy [31m"],
    ["a web page", 404, "<!doctype html><p>secret page", "404 with a web page"],
    ["nothing", 403, "", "403"],
    ["other JSON", 400, "[1]", "400"],
  ])("says %s", async (_what, status, body, words) => {
    const error = await readForgeError(new Response(body, { status }), action, () => null);
    expect(error.message).toBe(`Could not list the releases of "host.example/owner/app": the response was ${words}`);
    expect(error.said).toMatchObject({ code: "sources.failed", params: { action, reason: { params: { status } } } });
  });

  test.each([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [404, "not_found"],
    [410, "not_found"],
    [429, "rate_limited"],
    [422, "rejected"],
    [503, "unreachable"],
  ] as const)("calls %d %s", async (status, code) => {
    expect((await readForgeError(new Response("", { status }), action, () => null)).code).toBe(code);
  });

  test("is bounded", async () => {
    const error = await readForgeError(
      Response.json({ message: "x".repeat(10_000) }, { status: 400 }),
      action,
      () => null,
    );
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).toEndWith("x…");
  });
});

describe("readForgeJson()", () => {
  const read = (response: Response) => readForgeJson(response, v.object({ a: v.number() }), action, () => null);

  test("gives what the schema takes", async () => {
    expect(await read(Response.json({ a: 1, b: 2 }))).toEqual({ a: 1 });
  });

  test.each<[string, Response, string]>([
    ["a refusal", Response.json({ message: "no" }, { status: 403 }), "unauthorized"],
    ["a web page", new Response("<p>", { headers: { "content-type": "text/html; charset=utf-8" } }), "malformed"],
    ["half a JSON", new Response('{"a":'), "malformed"],
    ["another form", Response.json({ a: "1" }), "malformed"],
  ])("refuses %s", async (_what, response, code) => {
    const error = await read(response).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PluginError);
    expect(error).toMatchObject({ code });
  });
});
