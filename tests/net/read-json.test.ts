import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { readJson } from "../../src/net/read-json.ts";

const schema = v.object({ tags: v.array(v.object({ name: v.string() })) });

async function messageOf(body: BodyInit): Promise<string> {
  const response = Object.defineProperty(new Response(body), "url", {
    value: "https://api.example.test/v1?token=secret",
  });
  try {
    await readJson(response, schema);
  } catch (error) {
    if (error instanceof PluginError && error.code === "malformed") return error.message;
    throw error;
  }
  return "it was taken";
}

describe("readJson()", () => {
  test("gives the fields that the schema names", async () => {
    const response = new Response('{"tags":[{"name":"v1","size":1}],"__proto__":{"x":1}}');
    expect(await readJson(response, schema)).toEqual({ tags: [{ name: "v1" }] });
  });

  test.each([
    [
      "HTML",
      "<!doctype html>\n<title>Sign in</title>",
      'something that is not JSON: "<!doctype html> <title>Sign in</title>"',
    ],
    ["half a document", '{"tags":[{"na', "not JSON"],
    ["nothing", "", 'not JSON: ""'],
    [
      "a wrong field",
      '{"tags":[{"name":"a"},{"name":7}]}',
      "at tags.1.name: Invalid type: Expected string but received 7",
    ],
    ["a missing field", "{}", "at tags: Invalid key"],
    ["another top", "[]", "at tags"],
    ["deep nesting", "[".repeat(200_000), "api.example.test"],
  ])("quotes where %s differs, and no query", async (_what, body, part) => {
    const message = await messageOf(body);
    expect(message).toContain(part);
    expect(message).not.toContain("secret");
    expect(message.length).toBeLessThan(400);
  });

  test("passes the PluginError of a body on, and makes one of any other", async () => {
    const broken = (error: Error) =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(error);
          },
        }),
      );
    const own = new PluginError("malformed", plain("The answer is larger than 16 MiB"));
    await expect(readJson(broken(own), schema)).rejects.toBe(own);
    await expect(readJson(broken(new Error("socket")), schema)).rejects.toMatchObject({ code: "unreachable" });
  });
});
