import { describe, expect, test } from "bun:test";
import { classify, familyOf, isPrerelease } from "../../src/versions/classify.ts";
import { tagTable } from "./tag-tables.ts";

describe("classify()", () => {
  test.each(tagTable)("reads %j as %s of family %s", (tag, scheme, family, prerelease) => {
    expect({ scheme: classify(tag).scheme, family: familyOf(tag), prerelease: isPrerelease(tag) }).toEqual({
      scheme: scheme as ReturnType<typeof classify>["scheme"],
      family,
      prerelease,
    });
  });

  test("names every part of a tag", () => {
    expect(classify("release/app-v1.22.0-rc.1-ls5-alpine3.20+abc")).toEqual({
      tag: "release/app-v1.22.0-rc.1-ls5-alpine3.20+abc",
      scheme: "semver",
      shape: "version",
      prefix: "release/app-v",
      name: "release-app",
      numbers: ["1", "22", "0"],
      prerelease: ["rc", "1"],
      is_dev_release: false,
      builds: [{ word: "ls", number: "5" }],
      metadata: "abc",
      variant: "alpine3.20",
      variant_numbers: [],
    });
  });

  test("keeps a family's key the same for a parsed tag and its text", () => {
    for (const [tag, , family] of tagTable) expect(familyOf(classify(tag))).toBe(family);
  });

  test.each([
    ["10,000 digits", "1".repeat(10_000)],
    ["10,000 dots", ".".repeat(10_000)],
    ["5,000 parts", "1.".repeat(5_000)],
    ["a lone surrogate", "1.2.3-\ud800"],
    ["an escape sequence", "\u001b[31m1.2.3"],
    ["a right-to-left override", "\u202e3.2.1"],
  ])("takes %s for no version", (_, tag) => {
    expect(classify(tag).scheme).toBe("other");
  });

  test.each([
    ["only separators", "-._/-._/", "floating"],
    ["only digits, 256 of them", "9".repeat(256), "semver"],
    ["128 parts", `1${".1".repeat(127)}`, "semver"],
    ["letters of other scripts", "версия-1.2.3", "semver"],
    ["figures of other scripts", "١.٢.٣", "floating"],
    ["an emoji variant", "1.2.3-🚀", "semver"],
    ["a trailing separator", "1.2.3-", "semver"],
    ["doubled separators", "1.2.3--rc..1", "semver"],
    ["names of object members", "constructor", "floating"],
    ["a prototype", "__proto__-1.0", "semver"],
  ])("gives an answer for %s", (_, tag, scheme) => {
    expect(classify(tag).scheme).toBe(scheme as ReturnType<typeof classify>["scheme"]);
    expect(classify(tag).tag).toBe(tag);
  });
});
