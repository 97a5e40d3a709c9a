import { classify, familyOf, type ParsedTag } from "./classify.ts";
import { areOfTwoPrograms, floatingAliases } from "./families.ts";
import { leadingGroups } from "./leading.ts";
import { type Aim, maturityOf } from "./maturity.ts";
import { compareInFamily, compareNaturally, comparePrecedence } from "./precedence.ts";

/**
 * Orders two tags by SemVer's precedence, extended to any number of parts, `rc10`, build marks and prefixes. Null when they are not
 * comparable: different families, two programs of one image, floating names, no versions. 0 means equal precedence (`v1.2.0`, `1.2`,
 * `1.2.0+meta`).
 */
export function compareVersions(a: string, b: string): -1 | 0 | 1 | null {
  const left = classify(a);
  const right = classify(b);
  if (!areComparable(left, right)) return null;
  return toSign(comparePrecedence(left, right));
}

/**
 * Whether going from one tag to the other is a downgrade; null when unknown (different families, two programs of one image, floating
 * names). Build metadata behind `+` counts here, although it has no precedence in SemVer.
 */
export function isDowngrade(from: string, to: string): boolean | null {
  const left = classify(from);
  const right = classify(to);
  if (!areComparable(left, right)) return null;
  return (comparePrecedence(left, right) || compareNaturally(left.metadata, right.metadata)) > 0;
}

/**
 * All distinct tags, newest first by version: the leading family, then the other families, then floating names and non-versions. A total
 * order that depends only on the set of tags. With an aim, its preferred maturity comes first.
 */
export function orderTags(tags: readonly string[], aim: Aim | null = null): string[] {
  const groups = leadingGroups([...new Set(tags)].map(classify), {
    aim,
    maturity: maturityOf,
    times: null,
    compare: (a, b) => compareInFamily(b, a),
    mixes_families: false,
  });
  return groups.flat().map((tag) => tag.tag);
}

/**
 * Tags that are names for longer ones beside them, as `1` and `1.27` are beside `1.27.3`. Not when shorter numbers are releases themselves:
 * some of them have no longer one, and none has a longer one that ends in `.0`.
 */
export function floatingTags(tags: readonly string[]): Set<string> {
  return floatingAliases([...new Set(tags)].map(classify));
}

function areComparable(a: ParsedTag, b: ParsedTag): boolean {
  return familyOf(a) === familyOf(b) && !areOfTwoPrograms(a, b);
}

function toSign(value: number): -1 | 0 | 1 {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}
