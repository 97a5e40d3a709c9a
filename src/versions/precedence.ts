import type { ParsedTag } from "./classify.ts";
import { isDigitAt, isDigits, withoutLeadingZeros } from "./tag-core.ts";
import type { BuildMark } from "./tag-suffix.ts";

/** Within one family: precedence, then everything it leaves open, so that no two different tags are equal. */
export function compareInFamily(a: ParsedTag, b: ParsedTag): number {
  return (
    comparePrecedence(a, b) ||
    compareNaturally(a.metadata, b.metadata) ||
    a.numbers.length - b.numbers.length ||
    compareText(b.tag, a.tag)
  );
}

/** Precedence of two tags of one family; meaningless for different families. */
export function comparePrecedence(a: ParsedTag, b: ParsedTag): number {
  return (
    compareNumbers(a.numbers, b.numbers) ||
    comparePrereleases(a, b) ||
    compareBuilds(a.builds, b.builds) ||
    compareNumbers(a.variant_numbers, b.variant_numbers)
  );
}

/** Numbers of any size part by part; a missing part is 0. */
export function compareNumbers(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = compareDigits(a[index] ?? "0", b[index] ?? "0");
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Two decimal numbers of any size without leading zeros. */
export function compareDigits(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}

function comparePrereleases(a: ParsedTag, b: ParsedTag): number {
  const stageOf = (tag: ParsedTag) => (tag.is_dev_release ? 0 : tag.prerelease.length > 0 ? 1 : 2);
  const difference = stageOf(a) - stageOf(b);
  if (difference !== 0) return difference;
  for (let index = 0; index < Math.min(a.prerelease.length, b.prerelease.length); index += 1) {
    const comparison = compareIdentifiers(a.prerelease[index] ?? "", b.prerelease[index] ?? "");
    if (comparison !== 0) return comparison;
  }
  return a.prerelease.length - b.prerelease.length;
}

/** SemVer 11.4: numbers by size, before words; words by their characters. */
function compareIdentifiers(a: string, b: string): number {
  const isNumberA = isDigits(a);
  const isNumberB = isDigits(b);
  if (isNumberA && isNumberB) return compareDigits(a, b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return compareText(a, b);
}

function compareBuilds(a: readonly BuildMark[], b: readonly BuildMark[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const left = a[index];
    const right = b[index];
    if (left === undefined || right === undefined) break;
    const difference = compareText(left.word, right.word) || compareOptional(left.number, right.number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareOptional(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareDigits(a, b);
}

/** Text with its numbers compared by size: `k3s2` before `k3s10`. */
export function compareNaturally(a: string, b: string): number {
  let same = 0;
  while (same < a.length && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  // The difference may be within a number or word that began before.
  for (const start of [beginningOf(a, same), same]) {
    const left = partAt(a, start);
    const right = partAt(b, start);
    if (left === right) continue;
    if (left === "" || right === "") return left.length - right.length;
    return compareIdentifiers(left, right);
  }
  return 0;
}

/** Where the number or word that contains the character before `end` begins. */
function beginningOf(text: string, end: number): number {
  let start = end;
  while (start > 0 && isDigitAt(text, start - 1) === isDigitAt(text, end - 1)) start -= 1;
  return start;
}

/** The whole number or word at `start`; blank at the end. */
function partAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && isDigitAt(text, end) === isDigitAt(text, start)) end += 1;
  return text.slice(start, end);
}

/** Names of variants, lines and moving tags: words as they are, higher numbers first, so that what is built on the newest comes first. */
export function compareNames(a: string, b: string): number {
  const left = a.split(/(\d+)/);
  const right = b.split(/(\d+)/);
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const [part = "", other = ""] = [left[index], right[index]];
    // Splitting at numbers puts them at odd positions.
    const difference =
      index % 2 === 1 ? compareDigits(withoutLeadingZeros(other), withoutLeadingZeros(part)) : compareText(part, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length || compareText(a, b);
}

/** By UTF-16 code units: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
