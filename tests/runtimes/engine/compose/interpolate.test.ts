import { describe, expect, test } from "bun:test";
import { readEnvironment, withVariable } from "../../../../src/runtimes/engine/compose/environment-file.ts";
import { editTemplate, evaluate, parseTemplate } from "../../../../src/runtimes/engine/compose/interpolate.ts";

const variables = new Map([
  ["TAG", "1.0"],
  ["EMPTY", ""],
  ["REPO", "reg/app"],
]);
/** Written so that no linter takes it for a template. */
const v = (inner: string) => `$\{${inner}}`;

describe("evaluate()", () => {
  test.each([
    ["app:1.0", "app:1.0"],
    [`app:${v("TAG")}`, "app:1.0"],
    ["app:$TAG", "app:1.0"],
    ["app:$TAG-x", "app:1.0-x"],
    [`${v("REPO")}:${v("TAG")}`, "reg/app:1.0"],
    [`app:${v("NONE:-2.0")}`, "app:2.0"],
    [`app:${v("NONE-2.0")}`, "app:2.0"],
    [`app:${v("EMPTY:-2.0")}`, "app:2.0"],
    [`app:${v("EMPTY-2.0")}`, "app:"],
    [`app:${v("TAG:+set")}`, "app:set"],
    [`app:${v("NONE+set")}`, "app:"],
    [`app:${v("NONE")}`, "app:"],
    [`app:${v("TAG:?needed")}`, "app:1.0"],
    [`app:${v("NONE?needed")}`, null],
    [`app:${v("EMPTY:?needed")}`, null],
    ["a$$b", "a$b"],
  ])("of %p is %p", (text, value) => {
    const parts = parseTemplate(text);
    expect(parts === null ? "unread" : evaluate(parts, variables)).toBe(value);
  });

  test.each([v(`A:-${v("B")}`), "app:$", "app:${", `app:${v("")}`, `app:${v("1A")}`, "$-"])(
    "%p is not read",
    (text) => {
      expect(parseTemplate(text)).toBeNull();
    },
  );
});

describe("editTemplate()", () => {
  test.each([
    ["app:1.0", "app:1.1", { kind: "text", text: "app:1.1" }],
    [`app:${v("TAG")}`, "app:1.1", { kind: "variable", name: "TAG", value: "1.1" }],
    [`${v("REPO")}:${v("TAG")}`, "reg/app:1.1", { kind: "variable", name: "TAG", value: "1.1" }],
    [`${v("REPO")}:${v("TAG")}`, "other/app:1.0", { kind: "variable", name: "REPO", value: "other/app" }],
    [`${v("REPO")}:${v("TAG")}`, "other/app:1.1", { kind: "text", text: "other/app:1.1" }],
    [`app:${v("NONE:-1.0")}`, "app:1.1", { kind: "text", text: `app:${v("NONE:-1.1")}` }],
    [`app:${v("TAG:-1.0")}`, "app:1.1", { kind: "variable", name: "TAG", value: "1.1" }],
    [`app:${v("NONE")}1.0`, "app:1.1", { kind: "text", text: "app:1.1" }],
    [`app:${v("TAG")}`, "app@sha256:abc", { kind: "text", text: "app@sha256:abc" }],
    [`app:${v("TAG")}-${v("TAG")}`, "app:1.1-1.1", { kind: "text", text: "app:1.1-1.1" }],
    [`app:${v("TAG")}-slim`, "app:1.1-slim", { kind: "variable", name: "TAG", value: "1.1" }],
    [`app:${v("TAG")}-slim`, "app:1.1", { kind: "text", text: "app:1.1" }],
  ] as const)("%p to %p", (text, wanted, edit) => {
    expect(editTemplate(text, parseTemplate(text) ?? [], variables, wanted)).toEqual(edit);
  });
});

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
