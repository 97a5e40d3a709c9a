import { describe, expect, test } from "bun:test";
import { type Behind, distanceBehind, type KnownHistory } from "../../src/versions/behind.ts";
import { classify, isPrerelease } from "../../src/versions/classify.ts";
import { compareVersions, floatingTags, orderTags } from "../../src/versions/order.ts";
import { randomFrom } from "../support/random.ts";
import { corpus } from "./corpus-files.ts";

const day = 24 * 60 * 60 * 1000;

/** Tags as `tag@day=digest`, the latest first; `!` marks a pre-release. */
function history(text: string, limits: Partial<Pick<KnownHistory, "depth" | "keep">> = {}): KnownHistory {
  const versions = text.split(" ").map((word) => {
    const [, tag = "", mark, at, digest] = /^([^@=!]+)(!)?(?:@(\d+))?(?:=(\w+))?$/.exec(word) ?? [];
    return {
      ...{ tag, digest: digest ?? null, is_prerelease: mark !== undefined, first_observed_at: 0 },
      published_at: at === undefined ? null : Number(at) * day,
    };
  });
  return { versions, depth: 100, keep: 100, ...limits };
}

function words(behind: Behind | null): string | null {
  if (behind === null) return null;
  const { steps, releases, days, is_at_least } = behind;
  const counts = steps === null ? "" : ` ${steps.major}.${steps.minor}.${steps.patch}`;
  return `${is_at_least ? ">=" : ""}${releases}${counts}${days === null ? "" : ` ${days}d`}`;
}

const list = "1.5.1 1.5.0 1.4.5 1.4.4 1.4.3 1.4.2 1.4.1 1.4.0";

describe("distanceBehind()", () => {
  test.each([
    ["patches", "1.4.2", "1.4.5", list, "3 0.0.3"],
    ["a minor and patches", "1.4.3", "1.5.1", list, "4 0.1.3"],
    ["nothing", "1.5.1", "1.5.1", list, null],
    ["a downgrade", "1.5.1", "1.4.0", list, null],
    ["a major among others", "1.9.0", "3.0.1", "3.0.1 3.0.0 2.1.0 2.0.0 1.9.1 1.9.0", "5 2.1.2"],
    ["another writing of the same version", "v1.4.2", "v1.4.4", "v1.4.4 1.4.4 v1.4.3 1.4.3 v1.4.2", "2 0.0.2"],
    ["two numbers", "16.3", "16.5", "17.0 16.5 16.4 16.3", "2 0.2.0"],
    ["single numbers", "15", "18", "18 17 16 15", "3"],
    ["four numbers", "1.40.1.8173", "1.41.0.8200", "1.41.0.8200 1.40.2.8190 1.40.1.8180 1.40.1.8173", "3 0.1.2"],
    ["calendar versions", "2024.6.1", "2024.8.0", "2024.8.0 2024.7.1 2024.7.0 2024.6.2 2024.6.1", "4"],
    ["short years with a leading zero", "22.04", "24.04", "24.04 23.10 23.04 22.10 22.04", "4"],
    ["dates", "2024-06-04", "2024-06-29", "2024-06-29 2024-06-13 2024-06-04", "2"],
    ["dates beside versions", "10.10.3", "10.11.0", "2024.12.1 10.11.0 10.10.4 10.10.3 2021.12.16", "2 0.1.1"],
    [
      "its own variant",
      "1.27.1-alpine",
      "1.27.3-alpine",
      "1.27.3-alpine 1.27.3 1.27.2 1.27.2-alpine 1.27.1-alpine",
      "2 0.0.2",
    ],
    ["another variant", "1.27.1-alpine", "1.27.3", "1.27.3 1.27.2 1.27.1-alpine", null],
    ["another base", "1.27.3-alpine3.19", "1.27.3-alpine3.20", "1.27.3-alpine3.20 1.27.3-alpine3.19", null],
    ["builds of one version", "4.0.1-ls100", "4.0.1-ls102", "4.0.1-ls102 4.0.1-ls101 4.0.1-ls100", "2 0.0.0"],
    [
      "no pre-releases on the way to a release",
      "1.4.0",
      "1.5.0",
      "1.5.0 1.5.0-rc.2 1.5.0-rc.1 1.4.1! 1.4.0",
      "1 0.1.0",
    ],
    ["pre-releases on the way to one", "1.4.0", "1.5.0-rc.2", "1.5.0-rc.2 1.5.0-rc.1 1.4.0", "2 0.1.0"],
    ["a marked pre-release", "1.4.0", "1.4.2", "1.4.2! 1.4.1! 1.4.0", "2 0.0.2"],
    ["names of lines beside versions", "1.27.1", "1.27.3", "1.27.3 1.27 1 latest 1.27.2 1.27.1 1.26", "2 0.0.2"],
    ["names of lines", "1.25", "1.27", "1.27.3 1.27 1.26.2 1.26 1.25.5 1.25", "2 0.2.0"],
    ["a name of a line and a version", "1.27", "1.27.3", "1.27.3 1.27 1.27.2 1.26.1 1.26", null],
    ["what moving names stand for", "latest=a", "latest=c", "latest 1.5.1=c 1.5.0=b 1.4.9=a", "2 0.1.1"],
    ["moving names of unknown builds", "latest", "latest=c", "latest 1.5.1=c 1.5.0=b", null],
    ["commits", "sha-0a1b2c3", "sha-1b2c3d4", "sha-1b2c3d4 sha-0a1b2c3", null],
    ["days", "1.4.2", "1.4.4", "1.4.4@30 1.4.3@20 1.4.2@11", "2 0.0.2 19d"],
    ["days with one time unknown", "1.4.2", "1.4.4", "1.4.4@30 1.4.3@20 1.4.2", "2 0.0.2"],
    ["an unknown running version", "1.3.9", "1.4.1", "1.4.1 1.4.0", ">=2 0.1.1"],
    ["git tags with words", "REL_16_2", "REL_16_4", "REL_16_4 REL_16_3 REL_16_2", "2 0.2.0"],
  ])("counts %s", (_, running, newest, known, expected) => {
    const named = (text: string) => {
      const [tag = "", digest = null] = text.split("=");
      return { tag, digest };
    };
    expect(words(distanceBehind(named(running), named(newest), history(known)))).toBe(expected);
  });

  test("resolves a moving name by the other names of its build", () => {
    const known = history("1.27.3 1.27.2 1.27.1");
    expect(words(distanceBehind({ tag: "1.27", others: ["1.27.1"] }, { tag: "1.27.3" }, known))).toBe("2 0.0.2");
  });

  test("says `at least` beyond what is kept, and where more appeared at once than one check lists", () => {
    const at = (limits: { depth?: number; keep?: number }) =>
      distanceBehind({ tag: "1.4.0" }, { tag: "1.5.1" }, history(list, limits))?.is_at_least;
    expect([at({}), at({ keep: 7 }), at({ keep: 8 }), at({ depth: 7 }), at({ depth: 8 })]).toEqual([
      ...[false, true, false, true, false],
    ]);
  });

  test("is exact where each version was found after the running one", () => {
    const { versions, ...limits } = history(list, { depth: 2 });
    const found = versions.map((version, place) => ({ ...version, first_observed_at: (100 - place) * day }));
    const behind = distanceBehind({ tag: "1.4.0" }, { tag: "1.5.1" }, { versions: found, ...limits });
    expect(behind?.is_at_least).toBe(false);
  });
});

describe("distanceBehind() over the corpus", () => {
  const random = randomFrom(17);
  for (const { name, tags } of corpus) {
    const known = history("x");
    const all: KnownHistory = {
      ...known,
      versions: tags.map((tag) => ({
        ...{ tag, digest: null, is_prerelease: false, published_at: null, first_observed_at: 0 },
      })),
    };
    const moving = floatingTags(tags);
    const exact = orderTags(tags).filter((tag) => !moving.has(tag) && classify(tag).shape !== null);
    const pick = () => exact[random(exact.length)] ?? "";

    test(`${name}: agrees with the order, adds up, and counts each change once`, () => {
      for (let round = 0; round < 200; round += 1) {
        const [a, b, c] = [pick(), pick(), pick()];
        const [ab, bc, ac] = [
          distanceBehind({ tag: a }, { tag: b }, all),
          distanceBehind({ tag: b }, { tag: c }, all),
          distanceBehind({ tag: a }, { tag: c }, all),
        ];
        const isBehind = compareVersions(a, b) === -1;
        if (ab !== null) {
          expect([a, b, isBehind]).toEqual([a, b, true]);
          expect(distanceBehind({ tag: b }, { tag: a }, all)).toBeNull();
          const steps = ab.steps === null ? 0 : ab.steps.major + ab.steps.minor + ab.steps.patch;
          expect([a, b, ab.releases >= Math.max(1, steps)]).toEqual([a, b, true]);
        }
        if (ab !== null && bc !== null && ac !== null && !isPrerelease(b) && !isPrerelease(c)) {
          expect([a, b, c, ac.releases]).toEqual([a, b, c, ab.releases + bc.releases]);
        }
      }
    });
  }
});
