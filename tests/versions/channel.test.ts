import { describe, expect, test } from "bun:test";
import { type ChannelRules, chooseLatest, judge, orderReleases, type Sorting } from "../../src/versions/channel.ts";
import { PatternError } from "../../src/versions/pattern.ts";

const none: ChannelRules = { include: null, exclude: null, release_type: null };
const day = 24 * 60 * 60 * 1000;

/** `[tag, day]` as a release published on that day; without a day, first observed on day 0. */
function dated(rows: readonly (readonly [tag: string, day?: number])[]) {
  return rows.map(([tag, at]) => ({ tag, published_at: at === undefined ? null : at * day, first_observed_at: 0 }));
}

describe("judge()", () => {
  test.each([
    ["1.2.3", "tag", {}, true, "no_rule", null],
    ["1.2.3", "tag", { include: "  ", exclude: "" }, true, "no_rule", null],
    ["v1.2.3", "tag", { include: "\\d+\\.\\d+" }, true, "included", { start: 1, end: 4 }],
    ["latest", "tag", { include: "^\\d" }, false, "not_included", null],
    ["1.2.3-rc1", "tag", { exclude: "-rc" }, false, "excluded", { start: 5, end: 8 }],
    ["1.2.3-rc1", "tag", { include: "^1", exclude: "-rc" }, false, "excluded", { start: 5, end: 8 }],
    ["1.2.3", "tag", { include: "^1", exclude: "-rc" }, true, "included", { start: 0, end: 1 }],
    ["1.2.3", "prerelease", { release_type: "release" }, false, "not_release", null],
    ["1.2.3", "release", { release_type: "release" }, true, "no_rule", null],
    ["1.2.3", "release", { release_type: "prerelease" }, false, "not_prerelease", null],
    ["1.2.3-rc1", "tag", { release_type: "release" }, false, "not_release", null],
    ["1.2.3-rc1", "tag", { release_type: "prerelease" }, true, "no_rule", null],
    ["1.2.3", "tag", { release_type: "prerelease" }, false, "not_prerelease", null],
    ["1.2.3-rc1", "release", { release_type: "release" }, true, "no_rule", null],
    ["1".repeat(256), "tag", {}, true, "no_rule", null],
    ["1".repeat(257), "tag", {}, false, "too_long", null],
    ["1".repeat(10_000), "tag", { include: "1" }, false, "too_long", null],
    ["", "tag", {}, true, "no_rule", null],
    ["1.2.3-🚀", "tag", { include: "🚀" }, true, "included", { start: 6, end: 8 }],
    ["1.2\u0000.3", "tag", { include: "\\x00" }, true, "included", { start: 3, end: 4 }],
    [`${"a".repeat(255)}!`, "tag", { include: "^(a+)+$" }, false, "not_included", null],
  ] as const)("of %j (%s) under %j is %p by %s", (tag, stage, rules, accepted, rule, range) => {
    const judgement = judge({ tag, stage }, { ...none, ...rules });
    expect(judgement).toMatchObject({ accepted, rule, range });
  });

  test("names the pattern that decided", () => {
    const rules = { include: "^1", exclude: "rc", release_type: null };
    expect(judge({ tag: "1.0-rc1", stage: "tag" }, rules).pattern).toBe("rc");
    expect(judge({ tag: "1.0", stage: "tag" }, rules).pattern).toBe("^1");
    expect(judge({ tag: "2.0", stage: "tag" }, rules).pattern).toBe("^1");
  });

  test("throws for a pattern that cannot be taken, even where another rule would refuse first", () => {
    const rules: ChannelRules = { include: null, exclude: "(?!rc)", release_type: "release" };
    expect(() => judge({ tag: "1".repeat(300), stage: "prerelease" }, rules)).toThrow(PatternError);
  });
});

describe("chooseLatest()", () => {
  const cases: readonly (readonly [
    what: string,
    rows: readonly (readonly [string, number?])[],
    byTime: string,
    byMeaning: string,
  ])[] = [
    [
      "the newest, or the highest",
      [
        ["2.0.0", 10],
        ["1.9.5", 20],
      ],
      "1.9.5",
      "2.0.0",
    ],
    [
      "no floating name",
      [
        ["latest", 99],
        ["1.0.0", 1],
        ["main", 98],
      ],
      "1.0.0",
      "1.0.0",
    ],
    [
      "no commit",
      [
        ["sha-1234abc", 99],
        ["1.0.0", 1],
      ],
      "1.0.0",
      "1.0.0",
    ],
    [
      "a floating name where there is nothing else",
      [
        ["latest", 5],
        ["edge", 3],
      ],
      "latest",
      "latest",
    ],
    [
      "no name for a line",
      [
        ["1.27", 30],
        ["1.27.3", 29],
        ["1", 30],
        ["1.27.2", 20],
      ],
      "1.27.3",
      "1.27.3",
    ],
    [
      "no variant pushed later",
      [
        ["1.27.3", 29],
        ["1.27.3-alpine", 30],
        ["1.27.2", 20],
      ],
      "1.27.3",
      "1.27.3",
    ],
    [
      "a variant that is alone",
      [
        ["1.27.3-alpine", 30],
        ["1.27.2-alpine", 20],
      ],
      "1.27.3-alpine",
      "1.27.3-alpine",
    ],
    [
      "no stray calendar version",
      [
        ["10.7.6", 1],
        ["10.7.7", 2],
        ["10.7.5", 0],
        ["2021.12.16", 110],
      ],
      "10.7.7",
      "10.7.7",
    ],
    [
      "calendar versions once they are three",
      [
        ["0.117.0", 1],
        ["0.118.4", 2],
        ["0.118.5", 3],
        ["2020.12.0", 10],
        ["2020.12.1", 11],
        ["2020.12.2", 12],
      ],
      "2020.12.2",
      "2020.12.2",
    ],
    [
      "no calendar versions of old",
      [
        ["2021.1.0", 1],
        ["2021.2.0", 2],
        ["2021.3.0", 3],
        ["1.0.0", 50],
        ["1.1.0", 60],
        ["1.2.0", 70],
      ],
      "1.2.0",
      "1.2.0",
    ],
    [
      "no line of pre-releases",
      [
        ["4.0.0-ls1", 1],
        ["develop-4.1.0-ls9", 5],
      ],
      "4.0.0-ls1",
      "4.0.0-ls1",
    ],
    [
      "no nightly date",
      [
        ["1.2.3", 1],
        ["20240604", 5],
        ["20240605", 6],
        ["20240606", 7],
      ],
      "1.2.3",
      "1.2.3",
    ],
    [
      "a renamed line after a year without the old one",
      [
        ["0.199.0", 1],
        ["0.200.0", 2],
        ["app@1.0.0", 30],
        ["app@1.1.0", 200],
        ["app@1.2.0", 400],
      ],
      "app@1.2.0",
      "app@1.2.0",
    ],
    [
      "no second line within that year",
      [
        ["0.199.0", 1],
        ["0.200.0", 2],
        ["chart-1.0.0", 30],
        ["chart-1.1.0", 200],
        ["chart-1.2.0", 360],
      ],
      "0.200.0",
      "0.200.0",
    ],
    [
      "versions and not the counters of before",
      [
        ["174", 1],
        ["175", 2],
        ["176", 3],
        ["3.0.1-ls1", 600],
        ["4.0.1-ls2", 700],
        ["4.0.2-ls3", 800],
      ],
      "4.0.2-ls3",
      "4.0.2-ls3",
    ],
    ["the highest of equal times", [["1.9.0"], ["1.10.0"], ["1.2.0"], ["latest"]], "1.10.0", "1.10.0"],
    [
      "minio's last",
      [
        ["RELEASE.2024-06-04T19-20-08Z", 4],
        ["RELEASE.2024-06-13T22-53-53Z", 13],
      ],
      "RELEASE.2024-06-13T22-53-53Z",
      "RELEASE.2024-06-13T22-53-53Z",
    ],
    [
      "the larger chart of two",
      [
        ["a-1.0.0", 1],
        ["a-1.1.0", 2],
        ["b-9.0.0", 3],
      ],
      "a-1.1.0",
      "a-1.1.0",
    ],
  ];

  test.each(cases)("takes %s", (_, rows, byTime, byMeaning) => {
    for (const ordered of [rows, [...rows].reverse()]) {
      expect(chooseLatest(dated(ordered), "publish_time")?.tag).toBe(byTime);
      expect(chooseLatest(dated(ordered), "semantic")?.tag).toBe(byMeaning);
    }
  });

  test("is null for an empty channel", () => {
    expect(chooseLatest([], "semantic")).toBeNull();
  });
});

describe("a channel for pre-releases", () => {
  const year = 366;
  test.each([
    ["passes over betas of another age", ["1.0-beta", 0], ["2.0-rc1", year], "beta", "2.0-rc1"],
    ["takes betas of the same year", ["1.0-beta", 0], ["2.0-rc1", year - 1], "beta", "1.0-beta"],
    ["passes over a preview of another age", ["preview-3.0", 0], ["develop-4.1", year], "prerelease", "develop-4.1"],
    ["takes what there is", ["1.0-beta", 0], ["2.0", year], "beta", "1.0-beta"],
    [
      "passes over an older major version, where times tell nothing",
      ["preview-3.0"],
      ["develop-4.1"],
      "prerelease",
      "develop-4.1",
    ],
    ["stays with a candidate until its release", ["4.1-rc1"], ["5.0-nightly.1"], "prerelease", "4.1-rc1"],
    ["goes from what has been released to what is next", ["4.0-rc1"], ["5.0-nightly.1"], "prerelease", "5.0-nightly.1"],
    ["for betas stays with a beta beside nightly builds", ["4.0-beta1"], ["5.0-nightly.1"], "beta", "4.0-beta1"],
    [
      "goes to a dated build that came after the release",
      ["4.0-rc1", 0],
      ["nightly-20240604", 9],
      "prerelease",
      "nightly-20240604",
    ],
    ["takes no dated build that came before it", ["nightly-20240604", -1], ["4.0-rc1", -2], "prerelease", "4.0-rc1"],
    ["takes no snapshot that was given up", ["5.0-nightly.1", -year], ["4.0-rc1", 0], "prerelease", "4.0-rc1"],
    ["for betas stays with a beta beside what is less mature", ["4.0-beta1"], ["4.1-alpha1"], "beta", "4.0-beta1"],
    ["for betas leaves an older major version", ["3.0-beta1"], ["4.0-rc1"], "beta", "4.0-rc1"],
    [
      "leaves an older major version for what is nearly released",
      ["preview-3.0"],
      ["develop-4.0"],
      "prerelease",
      "develop-4.0",
    ],
    ["does not leave a variant", ["4.0-rc1"], ["4.1-rc1-slim"], "prerelease", "4.0-rc1"],
  ] as const)("%s", (_, older, newer, aim, expected) => {
    const [, at] = older;
    const release = at === undefined ? (["4.0"] as const) : (["4.0", Math.max(at, 0)] as const);
    const releases = dated([release, older, newer]);
    for (const sorting of ["publish_time", "semantic"] as const) {
      expect(chooseLatest(releases, sorting, aim)?.tag).toBe(expected);
    }
  });
});

describe("orderReleases()", () => {
  test.each(["publish_time", "semantic"] as const)("by %s keeps every tag once, whole", (sorting: Sorting) => {
    const releases = dated([
      ["1.0.0", 1],
      ["1.1.0-alpine", 2],
      ["latest", 3],
      ["sha-1234abc", 4],
      ["1.1.0", 2],
      ["1.0.0", 1],
    ]).map((release) => ({ ...release, note: `of ${release.tag}` }));
    const ordered = orderReleases(releases, sorting);
    expect(ordered.map((release) => release.tag)).toEqual(["1.1.0", "1.0.0", "1.1.0-alpine", "latest", "sha-1234abc"]);
    expect(ordered[0]?.note).toBe("of 1.1.0");
  });

  test("takes a short release that is pushed anew with its patches for the oldest of them", () => {
    const releases = dated([
      ["2022.01", 99],
      ["2022.01.1", 20],
      ["2022.02", 30],
      ["2022.04", 40],
    ]);
    expect(orderReleases(releases, "publish_time").map((release) => release.tag)).toEqual([
      "2022.04",
      "2022.02",
      "2022.01.1",
      "2022.01",
    ]);
  });

  test("takes the newer of two releases of one tag, in whatever order they come", () => {
    const releases = dated([
      ["1.0.0", 1],
      ["1.0.0", 9],
      ["1.0.0", 5],
    ]);
    expect(orderReleases(releases, "publish_time").map((release) => release.published_at)).toEqual([9 * day]);
    expect(orderReleases([...releases].reverse(), "semantic").map((release) => release.published_at)).toEqual([
      9 * day,
    ]);
  });

  test("counts the first observation where upstream has no time", () => {
    const releases = [
      { tag: "1.0.0", published_at: null, first_observed_at: 9 },
      { tag: "1.1.0", published_at: 5, first_observed_at: 100 },
    ];
    expect(orderReleases(releases, "publish_time").map((release) => release.tag)).toEqual(["1.0.0", "1.1.0"]);
  });

  test("does not mind tags from the tables of hostile input", () => {
    const hostile = ["", "\u0000", "🚀", "a".repeat(10_000), "-", "1.2.3", "__proto__", "constructor"];
    expect(chooseLatest(dated(hostile.map((tag) => [tag, 1])), "publish_time")?.tag).toBe("1.2.3");
  });
});
