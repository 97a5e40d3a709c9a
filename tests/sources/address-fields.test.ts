import { expect, test } from "bun:test";
import * as v from "valibot";
import { fromText, say } from "../../src/messages/message.ts";
import { AddressError, checkTogether } from "../../src/sources/address-fields.ts";

const wrong = say("addresses.with_user");

const Schema = v.pipe(
  v.object({ chart: v.string(), address: v.string() }),
  checkTogether(() => {
    throw new AddressError("address", wrong);
  }),
);

test("checkTogether() puts the message to its field", () => {
  const { issues } = v.safeParse(Schema, { chart: "app", address: "x" });
  expect(issues?.map((issue) => [v.getDotPath(issue), fromText(issue.message)])).toEqual([["address", wrong]]);
});
