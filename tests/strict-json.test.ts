import { describe, expect, test } from "bun:test";
import { parseStrictObject } from "../src/strict-json.ts";

const parse = (text: string) => parseStrictObject(new TextEncoder().encode(text));
const blanks = " ".repeat(100_000);

describe("parseStrictObject()", () => {
  test.each([
    ["plainly", '{"sub":"a","sub":"b"}'],
    ["with an escape", '{"sub":"a","s\\u0075b":"b"}'],
    ["further inside", '{"a":[{"b":1,"c":[],"b":2}]}'],
    ["with 64 blanks before the colon", `{"sub":"a","sub"${" ".repeat(64)}:"b"}`],
    ["with very many blanks before both colons", `{"sub"${blanks}:"a","sub"${blanks}:"b"}`],
    ["with line breaks before the colon", `{"sub":"a","sub"${"\r\n\t".repeat(50)}:"b"}`],
  ])("refuses a name that stands twice %s", (_name, text) => {
    expect(parse(text)).toBeNull();
  });

  test.each([
    ["the same name in two objects", '{"a":{"sub":1},"b":{"sub":2}}', { a: { sub: 1 }, b: { sub: 2 } }],
    ["a text that is repeated", '{"a":"sub","b":["sub","sub"]}', { a: "sub", b: ["sub", "sub"] }],
    ["quotes within a name", '{"a\\"":1,"a":2}', { 'a"': 1, a: 2 }],
    ["blanks everywhere", `{ "a"${blanks}: 1 , "b" : "a" }`, { a: 1, b: "a" }],
  ])("takes %s", (_name, text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  test.each([
    ["no object", "[]"],
    ["no JSON", '{"a":1'],
    ["a byte order mark", "\ufeff{}"],
    ["nesting without end", `{"a":${"[".repeat(20)}${"]".repeat(20)}}`],
  ])("refuses %s", (_name, text) => {
    expect(parse(text)).toBeNull();
  });

  test("refuses what is no UTF-8", () => {
    expect(parseStrictObject(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeNull();
  });
});
