import { describe, expect, test } from "bun:test";
import { highestTags } from "../../../src/sources/oci/highest-tags.ts";

describe("highestTags()", () => {
  test.each([
    [["1.0.0", "1.10.0", "1.9.0"], 2, ["1.10.0", "1.9.0"]],
    [["1.0.0", "1.10.0", "1.9.0"], 1, ["1.10.0"]],
    [["1.0.0", "1.10.0", "1.9.0", "1.11.0"], 2, ["1.11.0", "1.10.0"]],
    [["1.0.0"], 10, ["1.0.0"]],
    [[], 10, []],
  ])("of %p, %p at most, are %p, also when asked again", (tags, limit, highest) => {
    expect(highestTags(tags, limit)).toEqual(highest);
    expect(highestTags(tags, limit)).toEqual(highest);
  });
});
