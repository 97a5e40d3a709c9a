import { findCore, isDigit, isHash, isSeparatorAt, type NumberShape, type TagCore } from "./tag-core.ts";
import { type BuildMark, commitsWord, readSuffix, type Suffix, tokensOf } from "./tag-suffix.ts";
import {
  baseWords,
  canaryWords,
  ephemeralWords,
  movingWords,
  neutralPrefixWords,
  platformWords,
  prereleaseWords,
} from "./tag-words.ts";

/** Longer names are `other`: no registry and no forge has them. */
const MAX_TAG_CHARACTERS = 256;

/**
 * `semver`: numbers that count (1 to any number of parts); `calver`: numbers that are a date; `floating`: a name that moves from version to
 * version (`latest`, `stable-alpine`, `1.22-nightly`); `other`: no version at all (`sha-…`, `pr-12`, control characters).
 */
export type TagScheme = "semver" | "calver" | "floating" | "other";

/** A tag in its parts. Numbers are decimal text without leading zeros, so that none is rounded. */
export interface ParsedTag {
  tag: string;
  scheme: TagScheme;
  shape: NumberShape | null;
  /** The text before the number, as written: `v`, `release/`, `prometheus-adapter-`. */
  prefix: string;
  /** The part of the prefix that names a line, in lower case; "" for `v`, `version/`, `release-` and none. */
  name: string;
  numbers: readonly string[];
  /** SemVer-like identifiers, `rc10` split into `rc` and `10`; empty for a release. */
  prerelease: readonly string[];
  /** Python's `.dev1`, which comes before every alpha; `-dev.1` follows SemVer instead. */
  is_dev_release: boolean;
  builds: readonly BuildMark[];
  /** The text behind a `+`; without effect on precedence. */
  metadata: string;
  /** Operating system, architecture, flavour, in lower case; `#` stands for each of `variant_numbers`. */
  variant: string;
  variant_numbers: readonly string[];
}

/** Splits a tag into its parts. Works for every text, in time linear in its length. */
export function classify(tag: string): ParsedTag {
  if (tag === "" || tag.length > MAX_TAG_CHARACTERS || hasBlankOrControl(tag)) return withoutNumber(tag, "other");
  const core = findCore(tag);
  const firstWord = firstWordOf(tag).toLowerCase();
  if (isHash(firstWord)) return withoutNumber(tag, "other");
  if (core === null) return withoutNumber(tag, ephemeralWords.has(firstWord) || hasHash(tag) ? "other" : "floating");
  if (core.start > firstWord.length && ephemeralWords.has(firstWord)) return withoutNumber(tag, "other");
  if (isMovingPrefix(tag.slice(0, core.start).toLowerCase(), core, core.end === tag.length)) {
    return withoutNumber(tag, "floating");
  }
  const suffix = readSuffix(tag.slice(core.end), core.numbers.length);
  if (suffix.is_floating) return withoutNumber(tag, "floating", suffix);
  const prefix = tag.slice(0, core.start);
  return {
    tag,
    scheme: core.shape === "version" ? "semver" : "calver",
    shape: core.shape,
    prefix,
    name: nameOf(prefix),
    numbers: numbersOf(core, suffix),
    prerelease: suffix.prerelease,
    is_dev_release: suffix.is_dev_release,
    builds: suffix.builds,
    metadata: suffix.metadata,
    variant: suffix.variant,
    variant_numbers: suffix.variant_numbers,
  };
}

/**
 * The key of comparable tags: same kind of number, same name, same variant. Stable, so that it can be stored. A floating or other tag is
 * alone in its family.
 */
export function familyOf(tag: string | ParsedTag): string {
  const parsed = typeof tag === "string" ? classify(tag) : tag;
  if (parsed.shape === null) return `${parsed.scheme}|${parsed.tag}`;
  return `${parsed.shape}|${parsed.name}|${parsed.variant}`;
}

/**
 * True for alphas, betas, candidates, nightlies and the like: by suffix, by commits after a version (`1.2.3-12-gabc1234`), by line
 * (`develop-1.2.3`), or as a floating name (`edge`).
 */
export function isPrerelease(tag: string | ParsedTag): boolean {
  const parsed = typeof tag === "string" ? classify(tag) : tag;
  if (parsed.prerelease.length > 0 || parsed.builds.some(({ word }) => word === commitsWord)) return true;
  if (parsed.scheme === "other" || (parsed.shape !== null && parsed.name === "")) return false;
  const words = wordsOf((parsed.scheme === "floating" ? parsed.tag : parsed.name).toLowerCase());
  if (parsed.scheme === "floating" && words.some((word) => movingWords.has(word))) return true;
  return (
    words.some((word) => prereleaseWords.has(word)) &&
    words.every((word) => prereleaseWords.has(word) || platformWords.has(word) || isDigit(word[0]))
  );
}

/** `latest-18`, `alpine3.21`, `develop-v6`: the number belongs to something else, or only names a line. */
function isMovingPrefix(prefix: string, core: TagCore, isAtEnd: boolean): boolean {
  if (prefix === "" || prefix === "v") return false;
  const words = wordsOf(prefix);
  if (baseWords.has(prefix) || words.includes("latest")) return true;
  const isLine = core.numbers.length === 1 && isAtEnd && words.length > 1 && words.at(-1) === "v";
  return isLine && words.slice(0, -1).every((word) => canaryWords.has(word));
}

function numbersOf(core: TagCore, suffix: Suffix): readonly string[] {
  if (core.shape === "date") return [...core.numbers, ...suffix.more_numbers];
  return suffix.update === null ? core.numbers : [...core.numbers, suffix.update];
}

function withoutNumber(tag: string, scheme: "floating" | "other", suffix?: Suffix): ParsedTag {
  return {
    tag,
    scheme,
    shape: null,
    prefix: "",
    name: "",
    numbers: [],
    prerelease: suffix?.prerelease ?? [],
    is_dev_release: false,
    builds: [],
    metadata: "",
    variant: suffix?.variant ?? "",
    variant_numbers: [],
  };
}

function hasBlankOrControl(tag: string): boolean {
  return !/^[!-~]*$/.test(tag) && /[\s\p{Cc}\p{Cf}\p{Cs}]/u.test(tag);
}

function hasHash(tag: string): boolean {
  return wordsOf(tag).some(isHash);
}

function firstWordOf(tag: string): string {
  let start = 0;
  while (isSeparatorAt(tag, start)) start += 1;
  let end = start;
  while (end < tag.length && !isSeparatorAt(tag, end)) end += 1;
  return tag.slice(start, end);
}

/** The words of a text without separators. */
export function wordsOf(text: string): string[] {
  return tokensOf(text)
    .map((token) => token.text)
    .filter((word) => word !== "");
}

/** The line's name in a prefix, without commits and without a trailing `v`, `version` or `release`. */
function nameOf(prefix: string): string {
  if (prefix === "" || prefix === "v") return "";
  const words = tokensOf(prefix.toLowerCase()).filter((token) => token.text !== "" && !isHash(token.text));
  while (neutralPrefixWords.has(words.at(-1)?.text ?? "")) words.pop();
  while (words.length > 0 && words.every((word) => neutralPrefixWords.has(word.text))) words.pop();
  return words.map((word, index) => (index === 0 ? word.text : `-${word.text}`)).join("");
}
