import { expect, test } from "bun:test";
import * as v from "valibot";
import { fromText, say } from "../../src/messages/message.ts";
import { AddressError, fieldIssue } from "../../src/sources/field-issue.ts";

const wrong = say("addresses.with_user");

const Schema = v.pipe(
  v.object({ chart: v.string(), address: v.string() }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed) addIssue(fieldIssue(dataset.value, new AddressError("address", wrong)));
  }),
);

test("fieldIssue() puts the message to its field", () => {
  const { issues } = v.safeParse(Schema, { chart: "app", address: "x" });
  expect(issues?.map((issue) => [v.getDotPath(issue), fromText(issue.message)])).toEqual([["address", wrong]]);
});
