import { describe, expect, test } from "bun:test";
import { backtest, type Jump, jumpBetween } from "../../src/versions/backtest.ts";
import { chooseLatest, type Sorting } from "../../src/versions/channel.ts";

const day = 86_400_000;

/** `day:tag` each. */
function releasesOf(text: string) {
  return text.split(" ").map((part) => {
    const [at = "", tag = ""] = part.split(":");
    return { tag, published_at: at === "-" ? null : Number(at) * day, first_observed_at: 0 };
  });
}

const play = (text: string, sorting: Sorting = "publish_time") =>
  backtest(releasesOf(text), (published) => chooseLatest(published, sorting));

describe("backtest()", () => {
  test("names each day on which the latest would have changed", () => {
    expect(play("1:1.0.0 5:1.1.0 9:1.2.0").map(({ tag, at, previous }) => [tag, at / day, previous])).toEqual([
      ["1.0.0", 1, null],
      ["1.1.0", 5, "1.0.0"],
      ["1.2.0", 9, "1.1.0"],
    ]);
  });

  test("plays by time, in whatever order the releases are listed", () => {
    expect(play("9:1.2.0 1:1.0.0 5:1.1.0").map(({ tag }) => tag)).toEqual(["1.0.0", "1.1.0", "1.2.0"]);
  });

  test("shows another line or base as what no automatic run takes", () => {
    expect(play("1:16 2:17").map(({ tag, is_installed }) => [tag, is_installed])).toEqual([
      ["16", true],
      ["17", false],
    ]);
    expect(play("1:4.0.5-18 2:4.0.6-20").map(({ tag, is_installed }) => [tag, is_installed])).toEqual([
      ["4.0.5-18", true],
      ["4.0.6-20", false],
    ]);
  });

  test("shows a patch of an older line as a step back that no automatic run takes", () => {
    const steps = play("1:2.0.0 2:2.1.0 3:1.9.5 4:2.2.0");
    expect(steps.map(({ tag, jump, is_installed }) => [tag, jump, is_installed])).toEqual([
      ["2.0.0", "first", true],
      ["2.1.0", "none", true],
      ["1.9.5", "downgrade", false],
      ["2.2.0", "none", true],
    ]);
    expect(steps.at(-1)).toMatchObject({ previous: "1.9.5", installed_from: "2.1.0" });
  });

  test("passes over that patch where versions are sorted by meaning", () => {
    expect(play("1:2.0.0 2:2.1.0 3:1.9.5 4:2.2.0", "semantic").map(({ tag }) => tag)).toEqual([
      "2.0.0",
      "2.1.0",
      "2.2.0",
    ]);
  });

  test("leaves out what has no time", () => {
    expect(play("1:1.0.0 -:9.0.0").map(({ tag }) => tag)).toEqual(["1.0.0"]);
    expect(play("-:9.0.0")).toEqual([]);
  });
});

test.each<[string | null, string, Jump]>([
  [null, "1.0.0", "first"],
  ["1.0.0", "1.0.1", "none"],
  ["1.0.0", "v1.0.0", "none"],
  ["1.0.1", "1.0.0", "downgrade"],
  ["1.0.0", "1.1.0-rc.1", "prerelease"],
  ["1.1.0-rc.1", "1.1.0-rc.2", "none"],
  ["1.1.0-rc.2", "1.1.0", "none"],
  ["1.0.0", "1.1.0-alpine", "variant"],
  ["10.11.4", "2021.12.16", "incomparable"],
  ["1.0.0", "latest", "incomparable"],
])("jumpBetween(%p, %p) is %p", (from, to, jump) => {
  expect(jumpBetween(from, to)).toBe(jump);
});
