import { describe, expect, test } from "bun:test";
import { highestAccepted, highestTags } from "../../../src/sources/oci/highest-tags.ts";

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

describe("highestAccepted()", () => {
  const tags = ["1.0.0", "1.1.0", "2.0.0-rc.1"];

  test("judges a list once under the same rules, and anew under others", async () => {
    let judged = 0;
    const accepts = (isTaken: (tag: string) => boolean) => [
      (tag: string) => {
        judged += 1;
        return isTaken(tag);
      },
    ];
    const ask = (rules: string, isTaken: (tag: string) => boolean) =>
      highestAccepted(tags, { accepts: accepts(isTaken), limit: 5, rules });
    expect(await ask("plain, of this test", (tag) => !tag.includes("-"))).toEqual(["1.1.0", "1.0.0"]);
    expect(await ask("plain, of this test", (tag) => !tag.includes("-"))).toEqual(["1.1.0", "1.0.0"]);
    expect(judged).toBe(3);
    expect(await ask("candidates, of this test", (tag) => tag.includes("-"))).toEqual(["2.0.0-rc.1"]);
    expect(judged).toBe(6);
  });

  test("remembers nothing where the rules have no name", async () => {
    const ask = (isTaken: boolean) => highestAccepted(tags, { accepts: [() => isTaken], limit: 5 });
    expect(await ask(true)).toHaveLength(3);
    expect(await ask(false)).toEqual([]);
  });
});
