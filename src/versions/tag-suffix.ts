import { isDigit, isDigitAt, isDigits, isHash, isHexadecimal, isSeparatorAt, withoutLeadingZeros } from "./tag-core.ts";
import {
  buildWords,
  hashWords,
  movingWords,
  neutralWords,
  numberedBuildWords,
  prereleaseAliases,
  prereleaseWords,
  shortPrereleaseWords,
} from "./tag-words.ts";

/** A rebuild or repair of a version: `-ls289` is `{ word: "ls", number: "289" }`, a bare `-5` has the word "". */
export interface BuildMark {
  word: string;
  number: string | null;
}

/** A word of a tag, with its separator ("" for the first). */
export interface Token {
  separator: string;
  text: string;
}

/** The words of a text, split at separators. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    const start = index;
    while (isSeparatorAt(text, index)) index += 1;
    const wordStart = index;
    while (index < text.length && !isSeparatorAt(text, index)) index += 1;
    // Of several separators the last one counts.
    tokens.push({
      separator: start === wordStart ? "" : (text[wordStart - 1] ?? ""),
      text: text.slice(wordStart, index),
    });
  }
  return tokens;
}

/** What follows the number of a tag. */
export interface Suffix {
  prerelease: string[];
  is_dev_release: boolean;
  builds: BuildMark[];
  metadata: string;
  variant: string;
  variant_numbers: string[];
  /** Further parts of a date's number: `2024-06-01.2`. */
  more_numbers: string[];
  /** The digits of `u432` right after a single number: `8u432` lies between `8` and `9` as `8.432` would. */
  update: string | null;
  is_floating: boolean;
}

/** The word of the mark that counts commits after a version. */
export const commitsWord = "git";
/**
 * After a variant, numbers with this many digits are dates and build numbers (`bookworm-20240612`); shorter ones belong to its name
 * (`nanoserver-1809`).
 */
export const shortestDate = 5;

/** Jenkins writes a commit of twelve digits after its counter, with `_` after each `a` and `b`: `3355.v388858a_47b_33-20`. */
export const jenkinsCommit = /\.v((?:[\da-f]_*){12})(?=$|[-.])/;

type Phase = "number" | "prerelease" | "build" | "variant";

interface Reading {
  suffix: Suffix;
  phase: Phase;
  /** How many parts the number before the suffix has. */
  parts: number;
  /** The variant ends in a number that belongs to its text: `alpine3`, `debian-12`. */
  variant_ends_in_number: boolean;
}

/** Parses what follows a number of `parts` parts; gives every word one meaning, from left to right. */
export function readSuffix(text: string, parts: number): Suffix {
  const plus = text.indexOf("+");
  const words = plus === -1 ? text : text.slice(0, plus);
  const commit = jenkinsCommit.exec(words);
  const tokens = words === "" ? [] : tokensOf(commit === null ? words : words.replace(commit[0], ""));
  const suffix: Suffix = {
    prerelease: [],
    is_dev_release: false,
    builds: [],
    metadata: plus === -1 ? (commit?.[1]?.replaceAll("_", "") ?? "") : text.slice(plus + 1),
    variant: "",
    variant_numbers: [],
    more_numbers: [],
    update: null,
    is_floating: false,
  };
  const reading: Reading = { suffix, phase: "number", parts, variant_ends_in_number: false };
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined || token.text === "") continue;
    const next = tokens[index + 1];
    const word = token.text.toLowerCase();
    if (isDigits(token.text) && isDescribedCommit(next)) takeCommits(reading, token);
    else if (isDigits(token.text)) takeNumber(reading, token, next);
    else if (hashWords.has(word) && next !== undefined && isHexadecimal(next.text)) index += 1;
    else if (!isHash(token.text)) takeWord(reading, { separator: token.separator, text: word }, next);
  }
  const isShort = parts < 3 && suffix.prerelease.length > 0;
  if (isShort && suffix.prerelease.every((word) => movingWords.has(word))) suffix.is_floating = true;
  return suffix;
}

/** `1.2.3-12-gabc1234`, as from `git describe`: twelve commits after 1.2.3. */
function isDescribedCommit(next: Token | undefined): boolean {
  return next?.separator === "-" && next.text.length >= 8 && next.text[0] === "g" && isHexadecimal(next.text.slice(1));
}

function takeCommits({ suffix }: Reading, token: Token): void {
  suffix.builds.push({ word: commitsWord, number: withoutLeadingZeros(token.text) });
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

/** `1.0.0-0.3.7` is SemVer's numeric pre-release; `1.0.0-5`, one by SemVer too, is in practice the fifth packaging of 1.0.0. */
function isSemverNumericPrerelease(reading: Reading, token: Token, next: Token | undefined): boolean {
  return reading.parts === 3 && token.separator === "-" && next?.separator === "." && isDigits(next.text);
}

function takeVariantNumber(reading: Reading, token: Token, number: string): void {
  const { suffix } = reading;
  if (token.separator === "-" && number.length >= shortestDate) {
    suffix.builds.push({ word: "", number });
    return;
  }
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
  if (stem === "devel" && (reading.phase === "variant" || isWord(next))) return false;
  if (prereleaseWords.has(stem)) return true;
  if (!shortPrereleaseWords.has(stem)) return false;
  if (reading.phase === "build" || reading.phase === "variant") return false;
  const hasDottedNumber = runs.length === 1 && next?.separator === "." && isDigits(next.text);
  return (runs.length > 1 && isDigits(runs[1] ?? "")) || hasDottedNumber;
}

/** `12.1.0-devel-ubuntu22.04`: an image's developer flavour, beside `-runtime-`, is no stage of a version. */
function isWord(next: Token | undefined): boolean {
  return next !== undefined && next.separator === "-" && next.text !== "" && !isDigit(next.text[0]);
}

function takeBuild(reading: Reading, token: Token): boolean {
  const { suffix } = reading;
  const { stem, digits } = splitTrailingDigits(token.text);
  if (stem === "u" && digits !== "" && token.separator === "" && reading.parts === 1 && reading.phase === "number") {
    suffix.update = withoutLeadingZeros(digits);
    reading.phase = "build";
    return true;
  }
  if (buildWords.has(stem) || (digits !== "" && numberedBuildWords.has(stem))) {
    suffix.builds.push({ word: stem, number: digits === "" ? null : withoutLeadingZeros(digits) });
    reading.phase = "build";
    return true;
  }
  // `1.1.1k`, `0.2-f`: letters that count. `3.5.2-r` already has its third number: the letter names something.
  const isLetter = token.text.length === 1 && token.text >= "a" && token.text <= "z";
  if (!isLetter || reading.phase !== "number") return false;
  if (token.separator !== "" && (token.separator !== "-" || reading.parts > 2)) return false;
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

/** Splits `rc10` into `rc`, `10`: letters and digits in turns. */
function runsOf(text: string): string[] {
  const runs: string[] = [];
  let start = 0;
  for (let index = 1; index <= text.length; index += 1) {
    if (index < text.length && isDigitAt(text, index) === isDigitAt(text, start)) continue;
    runs.push(text.slice(start, index));
    start = index;
  }
  return runs;
}

function splitTrailingDigits(text: string): { stem: string; digits: string } {
  let index = text.length;
  while (index > 0 && isDigitAt(text, index - 1)) index -= 1;
  return { stem: text.slice(0, index), digits: text.slice(index) };
}
