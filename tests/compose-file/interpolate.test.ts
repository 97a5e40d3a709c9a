import { describe, expect, test } from "bun:test";
import { changePieces } from "../../src/compose-file/change-pieces.ts";
import { evaluate, parseTemplate, textOf, variablesIn } from "../../src/compose-file/interpolate.ts";
import { templates, v, templateVariables as variables } from "./templates.ts";

function resolve(text: string): string | null {
  const parts = parseTemplate(text);
  if (parts === null) return "refused";
  const pieces = evaluate(parts, variables);
  return pieces === null ? null : textOf(pieces);
}

describe("evaluate()", () => {
  test.each(templates)("of %p is %p", (text, value) => {
    expect(resolve(text)).toBe(value);
  });

  test("defaults within defaults have an end", () => {
    expect(parseTemplate(`${"${A:-".repeat(100_000)}${"}".repeat(100_000)}`)).toBeNull();
    expect(resolve(v("NONE:-x").repeat(20_000))).toBe("x".repeat(20_000));
  });

  test("variablesIn() also names those of defaults that do not count", () => {
    const parts = parseTemplate(`${v(`TAG:-${v("OTHER:-$DEEP")}`)}$$NOT`);
    expect([...variablesIn(parts ?? [])]).toEqual(["TAG", "OTHER", "DEEP"]);
  });
});

describe("changePieces()", () => {
  const change = (text: string, wanted: string) => {
    const { changes, unset } = changePieces(evaluate(parseTemplate(text) ?? [], variables) ?? [], wanted);
    if (unset !== null) return `${unset} is not set`;
    return changes?.map(({ piece, text: to }) => {
      return piece.kind === "variable" ? { [piece.name]: to } : { [text.slice(piece.start, piece.end)]: to };
    });
  };

  test.each([
    ["app:1.0", "other/app:1.1", [{ "app:1.0": "other/app:1.1" }]],
    ["app:1.0", "app:1.0", []],
    [`app:${v("TAG")}`, "app:1.1", [{ TAG: "1.1" }]],
    [`${v("REPO")}:${v("TAG")}`, "reg/app:1.1", [{ TAG: "1.1" }]],
    [`${v("REPO")}:${v("TAG")}`, "other/app:1.0", [{ REPO: "other/app" }]],
    [`${v("REPO")}:${v("TAG")}`, "other/app:1.1", [{ REPO: "other/app" }, { TAG: "1.1" }]],
    [`${v("REPO")}:${v("TAG")}`, "host:5000/app:1.1", undefined],
    [`app:${v("NONE:-1.0")}`, "app:1.1", [{ "1.0": "1.1" }]],
    [`app:${v("NONE:-")}`, "app:1.1", [{ "": "1.1" }]],
    [`app:${v("TAG:-1.0")}`, "app:1.1", [{ TAG: "1.1" }]],
    [`app:${v("EMPTY:-1.0")}`, "app:1.1", [{ "1.0": "1.1" }]],
    [`app:${v("EMPTY")}`, "app:1.1", [{ EMPTY: "1.1" }]],
    [`app:${v("NONE")}`, "app:1.1", "NONE is not set"],
    [`app:${v("NONE")}1.0`, "app:1.1", [{ "1.0": "1.1" }]],
    [`app:1.0${v("NONE")}`, "app:1.1", [{ "app:1.0": "app:1.1" }]],
    [`app:${v("TAG")}-${v("TAG")}`, "app:1.1-1.1", undefined],
    [`app:${v("TAG")}-slim`, "app:1.1-slim", [{ TAG: "1.1" }]],
    [`app:${v("TAG")}-slim`, "app:1.0-alpine", [{ "-slim": "-alpine" }]],
    [`app:${v("TAG")}-slim`, "app:1.1-alpine", undefined],
    [`app:2.${v("TAG")}`, "app:2.10", [{ TAG: "10" }]],
    [`app:${v("TAG")}${v("NONE:-")}`, "app:1.0.1", [{ TAG: "1.0.1" }]],
    [`app:${v("TAG")}@${v("NONE:-sha256:a")}`, "app:1.1@sha256:b", [{ TAG: "1.1" }, { "sha256:a": "sha256:b" }]],
  ] as const)("%p to %p", (text, wanted, changes) => {
    expect<unknown>(change(text, wanted)).toEqual(changes);
  });
});
