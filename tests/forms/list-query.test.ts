import { describe, expect, test } from "bun:test";
import { anyText, knownQuery } from "../../src/forms/page.ts";

const shape = {
  sorts: ["name", "-time"],
  filters: { state: ["ok", "failing"] },
  texts: { owner: anyText },
  searched: "",
} as const;

describe("the query of a list's address", () => {
  for (const [sent, known] of [
    [{}, {}],
    [{ sort: "time" }, { sort: "time" }],
    [
      { sort: "-name", state: "failing" },
      { sort: "-name", state: "failing" },
    ],
    [{ sort: "constructor", state: "toString", colour: "red", limit: "9999" }, {}],
    [{ search: "  " }, {}],
    [{ search: "x".repeat(500) }, { search: "x".repeat(200) }],
    [
      { owner: "me", cursor: "" },
      { owner: "me", cursor: "" },
    ],
    [{ owner: "x".repeat(101), cursor: "x".repeat(600) }, {}],
  ] as const) {
    test(`${JSON.stringify(sent).slice(0, 80)} keeps what the list knows`, () => {
      expect(knownQuery(shape, sent)).toEqual(known);
    });
  }
});
