import { describe, expect, test } from "bun:test";
import { choicesAmong, chooseLatest, orderReleases, sortings } from "../../src/versions/channel.ts";
import { classify, familyOf, isPrerelease } from "../../src/versions/classify.ts";
import { maturityOf } from "../../src/versions/maturity.ts";
import { compareVersions, floatingTags, isDowngrade, orderTags } from "../../src/versions/order.ts";
import { compareInFamily } from "../../src/versions/precedence.ts";
import { randomFrom, shuffled } from "../support/random.ts";
import { tagOfShape } from "../support/tag-shapes.ts";

const aims = [null, "stable", "prerelease", "beta", "canary"] as const;

/** Random tags by family; those of the larger families first. */
function familiesOf(seed: number, count: number) {
  const random = randomFrom(seed);
  const families = new Map<string, Set<string>>();
  for (let index = 0; index < count; index += 1) {
    const tag = tagOfShape(random);
    const key = familyOf(tag);
    families.set(key, (families.get(key) ?? new Set()).add(tag));
  }
  return [...families.values()].map((tags) => [...tags]).sort((a, b) => b.length - a.length);
}

describe("within a family, on random tags of every shape", () => {
  const families = familiesOf(20_250_113, 4_000)
    .filter((tags) => tags.length > 2)
    .slice(0, 50)
    .map((tags) => tags.slice(0, 25));

  test("the order is total: antisymmetric, transitive, and equal for nothing but itself", () => {
    expect(families.length).toBeGreaterThan(20);
    const wrong: string[][] = [];
    for (const tags of families) {
      const sorted = tags.map(classify).sort(compareInFamily);
      for (const [low, a] of sorted.entries()) {
        if (compareInFamily(a, a) !== 0) wrong.push([a.tag]);
        for (const b of sorted.slice(low + 1)) {
          if (compareInFamily(a, b) >= 0 || compareInFamily(b, a) <= 0) wrong.push([a.tag, b.tag]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test("precedence is a weak order that the total one refines, and nothing is a step back both ways", () => {
    const wrong: string[][] = [];
    for (const tags of families) {
      const sorted = tags.map(classify).sort(compareInFamily);
      for (const [low, { tag: a }] of sorted.entries()) {
        for (const { tag: b } of sorted.slice(low)) {
          const upward = compareVersions(a, b);
          if (upward !== 0 && upward !== -1) wrong.push(["not upward", a, b]);
          if (compareVersions(b, a) !== (upward === 0 ? 0 : 1)) wrong.push(["not antisymmetric", a, b]);
          if (isDowngrade(a, b) !== false) wrong.push(["a step back", a, b]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("tags of different families are never compared", () => {
  const [first = [], second = [], third = []] = familiesOf(3, 2_000);
  for (const a of first.slice(0, 40)) {
    for (const b of [...second.slice(0, 20), ...third.slice(0, 20)]) expect(compareVersions(a, b)).toBeNull();
  }
});

describe("whole lists", () => {
  test.each(aims)("have one order for %p, however they come, and lose nothing", (aim) => {
    const random = randomFrom(99);
    for (let round = 0; round < 40; round += 1) {
      const tags = [...new Set(Array.from({ length: 1 + random(50) }, () => tagOfShape(random)))];
      const ordered = orderTags(tags, aim);
      expect(orderTags(shuffled(tags, random), aim)).toEqual(ordered);
      expect(ordered.toSorted()).toEqual(tags.toSorted());
      const releases = tags.map((tag) => ({ tag, published_at: random(4), first_observed_at: 0 }));
      for (const sorting of sortings) {
        const dated = orderReleases(releases, sorting, aim);
        expect(orderReleases(shuffled(releases, random), sorting, aim)).toEqual(dated);
        expect(dated.map(({ tag }) => tag).toSorted()).toEqual(tags.toSorted());
        expect(chooseLatest(releases, sorting, aim)).toEqual(dated[0] ?? null);
        const choices = choicesAmong(releases, sorting, aim);
        expect(choices).toEqual(dated.slice(0, choices.length));
      }
    }
  });

  test("never give a stable channel a pre-release or a moving name while there is a release", () => {
    const random = randomFrom(5);
    for (let round = 0; round < 200; round += 1) {
      const tags = Array.from({ length: 1 + random(12) }, () => tagOfShape(random));
      const aliases = floatingTags(tags);
      const isRelease = (tag: string) =>
        classify(tag).shape !== null && !aliases.has(tag) && maturityOf(classify(tag)) === "release";
      const latest = orderTags(tags, "stable")[0] ?? "";
      if (tags.some(isRelease)) expect([tags, latest, isRelease(latest)]).toEqual([tags, latest, true]);
    }
  });
});

describe("hostile versions", () => {
  const long = 10_000;
  const hostile: readonly (readonly [what: string, tag: string])[] = [
    ["10,000 letters", "a".repeat(long)],
    ["10,000 digits", "9".repeat(long)],
    ["5,000 parts", "1.".repeat(long / 2)],
    ["10,000 separators", "-".repeat(long)],
    ["a long tail of candidates", `1.2.3${"-rc1".repeat(long / 4)}`],
    ["replacement characters", "1.2.3-\ufffd\ufffd\ufffd"],
    ["control characters", "1.2.3-\u0007\u001b[2J"],
    ["a line break", "1.2.3\r\n"],
    ["lone surrogates", "\udc00\ud800"],
    ["a huge number", `1.${"9".repeat(200)}.3`],
    ["120 parts", Array.from({ length: 120 }, () => "1").join(".")],
    ["120 words", `1.2.3${"-a".repeat(120)}`],
    ["a hundred commits", `1.2.3${"-1-gabcdef01".repeat(20)}`],
    ["60 dotted variants", `1.2.3-x${".1".repeat(100)}`],
    ["nothing but x", "x.x.x.x"],
    ["full-width digits", "１.２.３"],
    ["an exponent", "1e999"],
    ["a sign", "-1.2.3"],
    ["a hexadecimal number", "0x1F"],
    ["names of object members", "toString"],
  ];

  test.each(hostile)("%s is judged, whatever it is judged to be", (_, tag) => {
    const parsed = classify(tag);
    expect(parsed.tag).toBe(tag);
    expect(typeof isPrerelease(parsed)).toBe("boolean");
    expect(compareVersions(tag, tag)).toBe(0);
    expect(isDowngrade(tag, tag)).toBe(false);
  });

  test("together they do not lead over a version, and none is lost", () => {
    const tags = [...hostile.map(([, tag]) => tag), "1.2.4", "1.2.5"];
    const ordered = orderTags(tags, "stable");
    expect(ordered.toSorted()).toEqual(tags.toSorted());
    expect(ordered.indexOf("1.2.5")).toBeLessThan(ordered.indexOf("1.2.4"));
    for (const tag of ["\udc00\ud800", "1.2.3\r\n", "a".repeat(long), "9".repeat(long)]) {
      expect(ordered.indexOf(tag)).toBeGreaterThan(ordered.indexOf("1.2.4"));
    }
  });

  test("a list of 20,000 tags in one family, or each in its own, is ordered", () => {
    const one = Array.from({ length: 20_000 }, (_, index) => `1.${index}.0`);
    const own = Array.from({ length: 20_000 }, (_, index) => `app${index}-1.0`);
    const short = Array.from({ length: 20_000 }, (_, index) => `1.${index % 100}.${index % 7}-v${index}`);
    for (const tags of [one, own, short]) expect(orderTags(tags, "stable")).toHaveLength(new Set(tags).size);
    expect(orderTags(one)[0]).toBe("1.19999.0");
  });
});
