import { expect, test } from "bun:test";
import * as v from "valibot";
import { fieldIssue } from "../../src/sources/field-issue.ts";

const Schema = v.pipe(
  v.object({ chart: v.string(), address: v.string() }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed) addIssue(fieldIssue(dataset.value, { field: "address", message: "Write an address" }));
  }),
);

test("fieldIssue() puts the message to its field", () => {
  const { issues } = v.safeParse(Schema, { chart: "app", address: "x" });
  expect(issues?.map((issue) => [v.getDotPath(issue), issue.message])).toEqual([["address", "Write an address"]]);
});
