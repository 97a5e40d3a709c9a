import { expect, test } from "bun:test";
import { sharesOf } from "../../src/logs/shares.ts";

test.each<[what: string, waiting: number[], total: number, shares: number[]]>([
  ["nothing", [], 40, []],
  ["one log", [100], 40, [40]],
  ["few lines of each", [3, 4], 40, [3, 4]],
  ["a chatty one beside a quiet one", [1_000, 2], 40, [38, 2]],
  ["chatty ones alone", [1_000, 500], 40, [20, 20]],
  ["what two leave to the third", [1, 1_000, 5], 40, [1, 34, 5]],
])("sharesOf() for %s", (_what, waiting, total, shares) => {
  expect(sharesOf(waiting, total)).toEqual(shares);
});
