import {
  findCore,
  isDigit,
  isDigits,
  isHash,
  isHexadecimal,
  isSeparator,
  type NumberShape,
  withoutLeadingZeros,
} from "./tag-core.ts";
import {
  buildWords,
  ephemeralWords,
  hashWords,
  movingWords,
  neutralPrefixWords,
  neutralWords,
  numberedBuildWords,
  platformWords,
  prereleaseAliases,
  prereleaseWords,
  shortPrereleaseWords,
} from "./tag-words.ts";

/** Longer names are `other`: no registry and no forge has them. */
export const MAX_TAG_CHARACTERS = 256;

/**
 * `semver`: numbers that count (1 to any number of parts); `calver`: numbers that are a date; `floating`: a name that moves from
 * version to version (`latest`, `stable-alpine`, `1.22-nightly`); `other`: no version at all (`sha-…`, `pr-12`, control characters).
 */
export type TagScheme = "semver" | "calver" | "floating" | "other";

/** A rebuild or repair of a version: `-ls289` is `{ word: "ls", number: "289" }`, a bare `-5` has the word "". */
export interface BuildMark {
  word: string;
  number: string | null;
}

/** A tag in its parts. Numbers are decimal text without leading zeros, so that no size of number is rounded. */
export interface ParsedTag {
  tag: string;
  scheme: TagScheme;
  shape: NumberShape | null;
  /** What stands before the number, as written: `v`, `release/`, `prometheus-adapter-`. */
  prefix: string;
  /** What of the prefix names a line of its own, in lower case; "" for `v`, `version/`, `release-` and none. */
  name: string;
  numbers: readonly string[];
  /** Identifiers in the manner of SemVer, `rc10` split into `rc` and `10`; empty for a release. */
  prerelease: readonly string[];
  /** Python's `.dev1`, which comes before every alpha; `-dev.1` follows SemVer instead. */
  is_dev_release: boolean;
  builds: readonly BuildMark[];
  /** What stands behind a `+`; without effect on precedence. */
  metadata: string;
  /** Operating system, architecture, flavour, in lower case; `#` stands for each of `variant_numbers`. */
  variant: string;
  variant_numbers: readonly string[];
}

/** Splits a tag into its parts. Total: every text gives an answer, in time linear to its length. */
export function classify(tag: string): ParsedTag {
  if (tag === "" || tag.length > MAX_TAG_CHARACTERS || hasBlankOrControl(tag)) return withoutNumber(tag, "other");
  const core = findCore(tag);
  const firstWord = firstWordOf(tag).toLowerCase();
  if (isHash(firstWord)) return withoutNumber(tag, "other");
  if (core === null) return withoutNumber(tag, ephemeralWords.has(firstWord) || hasHash(tag) ? "other" : "floating");
  if (core.start > firstWord.length && ephemeralWords.has(firstWord)) return withoutNumber(tag, "other");
  const suffix = readSuffix(tag.slice(core.end), core.numbers.length);
  if (suffix.is_floating) return withoutNumber(tag, "floating", suffix);
  const prefix = tag.slice(0, core.start);
  return {
    tag,
    scheme: core.shape === "version" ? "semver" : "calver",
    shape: core.shape,
    prefix,
    name: nameOf(prefix),
    numbers: core.shape === "date" ? [...core.numbers, ...suffix.more_numbers] : core.numbers,
    prerelease: suffix.prerelease,
    is_dev_release: suffix.is_dev_release,
    builds: suffix.builds,
    metadata: suffix.metadata,
    variant: suffix.variant,
    variant_numbers: suffix.variant_numbers,
  };
}

/**
 * The key of the tags that may be compared with this one: same kind of number, same name, same variant. Stable, so that it can be
 * stored. A floating or other tag is alone in its family.
 */
export function familyOf(tag: string | ParsedTag): string {
  const parsed = typeof tag === "string" ? classify(tag) : tag;
  if (parsed.shape === null) return `${parsed.scheme}|${parsed.tag}`;
  return `${parsed.shape}|${parsed.name}|${parsed.variant}`;
}

/** True for alphas, betas, candidates, nightlies and the like: by suffix, by line (`develop-1.2.3`), or as a floating name (`edge`). */
export function isPrerelease(tag: string | ParsedTag): boolean {
  const parsed = typeof tag === "string" ? classify(tag) : tag;
  if (parsed.prerelease.length > 0) return true;
  if (parsed.scheme === "other") return false;
  const words = wordsOf((parsed.scheme === "floating" ? parsed.tag : parsed.name).toLowerCase());
  return (
    words.some((word) => prereleaseWords.has(word)) &&
    words.every((word) => prereleaseWords.has(word) || platformWords.has(word) || isDigit(word[0]))
  );
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
  return /[\s\p{Cc}\p{Cf}\p{Cs}]/u.test(tag);
}

function hasHash(tag: string): boolean {
  return wordsOf(tag).some(isHash);
}

function firstWordOf(tag: string): string {
  return wordsOf(tag)[0] ?? "";
}

function wordsOf(text: string): string[] {
  return tokensOf(text)
    .map((token) => token.text)
    .filter((word) => word !== "");
}

/** The name that a prefix gives to a line of versions, without commits in it and without `v`, `version`, `release` at its end. */
function nameOf(prefix: string): string {
  const words = tokensOf(prefix.toLowerCase()).filter((token) => token.text !== "" && !isHash(token.text));
  while (neutralPrefixWords.has(words.at(-1)?.text ?? "")) words.pop();
  while (words.length > 0 && words.every((word) => neutralPrefixWords.has(word.text))) words.pop();
  return words.map((word, index) => (index === 0 ? word.text : `-${word.text}`)).join("");
}

interface Token {
  separator: string;
  text: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    const start = index;
    while (isSeparator(text[index])) index += 1;
    const wordStart = index;
    while (index < text.length && !isSeparator(text[index])) index += 1;
    // Of several separators the last one says how the word is joined.
    tokens.push({ separator: text.slice(start, wordStart).slice(-1), text: text.slice(wordStart, index) });
  }
  return tokens;
}

interface Suffix {
  prerelease: string[];
  is_dev_release: boolean;
  builds: BuildMark[];
  metadata: string;
  variant: string;
  variant_numbers: string[];
  /** Further parts of a date's number: `2024-06-01.2`. */
  more_numbers: string[];
  is_floating: boolean;
}

type Phase = "number" | "prerelease" | "build" | "variant";

interface Reading {
  suffix: Suffix;
  phase: Phase;
  /** How many parts the number before the suffix has. */
  parts: number;
  /** The variant ends in a number that belongs to its text: `alpine3`, `debian-12`. */
  variant_ends_in_number: boolean;
}

function readSuffix(text: string, parts: number): Suffix {
  const plus = text.indexOf("+");
  const tokens = tokensOf(plus === -1 ? text : text.slice(0, plus));
  const suffix: Suffix = {
    prerelease: [],
    is_dev_release: false,
    builds: [],
    metadata: plus === -1 ? "" : text.slice(plus + 1),
    variant: "",
    variant_numbers: [],
    more_numbers: [],
    is_floating: false,
  };
  const reading: Reading = { suffix, phase: "number", parts, variant_ends_in_number: false };
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined || token.text === "") continue;
    const next = tokens[index + 1];
    const word = token.text.toLowerCase();
    if (isDigits(token.text)) takeNumber(reading, token, next);
    else if (hashWords.has(word) && next !== undefined && isHexadecimal(next.text)) index += 1;
    else if (!isHash(token.text)) takeWord(reading, { separator: token.separator, text: word }, next);
  }
  const isMoving = suffix.prerelease.every((word) => movingWords.has(word)) && suffix.prerelease.length > 0;
  if (isMoving && parts < 3) suffix.is_floating = true;
  return suffix;
}

function takeNumber(reading: Reading, token: Token, next: Token | undefined): void {
  const { suffix } = reading;
  const number = withoutLeadingZeros(token.text);
  const isDotted = token.separator === ".";
  if (reading.phase === "variant") {
    takeVariantNumber(reading, token, number);
  } else if (reading.phase === "prerelease" && (isDotted || !isDigits(suffix.prerelease.at(-1) ?? ""))) {
    suffix.prerelease.push(number);
  } else if (reading.phase === "number" && isDotted) {
    suffix.more_numbers.push(number);
  } else if (reading.phase === "number" && isSemverNumericPrerelease(reading, token, next)) {
    suffix.prerelease.push(number);
    reading.phase = "prerelease";
  } else {
    const last = suffix.builds.at(-1);
    if (reading.phase === "build" && last !== undefined && last.number === null) last.number = number;
    else suffix.builds.push({ word: "", number });
    reading.phase = "build";
  }
}

/** `1.0.0-0.3.7` is SemVer's numeric pre-release; `1.0.0-5`, by SemVer too, is in practice the fifth packaging of 1.0.0. */
function isSemverNumericPrerelease(reading: Reading, token: Token, next: Token | undefined): boolean {
  return reading.parts === 3 && token.separator === "-" && next?.separator === "." && isDigits(next.text);
}

function takeVariantNumber(reading: Reading, token: Token, number: string): void {
  const { suffix } = reading;
  if (token.separator === "." && !reading.variant_ends_in_number) {
    suffix.variant += ".#";
    suffix.variant_numbers.push(number);
    return;
  }
  suffix.variant += `${token.separator === "." ? "." : "-"}${token.text}`;
  reading.variant_ends_in_number = true;
}

function takeWord(reading: Reading, token: Token, next: Token | undefined): void {
  const { suffix } = reading;
  const runs = runsOf(token.text);
  const stem = runs[0] ?? "";
  const isDotted = token.separator === ".";
  if (token.text === "latest" || (token.text === "x" && isDotted && reading.phase === "number")) {
    suffix.is_floating = true;
  } else if (neutralWords.has(token.text)) {
    return;
  } else if (isPrereleaseToken(reading, runs, next)) {
    if (reading.phase === "number" && stem === "dev" && token.separator !== "-") suffix.is_dev_release = true;
    const [first, ...rest] = runs;
    const word = shortPrereleaseWords.get(first ?? "") ?? prereleaseAliases.get(stem) ?? stem;
    suffix.prerelease.push(word, ...rest.map((run) => (isDigits(run) ? withoutLeadingZeros(run) : run)));
    reading.phase = "prerelease";
  } else if (reading.phase === "prerelease" && isDotted) {
    suffix.prerelease.push(...runs.map((run) => (isDigits(run) ? withoutLeadingZeros(run) : run)));
  } else if (!takeBuild(reading, token)) {
    takeVariant(reading, token);
  }
}

function isPrereleaseToken(reading: Reading, runs: readonly string[], next: Token | undefined): boolean {
  const stem = runs[0] ?? "";
  if (prereleaseWords.has(stem)) return true;
  if (!shortPrereleaseWords.has(stem)) return false;
  if (reading.phase === "build" || reading.phase === "variant") return false;
  const hasDottedNumber = runs.length === 1 && next?.separator === "." && isDigits(next.text);
  return (runs.length > 1 && isDigits(runs[1] ?? "")) || hasDottedNumber;
}

function takeBuild(reading: Reading, token: Token): boolean {
  const { suffix } = reading;
  const { stem, digits } = splitTrailingDigits(token.text);
  if (buildWords.has(stem) || (digits !== "" && numberedBuildWords.has(stem))) {
    suffix.builds.push({ word: stem, number: digits === "" ? null : withoutLeadingZeros(digits) });
    reading.phase = "build";
    return true;
  }
  // `1.1.1k`, `0.2-f`: letters that count.
  const isLetter = token.text.length === 1 && token.text >= "a" && token.text <= "z";
  if (!isLetter || reading.phase !== "number") return false;
  if (token.separator !== "" && token.separator !== "-") return false;
  suffix.builds.push({ word: "", number: String(token.text.charCodeAt(0) - 96) });
  reading.phase = "build";
  return true;
}

function takeVariant(reading: Reading, token: Token): void {
  const { suffix } = reading;
  const joint = suffix.variant === "" ? "" : token.separator === "." ? "." : "-";
  suffix.variant += `${joint}${token.text}`;
  reading.variant_ends_in_number = isDigit(token.text.at(-1));
  reading.phase = "variant";
}

/** `rc10` in `rc`, `10`: letters and figures in turns. */
function runsOf(text: string): string[] {
  const runs: string[] = [];
  for (const character of text) {
    const last = runs.at(-1);
    if (last !== undefined && isDigit(last.at(-1)) === isDigit(character)) runs[runs.length - 1] = last + character;
    else runs.push(character);
  }
  return runs;
}

function splitTrailingDigits(text: string): { stem: string; digits: string } {
  let index = text.length;
  while (index > 0 && isDigit(text[index - 1])) index -= 1;
  return { stem: text.slice(0, index), digits: text.slice(index) };
}
