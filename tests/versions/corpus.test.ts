import { describe, expect, test } from "bun:test";
import { type DatedRelease, orderReleases, type Sorting, sortings } from "../../src/versions/channel.ts";
import { classify, isPrerelease } from "../../src/versions/classify.ts";
import type { Aim } from "../../src/versions/maturity.ts";
import { compareVersions, floatingTags, isDowngrade, orderTags } from "../../src/versions/order.ts";
import { randomFrom, shuffled } from "../support/random.ts";
import { corpus } from "./corpus-files.ts";

type Entry = (typeof corpus)[number];

const day = 24 * 60 * 60 * 1000;

function releasesOf({ facts, tags }: Entry): DatedRelease[] {
  const hasTimes = facts.upstream !== "container tags";
  return tags.map((tag, index) => ({ tag, published_at: hasTimes ? index * day : null, first_observed_at: 0 }));
}

function expectedOf({ facts }: Entry, aim: Aim, sorting: Sorting): string | undefined {
  const isSemantic = sorting === "semantic";
  const stable = isSemantic ? (facts.stable_by_version ?? facts.stable) : facts.stable;
  if (aim === "stable") return stable;
  const byVersion = aim === "prerelease" && isSemantic ? facts.prerelease_by_version : undefined;
  const answer = byVersion ?? facts[aim];
  return answer === null ? stable : answer;
}

test("the corpus is wide enough, and its lists are of a size and without doubles", () => {
  expect(corpus.length).toBeGreaterThanOrEqual(36);
  for (const { name, tags } of corpus) {
    expect([name, tags.length >= 20, tags.length <= 80]).toEqual([name, true, true]);
    expect([name, new Set(tags).size]).toEqual([name, tags.length]);
  }
});

describe.each(corpus.map((entry): [string, Entry] => [entry.name, entry]))("%s", (name, entry) => {
  const { facts, tags } = entry;

  test.each(sortings)("has the right latest in every channel without a pattern, by %s", (sorting) => {
    const random = randomFrom(tags.length);
    for (const aim of ["stable", "prerelease", "beta", "canary"] as const) {
      const expected = expectedOf(entry, aim, sorting);
      if (expected === undefined) continue;
      const releases = releasesOf(entry);
      for (const listed of [releases, shuffled(releases, random)]) {
        expect([aim, orderReleases(listed, sorting, aim)[0]?.tag]).toEqual([aim, expected]);
      }
    }
  });

  test("has the right latest where nothing but the names is known", () => {
    expect(orderTags(tags, "stable")[0]).toBe(facts.stable_by_version ?? facts.stable);
    expect(isPrerelease(facts.stable)).toBe(false);
  });

  test("leads from one version to the next of its own kind", () => {
    const moving = floatingTags(tags);
    for (const { from, to } of facts.steps) {
      const next = orderTags(tags, "stable").find(
        (tag) => !moving.has(tag) && !isPrerelease(tag) && compareVersions(from, tag) === -1,
      );
      expect([from, next ?? null]).toEqual([from, to]);
    }
  });

  test("compares nothing that is of different kinds", () => {
    for (const [a, b] of facts.incomparable) {
      expect([a, b, compareVersions(a, b), compareVersions(b, a), isDowngrade(a, b)]).toEqual([a, b, null, null, null]);
    }
  });

  test("knows a step back", () => {
    for (const { from, to } of facts.downgrades) {
      expect([from, to, isDowngrade(from, to), isDowngrade(to, from)]).toEqual([from, to, true, false]);
    }
  });

  test("knows names that move", () => {
    const aliases = floatingTags(tags);
    const isMoving = (tag: string) => aliases.has(tag) || classify(tag).scheme === "floating";
    expect(facts.moving.filter((tag) => !isMoving(tag))).toEqual([]);
    expect([name, isMoving(facts.stable)]).toEqual([name, false]);
  });
});
