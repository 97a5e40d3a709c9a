import { describe, expect, test } from "bun:test";
import { familyOf } from "../../src/versions/classify.ts";
import { compareVersions, floatingTags, isDowngrade, orderTags } from "../../src/versions/order.ts";
import { type Random, randomFrom, shuffled } from "../support/random.ts";
import { ascendingTable, equalTable, incomparableTable, tagTable } from "./tag-tables.ts";

describe("compareVersions()", () => {
  test.each(ascendingTable.map(([what, tags]) => [what, tags] as const))("puts %s in order", (_, tags) => {
    for (let low = 0; low < tags.length; low += 1) {
      for (let high = low + 1; high < tags.length; high += 1) {
        const [a = "", b = ""] = [tags[low], tags[high]];
        expect([a, b, compareVersions(a, b), compareVersions(b, a)]).toEqual([a, b, -1, 1]);
      }
    }
  });

  test.each(equalTable)("gives %s and %s one precedence", (a, b) => {
    expect([compareVersions(a, b), compareVersions(b, a)]).toEqual([0, 0]);
  });

  test.each(incomparableTable)("does not compare %j with %j", (a, b) => {
    expect([compareVersions(a, b), compareVersions(b, a)]).toEqual([null, null]);
  });

  test("finds every tag equal to itself", () => {
    for (const [tag] of tagTable) expect(compareVersions(tag, tag)).toBe(0);
  });

  test("is antisymmetric and transitive, and null exactly across families, on random tags", () => {
    const random = randomFrom(20_240_604);
    for (let round = 0; round < 400; round += 1) {
      const [a, b, c] = [randomTag(random), randomTag(random), randomTag(random)];
      const [ab, ba, bc, ac] = [
        compareVersions(a, b),
        compareVersions(b, a),
        compareVersions(b, c),
        compareVersions(a, c),
      ];
      expect(ab === null).toBe(familyOf(a) !== familyOf(b));
      if (ab !== null) expect(ba).toBe(ab === 0 ? 0 : ab === 1 ? -1 : 1);
      if (ab !== null && bc !== null) expect([a, b, c, ac]).toEqual([a, b, c, expectedOf(ab, bc, ac)]);
    }
  });
});

describe("orderTags()", () => {
  test("is one order whatever order the tags come in, without losing or doubling one", () => {
    const random = randomFrom(7);
    for (let round = 0; round < 60; round += 1) {
      const tags = Array.from({ length: 40 }, () => randomTag(random));
      const ordered = orderTags(tags);
      expect(orderTags(shuffled(tags, random))).toEqual(ordered);
      expect(orderTags([...tags, ...tags])).toEqual(ordered);
      expect([...ordered].sort()).toEqual([...new Set(tags)].sort());
    }
  });

  test("never puts a lower version of a family before a higher one", () => {
    const random = randomFrom(11);
    for (let round = 0; round < 40; round += 1) {
      // Two parts at least: single numbers may turn out to be counters, which are a family of their own.
      const tags = Array.from({ length: 30 }, () => randomTag(random, 2));
      const ordered = orderTags(tags).filter((tag) => !floatingTags(tags).has(tag));
      for (const [index, tag] of ordered.entries()) {
        for (const later of ordered.slice(index + 1))
          expect([tag, later, compareVersions(tag, later)]).not.toContain(-1);
      }
    }
  });

  test.each([
    [
      "floating names and commits last",
      ["latest", "sha-1234abc", "1.0.0", "1.1.0"],
      ["1.1.0", "1.0.0", "latest", "sha-1234abc"],
    ],
    [
      "plain tags before variants",
      ["1.1.0-alpine", "1.0.0", "1.0.0-alpine"],
      ["1.0.0", "1.1.0-alpine", "1.0.0-alpine"],
    ],
    [
      "a stray calendar version behind",
      ["2021.12.16", "10.7.7", "10.11.4", "10.11.3"],
      ["10.11.4", "10.11.3", "10.7.7", "2021.12.16"],
    ],
    [
      "calendar versions before those they replaced",
      ["0.117.0", "0.118.5", "0.118.4", "2020.12.0", "2020.12.1", "2021.1.0"],
      ["2021.1.0", "2020.12.1", "2020.12.0", "0.118.5", "0.118.4", "0.117.0"],
    ],
    [
      "nightly dates behind versions",
      ["20240601", "20240602", "20240603", "20240604", "1.2.3"],
      ["1.2.3", "20240604", "20240603", "20240602", "20240601"],
    ],
    [
      "lines of pre-releases behind",
      ["develop-4.1.0-ls9", "develop-4.0.0-ls8", "develop-4.0.0-ls7", "4.0.0-ls1"],
      ["4.0.0-ls1", "develop-4.1.0-ls9", "develop-4.0.0-ls8", "develop-4.0.0-ls7"],
    ],
    [
      "build counters behind the versions that they count beside",
      ["174", "175", "176", "4.0.17.2952-ls314", "4.0.19.2979-ls316", "3.0.1.363-ls3", "3.0.0.1-ls1"],
      ["4.0.19.2979-ls316", "4.0.17.2952-ls314", "3.0.1.363-ls3", "3.0.0.1-ls1", "176", "175", "174"],
    ],
    [
      "what versions are built on behind the versions, though more of them are packagings",
      ["4.0.8", "4.0.7", "4.0.8-18", "4.0.8-20", "4.0.7-18", "4.0.7-20"],
      ["4.0.8", "4.0.7", "4.0.8-20", "4.0.7-20", "4.0.8-18", "4.0.7-18"],
    ],
    [
      "packagings, counted from 0 or 1, above their versions",
      ["24.0.5", "24.0.4", "24.0.5-0", "24.0.5-1", "24.0.4-0", "24.0.4-1"],
      ["24.0.5-1", "24.0.5-0", "24.0.5", "24.0.4-1", "24.0.4-0", "24.0.4"],
    ],
    [
      "names for everybody before special ones",
      ["nightly-fpm", "lts", "nightly", "latest", "stable"],
      ["latest", "stable", "lts", "nightly", "nightly-fpm"],
    ],
    ["a single number above dotted ones", ["16.9", "17", "16.8"], ["17", "16.9", "16.8"]],
    ["nothing", [], []],
  ])("puts %s", (_, tags, ordered) => {
    expect(orderTags(tags)).toEqual(ordered);
  });

  test("ends with the names for a line: 1 and 1.27 beside 1.27.3", () => {
    expect(orderTags(["1", "1.27", "1.27.3", "1.27.2", "latest"])).toEqual(["1.27.3", "1.27.2", "1.27", "1", "latest"]);
  });
});

describe("floatingTags()", () => {
  test.each([
    ["nginx", ["1", "1.27", "1.27.0", "1.27.3", "1.26", "1.26.0"], ["1", "1.27", "1.26"]],
    ["one longer tag is enough", ["1.27", "1.27.3"], ["1.27"]],
    ["variants apart", ["1.27-alpine", "1.27.3"], []],
    ["variants together", ["1.27-alpine", "1.27.3-alpine"], ["1.27-alpine"]],
    ["a year beside calendar versions", ["2024", "2024.6", "2024.6.1"], ["2024", "2024.6"]],
    ["a pre-release makes no line", ["17", "17.0-rc1"], []],
    ["a line that is only coming, where others are lines", ["1", "1.23.16", "2", "2.0.0-beta.1"], ["1", "2"]],
    ["a line of candidates", ["4.1-rc", "4.1.0-rc.2", "4.0.5"], ["4.1-rc"]],
    ["a candidate of its own", ["4.1-rc", "4.0.5"], []],
    ["a number whose versions all have a variant", ["21", "21.0.5_11-jdk", "21.0.6_7-jre"], ["21"]],
    ["a wider variant", ["2-windows", "2.9.0-windows-ltsc2022", "2.9.1-windows-1809"], ["2-windows"]],
    ["no narrower one", ["2-windows-1809", "2.9.0-windows"], []],
    ["short numbers that are releases", ["2022.01", "2022.01.1", "2022.02", "2022.04", "2022.04.1"], []],
  ])("%s", (_, tags, floating) => {
    expect([...floatingTags(tags)].sort()).toEqual([...floating].sort());
  });
});

describe("orderTags() begins", () => {
  test.each([
    [["1.0.0", "2.0.0-rc1", "latest"], null, "2.0.0-rc1"],
    [["1.0.0", "2.0.0-rc1", "latest"], "stable", "1.0.0"],
    [["2.0.0-rc1"], "stable", "2.0.0-rc1"],
    [["latest"], null, "latest"],
    [[], null, undefined],
  ] as const)("of %j with the aim %j with %j", (tags, aim, first) => {
    expect(orderTags(tags, aim)[0]).toBe(first);
  });
});

describe("isDowngrade()", () => {
  test.each([
    ["1.2.3", "1.2.2", true],
    ["1.2.3", "1.2.4", false],
    ["1.2.3", "1.2.3", false],
    ["1.2.3", "1.2.3-rc1", true],
    ["4.0.0-ls289", "4.0.0-ls99", true],
    ["v1.30.1+k3s2", "v1.30.1+k3s1", true],
    ["v1.30.1+k3s9", "v1.30.1+k3s10", false],
    ["16.9", "17", false],
    ["10.11.4", "2021.12.16", null],
    ["1.27.3", "1.27.4-alpine", null],
    ["latest", "1.2.3", null],
    ["latest", "latest", false],
  ] as const)("from %s to %s is %p", (from, to, expected) => {
    expect(isDowngrade(from, to)).toBe(expected);
  });
});

function randomTag(random: Random, fewestParts = 1): string {
  const pick = (choices: readonly string[]) => choices[random(choices.length)] ?? "";
  if (random(12) === 0)
    return pick(["latest", "stable", "sha-1234abc", "pr-4", "nightly", "", "20240604", "2024-06-05"]);
  const prefix = pick(["", "", "", "v", "v", "release-", "chart-", "develop-"]);
  const numbers = Array.from({ length: fewestParts + random(5) }, () => String(random(4)));
  if (random(6) === 0) numbers[0] = String(2020 + random(3));
  const suffixes = [
    "",
    "",
    "-rc1",
    "-rc.2",
    "-rc10",
    "-alpha",
    "-alpha.1",
    "-beta.x",
    "b2",
    ".dev3",
    "-SNAPSHOT",
    "-0.3",
    "-ls2",
  ];
  const more = [
    "",
    "",
    "",
    "-ls10",
    "-1",
    "-r3",
    "-hotfix",
    "-hotfix2",
    "+meta",
    "+meta2",
    "-foo.4",
    "-foo.12",
    "-alpine",
  ];
  return `${prefix}${numbers.join(".")}${pick(suffixes)}${pick(more)}`;
}

function expectedOf(ab: number, bc: number, ac: -1 | 0 | 1 | null): -1 | 0 | 1 | null {
  if (ab === 0) return bc as -1 | 0 | 1;
  if (bc === 0 || ab === bc) return ab as -1 | 0 | 1;
  return ac;
}

describe("build metadata", () => {
  const mark = (text: string) => `1.0.0+${text}`;
  test.each([
    ["k3s2", "k3s10"],
    ["k3s", "k3s1"],
    ["a1", "a12"],
    ["a9b", "a10"],
    ["1a", "1b"],
    ["12", "12a"],
    ["9", "a"],
  ])("%p comes before %p, by the numbers in it", (lower, higher) => {
    expect(orderTags([mark(lower), mark(higher)])).toEqual([mark(higher), mark(lower)]);
    expect(orderTags([mark(higher), mark(lower)])).toEqual([mark(higher), mark(lower)]);
  });
});
