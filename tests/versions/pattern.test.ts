import { describe, expect, test } from "bun:test";
import { inEnglish } from "../../src/messages/message.ts";
import { withoutLookaround } from "../../src/versions/lookaround.ts";
import {
  cachedPatternCount,
  find,
  includePatternError,
  matches,
  PatternError,
  parsePattern,
} from "../../src/versions/pattern.ts";

function errorOf(text: string): PatternError | null {
  try {
    parsePattern(text);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
  return null;
}

describe("matches() and find()", () => {
  test.each([
    ["searches, and is not anchored", "1\\.2", "v1.2.3", { start: 1, end: 4 }],
    ["is anchored where told", "^1\\.2$", "v1.2.3", null],
    ["takes a whole version", "^v?\\d+\\.\\d+\\.\\d+$", "v1.27.3", { start: 0, end: 7 }],
    ["finds an empty pattern at the start", "", "1.2.3", { start: 0, end: 0 }],
    ["minds case", "RC", "1.0-rc1", null],
    ["ignores case where told", "(?i)RC", "1.0-rc1", { start: 4, end: 6 }],
    ["knows named groups", "(?<major>\\d+)\\.", "17.2", { start: 0, end: 3 }],
    ["counts positions as strings do", "b", "😀b", { start: 2, end: 3 }],
    ["matches letters of any script", "\\p{L}+", "1.0-версия", { start: 4, end: 10 }],
    ["takes the first of several", "rc", "rc-rc", { start: 0, end: 2 }],
    ["takes the first alternative, as people expect", "rc|rc10", "rc10", { start: 0, end: 2 }],
    ["sees control characters", "\\x00", "a\u0000b", { start: 1, end: 2 }],
  ] as const)("%s", (_, pattern, text, range) => {
    const parsed = parsePattern(pattern);
    expect(find(parsed, text)).toEqual(range);
    expect(matches(parsed, text)).toBe(range !== null);
  });

  test.each([
    [256, true],
    [257, false],
    [10_000, false],
  ])("a text of %d characters: %p", (length, expected) => {
    expect(matches(parsePattern("a"), "a".repeat(length))).toBe(expected);
    expect(find(parsePattern("a"), "a".repeat(length)) !== null).toBe(expected);
  });

  // Backtracking engines give up, take minutes or answer wrongly on these.
  test.each([
    ["^(a+)+$", `${"a".repeat(255)}!`, false],
    ["^(?:(a+)+$|a)", `${"a".repeat(40)}!`, true],
    ["(a|aa)+$", `${"a".repeat(255)}!`, false],
    ["(.*)*x", "a".repeat(256), false],
    ["(a*)*b", "a".repeat(256), false],
    ["([a-zA-Z]+)*1", "a".repeat(256), false],
    ["(a?){100}a{100}", "a".repeat(100), true],
    ["(x+x+)+y", "x".repeat(256), false],
    ["(?:a|b)*a(?:a|b){101}$", "ab".repeat(128), true],
    ["(?:a|b)*a(?:a|b){100}$", "ab".repeat(128), false],
    ["((((a*)*)*)*)*c", "a".repeat(256), false],
  ])("answers %s rightly, also when asked again", (pattern, text, expected) => {
    for (const _ of [1, 2]) expect(matches(parsePattern(pattern), text)).toBe(expected);
  });
});

describe("parsePattern() refuses", () => {
  test.each([
    ["(?=rc)", "lookaround", "include pattern"],
    ["^(?!.*rc)", "lookaround", "exclude pattern"],
    ["(?<=v)1", "lookaround", "exclude pattern"],
    ["(?<!v)1", "lookaround", "exclude pattern"],
    ["(\\d)\\1", "back_reference", "\\1"],
    ["(?<n>\\d)\\k<n>", "back_reference", "\\k"],
    ["(?>a)", "syntax", "atomic"],
    ["a++", "syntax", "possessive"],
    ["(?#note)a", "syntax", "comments"],
    ["(?(1)a|b)", "syntax", "alternatives"],
    ["a\\Z", "syntax", "\\z"],
    ["\\u0041", "syntax", "\\x{"],
    ["\\h", "syntax", "escape"],
    ["\\", "syntax", "single backslash"],
    ["[a-", "syntax", "]"],
    ["(a", "syntax", "missing closing )"],
    ["a)", "syntax", "unexpected )"],
    ["*", "syntax", "something to repeat"],
    ["(a+)+{3}", "syntax", "(?:a+){3}"],
    ["a{2}*", "syntax", "(?:a+){3}"],
    ["a{2,1}", "syntax", "smaller first"],
    ["a{1001}", "syntax", "0 to 1000"],
    ["((((a{100}){100}){100}){100})", "too_large", "smaller counts"],
    ["(?:(?:a?){500}){5}".repeat(2), "too_large", "smaller counts"],
    ["(.?){999}".repeat(56), "too_large", "smaller counts"],
    ["a".repeat(513), "too_long", "512"],
    ["(".repeat(10_000), "too_long", "512"],
  ] as const)("%j as %s, and says what to do", (pattern, code, words) => {
    const error = errorOf(pattern);
    expect(error?.said.code).toBe(`patterns.${code}`);
    expect(error?.message).toContain(words);
    expect(error?.message).toMatch(/^[A-Z].*[^.]$/s);
  });

  test("and hands on the engine's own message, unless what is not supported is known", () => {
    expect(errorOf("(a")?.message).toContain("error parsing regexp: missing closing )");
    for (const pattern of ["(?!rc)", "(?<=x)([a", "(a)\\1"]) {
      expect(errorOf(pattern)?.message).toContain("is not supported");
      expect(errorOf(pattern)?.message).not.toContain("error parsing");
    }
  });

  test("nothing of 512 characters and the forms that people use", () => {
    for (const pattern of [
      "a".repeat(512),
      "^[0-9a-f]{40}$",
      "^v?\\d{1,4}(?:\\.\\d{1,4}){1,3}$",
      "[(){}]{2}",
      "\\(\\{",
    ]) {
      expect(errorOf(pattern)).toBeNull();
    }
  });
});

describe("the cache of patterns", () => {
  test("gives the same compiled pattern again", () => {
    expect(parsePattern("^same$")).toBe(parsePattern("^same$"));
  });

  test("is bounded, and drops what was not used for longest", () => {
    const kept = parsePattern("^kept$");
    const dropped = parsePattern("^dropped$");
    for (let index = 0; index < 300; index += 1) {
      parsePattern(`^filler-${index}$`);
      parsePattern("^kept$");
    }
    expect(cachedPatternCount()).toBe(256);
    expect(parsePattern("^kept$")).toBe(kept);
    expect(parsePattern("^dropped$")).not.toBe(dropped);
  });
});

describe("an include pattern with lookaround", () => {
  const tags = ["v1.2.3", "1.2.3-rc1", "v2.0-beta.1", "rc-1", "beta", "latest", "v1.2.3-alpine", "1.0rc", "V1-RC"];

  test.each([
    ["^(?!.*rc)", "", "rc"],
    ["^(?!.*rc).*$", "", "rc"],
    ["(?!.*rc)", "", "rc"],
    ["^(?!rc)", "", "^rc"],
    ["^(?!rc|beta).+", "", "^(?:rc|beta)"],
    ["^(?!.*(?:rc|beta))v?\\d", "^v?\\d", "(?:rc|beta)"],
    ["^(?!.*rc)(?!.*-alpine$)v", "^v", "rc|-alpine$"],
    ["^(?!.*[)|]|x).*", null, null],
    ["(?i)^(?!.*rc)v", "(?i)^v", "(?i)rc"],
    ["^v.*(?<!rc\\d)$", "^v.*$", "rc\\d$"],
    ["\\d(?<!-rc\\d)$", "\\d$", "-rc\\d$"],
    ["^(?!.*rc)v|^1", null, null],
    ["^v|beta(?<!rc-beta)$", null, null],
    ["^v(?=1)", null, null],
    ["^v(?!.*rc)", null, null],
    ["^(?!.*a(?=b))v", "^v", "a(?=b)"],
    ["^(?!", null, null],
  ])("%s is include %p and exclude %p", (text, include, exclude) => {
    const pair = withoutLookaround(text);
    expect(pair).toEqual(include === null || exclude === null ? null : { include, exclude });
    if (pair === null || exclude?.includes("(?=")) return;
    const wanted = new RegExp(text.replace("(?i)", ""), text.startsWith("(?i)") ? "i" : "");
    const takes = (tag: string) =>
      matches(parsePattern(pair.include), tag) && !matches(parsePattern(pair.exclude), tag);
    if (!text.startsWith("(?!")) for (const tag of tags) expect([tag, takes(tag)]).toEqual([tag, wanted.test(tag)]);
  });

  test.each([
    ["^(?!.*rc)", "leave the include pattern blank and enter `rc` as the exclude pattern"],
    ["^(?!.*rc)v", "enter `^v` as the include pattern and `rc` as the exclude pattern"],
    ["^(?!.*a(?=b))v", "move what must be there to the include pattern"],
  ])("%s is answered: %s", (text, words) => {
    const error = errorOf(text);
    if (error === null) throw new Error("It was taken");
    expect(inEnglish(includePatternError(text, error))).toContain(words);
  });
});
