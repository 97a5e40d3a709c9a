import { familyOf, type ParsedTag } from "./classify.ts";
import { compareDigits, compareNumbers } from "./precedence.ts";
import { isDigitAt, isDigits } from "./tag-core.ts";
import { shortestDate } from "./tag-suffix.ts";

/** From this many on, single numbers above every dotted one count builds. */
const fewestCounters = 3;
/** With this many unmarked releases per dated version, the dates are no releases. */
const releasesForSnapshot = 2;
/** Longer names are not a line: `1.2.3.4.5.6.7.8` is no moving name. */
const maxAliasParts = 8;

/**
 * Each tag's family. A repository's whole list shows more than two tags: single numbers that count builds (`1` to `176` beside `4.0.17`),
 * the version of a bundled program (`142.0-20251101` beside `4.38.0-20251101`), builds of unreleased versions (`7.1-20210323230041` beside
 * `6.8.3`), and numbers behind a dash that recur with every version (`4.0.8-18`, `4.0.8-20`, `4.0.7-18`) and name the base. Each is a
 * family of its own, with a key different from `familyOf`.
 */
export function familyKeys(parsed: readonly ParsedTag[]): Map<ParsedTag, string> {
  const families = new Map<string, ParsedTag[]>();
  for (const tag of parsed) append(families, familyOf(tag), tag);
  const keys = new Map<ParsedTag, string>();
  for (const [key, members] of families) {
    const counters = countersAmong(members);
    const bundled = bundledAmong(members);
    const snapshots = snapshotsAmong(members);
    const bases = basesAmong(members);
    const foreign = (tag: ParsedTag) =>
      counters.has(tag) ? "|counter" : bundled.has(tag) ? "|bundled" : snapshots.has(tag) ? "|snapshot" : null;
    for (const member of members) keys.set(member, `${key}${foreign(member) ?? bases.get(member) ?? ""}`);
  }
  return keys;
}

/** Packagings of one version count from 0 or 1; other numbers, of which the same two occur with two versions, are bases. */
function basesAmong(members: readonly ParsedTag[]): Map<ParsedTag, string> {
  const marked = members.filter(({ builds: [first, second] }) => first?.word === "" && second === undefined);
  const marks = new Map<string, number>();
  const marksOfVersion = new Map<string, number>();
  for (const tag of marked) {
    if (isDated(tag)) return new Map();
    const { builds, numbers, prerelease } = tag;
    const version = `${numbers.join(".")}-${prerelease.join(".")}`;
    const mark = builds[0]?.number ?? "";
    marks.set(mark, (marks.get(mark) ?? 0) + 1);
    marksOfVersion.set(version, (marksOfVersion.get(version) ?? 0) + 1);
  }
  const recur = (counts: ReadonlyMap<string, number>) => [...counts.values()].filter((count) => count > 1).length > 1;
  if (marks.has("0") || marks.has("1") || !recur(marks) || !recur(marksOfVersion)) return new Map();
  return new Map(marked.map((tag) => [tag, `|on ${tag.builds[0]?.number ?? ""}`]));
}

/** Single bare numbers count builds when at least three of them are above every dotted version; `17` alone above `16.9` is a version. */
function countersAmong(members: readonly ParsedTag[]): Set<ParsedTag> {
  const dotted = members.filter((tag) => tag.numbers.length > 1);
  const singles = members.filter((tag) => tag.numbers.length === 1 && hasNoMarks(tag));
  if (dotted.length === 0) return new Set();
  const highest = highestFirst(dotted);
  const above = new Set(singles.map(firstNumber).filter((number) => compareDigits(number, highest) > 0));
  return new Set(above.size >= fewestCounters ? singles : []);
}

/** Among versions with a date, those far above the longest belong to another program. */
function bundledAmong(members: readonly ParsedTag[]): Set<ParsedTag> {
  const dated = members.filter(isDated);
  const parts = dated.reduce((most, tag) => Math.max(most, tag.numbers.length), 0);
  const own = highestFirst(dated.filter((tag) => tag.numbers.length === parts));
  const isFar = (tag: ParsedTag) => tag.numbers.length < parts && isTenfold(tag, own);
  return new Set(dated.some(isFar) ? members.filter(isFar) : []);
}

/** Of two versions with a date, one has fewer parts and is far above the other: they belong to different programs. */
export function areOfTwoPrograms(a: ParsedTag, b: ParsedTag): boolean {
  if (!isDated(a) || !isDated(b) || a.numbers.length === b.numbers.length) return false;
  const [shorter, longer] = a.numbers.length < b.numbers.length ? [a, b] : [b, a];
  return isTenfold(shorter, firstNumber(longer));
}

/** More than ten times as high. */
function isTenfold(tag: ParsedTag, own: string): boolean {
  return compareDigits(firstNumber(tag), `${own === "0" ? "1" : own}0`) > 0;
}

/** When releases are unmarked, a few dates above all of them mark snapshot builds; `10.10.3.20241119-035433` belongs to 10.10.3. */
function snapshotsAmong(members: readonly ParsedTag[]): Set<ParsedTag> {
  const released = members.filter(isPlain);
  const highest = released.map(({ numbers }) => numbers).reduce((a, b) => (compareNumbers(a, b) >= 0 ? a : b), []);
  const dated = members.filter((tag) => isDated(tag) && tag.prerelease.length === 0);
  const above = dated.filter(({ numbers }) => compareNumbers(numbers.slice(0, highest.length), highest) > 0);
  return new Set(released.length >= releasesForSnapshot * dated.length ? above : []);
}

/** `4.38.0-20251101`: its only mark is its build date. */
function isDated({ builds: [first, second] }: ParsedTag): boolean {
  return first?.word === "" && second === undefined && (first.number ?? "").length >= shortestDate;
}

function firstNumber(tag: ParsedTag): string {
  return tag.numbers[0] ?? "0";
}

function highestFirst(tags: readonly ParsedTag[]): string {
  return tags.map(firstNumber).reduce((a, b) => (compareDigits(a, b) >= 0 ? a : b), "0");
}

/** By tag: every unmarked tag whose number is the beginning of a longer, released one of its family. */
export function longerReleases(parsed: readonly ParsedTag[]): Map<string, ParsedTag[]> {
  const releases = parsed.filter((tag) => tag.prerelease.length === 0);
  return longerAmong(parsed.filter(isPlain), releases, (tag) => [tag.variant]);
}

/** By tag of `shorter`: those of `longer` that begin with its number and share a variant. */
function longerAmong(
  shorter: readonly ParsedTag[],
  longer: readonly ParsedTag[],
  variantsOf: (tag: ParsedTag) => readonly string[],
): Map<string, ParsedTag[]> {
  const byKey = new Map<string, ParsedTag[]>();
  for (const tag of shorter) append(byKey, `${lineOf(tag)}|${tag.variant}|${tag.numbers.join(".")}`, tag);
  const found = new Map<string, ParsedTag[]>();
  if (byKey.size === 0) return found;
  for (const tag of longer) {
    if (tag.shape === null || tag.numbers.length < 2) continue;
    for (const variant of variantsOf(tag)) {
      let key = `${lineOf(tag)}|${variant}|`;
      for (let length = 1; length < Math.min(tag.numbers.length, maxAliasParts); length += 1) {
        key += `${length === 1 ? "" : "."}${tag.numbers[length - 1] ?? ""}`;
        for (const alias of byKey.get(key) ?? []) append(found, alias.tag, tag);
      }
    }
  }
  return found;
}

/** `jdk-alpine` with its more general variants: `jdk`, and none. At most eight. */
function widerVariants({ variant }: ParsedTag): string[] {
  const variants = [variant];
  for (let end = variant.lastIndexOf("-"); end > 0 && variants.length < 7; end = variant.lastIndexOf("-", end - 1)) {
    variants.push(variant.slice(0, end));
  }
  if (variant !== "") variants.push("");
  return variants;
}

/** Like `floatingTags` of order.ts, for distinct parsed tags. */
export function floatingAliases(parsed: readonly ParsedTag[]): Set<string> {
  const plain = parsed.filter(isPlain);
  const longer = longerAmong(
    plain,
    parsed.filter((tag) => tag.prerelease.length === 0),
    widerVariants,
  );
  const prereleases = parsed.filter((tag) => tag.prerelease.length > 0);
  const coming = longerAmong(plain, prereleases, (tag) => [tag.variant]);
  const isOwnRelease = depthsOfReleases(plain, longer, coming);
  const aliases = plain.filter((tag) => longer.has(tag.tag) && !isOwnRelease.has(depthKey(tag)));
  // `2` beside `2.0.0-beta.1`, where `1` stands for `1.23.16`.
  const depths = new Set(aliases.map(depthKey));
  const early = plain.filter((tag) => coming.has(tag.tag) && depths.has(depthKey(tag)));
  // `4.1-rc` beside `4.1.0-rc.2`.
  const unnumbered = prereleases.filter((tag) => tag.prerelease.every((word) => !isDigits(word)) && hasNoMarks(tag));
  const lines = longerAmong(unnumbered, prereleases, (tag) => [tag.variant]).keys();
  return new Set([...[...aliases, ...early].map((tag) => tag.tag), ...lines, ...shortsOfTwo(parsed)]);
}

/** `3-2.4-slim`, `3-2-slim` and `3-slim` beside `3-2.4.0-slim`, whose first number names what the version is for. */
function shortsOfTwo(parsed: readonly ParsedTag[]): string[] {
  const tags = new Set(parsed.map(({ tag }) => tag));
  return parsed.flatMap(({ tag, prefix, shape, numbers }) => {
    if (shape !== "version" || !isDigitAt(prefix, 0)) return [];
    const body = tag.slice(prefix.length);
    const suffix = body.slice(numbers.join(".").length);
    const shorter = numbers.slice(1, maxAliasParts).map((_, index) => prefix + numbers.slice(0, index + 1).join("."));
    return [...shorter, prefix.slice(0, -1)].map((start) => start + suffix).filter((short) => tags.has(short));
  });
}

/** Families and lengths at which short numbers are releases: see `floatingTags`. */
function depthsOfReleases(
  plain: readonly ParsedTag[],
  longer: ReadonlyMap<string, readonly ParsedTag[]>,
  coming: ReadonlyMap<string, unknown>,
): Set<string> {
  const alone = new Set<string>();
  const zeroed = new Set<string>();
  for (const tag of plain) {
    const extensions = longer.get(tag.tag);
    if (extensions === undefined) {
      if (!coming.has(tag.tag)) alone.add(depthKey(tag));
    } else if (extensions.some((extension) => extension.numbers[tag.numbers.length] === "0")) {
      zeroed.add(depthKey(tag));
    }
  }
  return new Set([...alone].filter((key) => !zeroed.has(key)));
}

/** A year alone also covers calendar versions: `2024` beside `2024.6.1`. */
function lineOf(tag: ParsedTag): string {
  return `${tag.shape === "epoch" ? "epoch" : ""}|${tag.name}`;
}

function depthKey(tag: ParsedTag): string {
  return `${familyOf(tag)}|${tag.numbers.length}`;
}

function isPlain(tag: ParsedTag): boolean {
  return tag.shape !== null && tag.prerelease.length === 0 && hasNoMarks(tag);
}

function hasNoMarks(tag: ParsedTag): boolean {
  return tag.builds.length === 0 && tag.metadata === "";
}

function append(map: Map<string, ParsedTag[]>, key: string, tag: ParsedTag): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [tag]);
  else list.push(tag);
}
