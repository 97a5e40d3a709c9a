import { describe, expect, test } from "bun:test";
import { JsonExcess, parseBoundedJson } from "../../src/net/bounded-json.ts";

describe("parseBoundedJson()", () => {
  test.each([
    '{"a":[1,"]}",{"b":"\\\\"},"\\"["]}',
    "[]",
    "null",
    '"[[[["',
    `"${"[".repeat(1_000)}"`,
    `"${"{,".repeat(3_000_000)}"`,
  ])("reads what is modest: %#", (text) => {
    expect(parseBoundedJson(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ["[".repeat(101) + "]".repeat(101), "net.json_too_deep"],
    [`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`, "net.json_too_deep"],
    ["[".repeat(8_000_000), "net.json_too_deep"],
    [`[${"{},".repeat(400_000)}1]`, "net.json_too_many_parts"],
    [`[${"1,".repeat(2_000_001)}1]`, "net.json_too_many_parts"],
  ] as const)("refuses what costs too much to read: %#", (text, reason) => {
    expect(() => parseBoundedJson(text)).toThrow(new JsonExcess(reason));
  });

  test.each(["", "{", '{"a', '"\\', "[1,]", "]]]]"])("says that %p is none", (text) => {
    expect(() => parseBoundedJson(text)).toThrow(SyntaxError);
  });
});
