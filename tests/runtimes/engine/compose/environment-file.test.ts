import { describe, expect, test } from "bun:test";
import { readEnvironment, withVariable } from "../../../../src/runtimes/engine/compose/environment-file.ts";

describe("environment files", () => {
  const text = [
    "# TAG=0",
    "TAG=1.0 # the tag",
    "export QUOTED='2.0'",
    'DOUBLE="3.0"   ',
    "SPACED = 4.0",
    "EMPTY=",
    "HASH=a#b",
    "NESTED=$TAG",
    'ESCAPED="a\\nb"',
    "BROKEN='x",
    "AGAIN=1",
    "AGAIN=2",
    "not a line",
    "CRLF=5.0\r",
    "",
  ].join("\n");

  test("are read as compose reads them, and what is more than text is not known", () => {
    const { variables: found, unknown } = readEnvironment(text);
    expect(Object.fromEntries(found)).toEqual({
      TAG: "1.0",
      QUOTED: "2.0",
      DOUBLE: "3.0",
      SPACED: "4.0",
      EMPTY: "",
      HASH: "a#b",
      AGAIN: "2",
      CRLF: "5.0",
    });
    expect([...unknown]).toEqual(["NESTED", "ESCAPED", "BROKEN"]);
  });

  test.each([
    ["TAG", "TAG=1.0 # the tag", "TAG=9 # the tag"],
    ["QUOTED", "export QUOTED='2.0'", "export QUOTED='9'"],
    ["DOUBLE", 'DOUBLE="3.0"   ', 'DOUBLE="9"   '],
    ["SPACED", "SPACED = 4.0", "SPACED = 9"],
    ["EMPTY", "EMPTY=", "EMPTY=9"],
    ["AGAIN", "AGAIN=2", "AGAIN=9"],
    ["CRLF", "CRLF=5.0\r", "CRLF=9\r"],
  ])("get another value for %s and nothing else", (name, before, after) => {
    expect(withVariable(text, name, "9")).toBe(text.replace(before, after));
  });

  test.each(["NONE", "NESTED", "ESCAPED", "BROKEN"])("give no place for %s", (name) => {
    expect(withVariable(text, name, "9")).toBeNull();
  });
});
