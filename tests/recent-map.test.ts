import { expect, test } from "bun:test";
import { RecentMap } from "../src/recent-map.ts";

test("forgets what was stored or read the longest ago", () => {
  const map = new RecentMap<string, number>(2);
  map.set("a", 1).set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([...map]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
  map.set("a", 4).set("d", 5);
  expect([...map.keys()]).toEqual(["a", "d"]);
});
