import { describe, expect, test } from "bun:test";
import semver from "semver";
import { compareVersions } from "../../src/versions/order.ts";
import { releasesOf } from "../support/project-lists.ts";
import { type Random, randomFrom } from "../support/random.ts";
import { releases } from "./real-releases.ts";

const words = ["alpha", "beta", "rc"];

/** A version as charts have them: numbers, sometimes a numbered word for a pre-release, sometimes a build. */
function versionOf(random: Random): string {
  const numbers = [random(3), random(12), random(12)].join(".");
  const candidate = random(3) === 0 ? `-${words[random(words.length)]}.${random(12)}` : "";
  return `${numbers}${candidate}${random(4) === 0 ? `+build.${random(9)}` : ""}`;
}

// Charts are SemVer by their own specification. Decision 9 says why they have no order of their own here.
describe("compareVersions() orders SemVer as SemVer does", () => {
  test.each(releases.filter(({ from }) => from.includes("charts/index.yaml")))("in $name", (chart) => {
    const versions = releasesOf(chart).map(({ tag }) => tag);
    expect(versions.filter((each) => semver.valid(each) === null)).toEqual([]);
    for (const a of versions) {
      for (const b of versions) expect([a, b, compareVersions(a, b)]).toEqual([a, b, semver.compare(a, b)]);
    }
  });

  test("in two thousand pairs", () => {
    const random = randomFrom(9);
    for (let pair = 0; pair < 2_000; pair += 1) {
      const [a, b] = [versionOf(random), versionOf(random)];
      expect([a, b, compareVersions(a, b)]).toEqual([a, b, semver.compare(a, b)]);
    }
  });
});
