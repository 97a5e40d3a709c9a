import { classify, familyOf, type ParsedTag } from "./classify.ts";
import { type Aim, maturityOf } from "./maturity.ts";
import { isDowngrade } from "./order.ts";
import { type Counting, countingOf, isStateful } from "./series.ts";
import { findCore, isDigits, isHash, type TagCore } from "./tag-core.ts";
import { jenkinsCommit } from "./tag-suffix.ts";
import { canaryWords, codenames, hashWords, prereleaseWords, repairWords } from "./tag-words.ts";

/** What to keep of a running tag, and the rules of a channel that keeps it. */
export interface Kept {
  /** `versions`: newer ones of its kind; `tag`: what moves under that name, detected by its digest. */
  follows: "versions" | "tag";
  /** The line to stay on, as written (`16`, `11.4`); null when every newer version is acceptable. */
  line: string | null;
  /** Narrower lines that it could stay on instead: `10` and `10.1` for `10.1.0`. */
  lines: readonly string[];
  /** The tag itself names a line: `16` and `1.27` move from version to version. */
  names_line: boolean;
  /** Its flavour, base, branch or architecture, as in the tag; null for none. */
  variant: string | null;
  channel: Aim;
  include_pattern: string;
  /** For a moving name: numbered versions of the same variant; null when these could lead to another line. */
  versions_pattern: string | null;
  /** A name that moves on to the next series, of an image that keeps data: the user must name the running series. */
  leaves_series: boolean;
}

/** The effect of going from one running tag to another. */
export type Move = "same" | "forward" | "back" | "other_line" | "other_variant" | "unknown";

/** Moves that an automatic run makes. */
export function isOnward(move: Move): move is "same" | "forward" {
  return move === "same" || move === "forward";
}

/**
 * What a careful administrator keeps of a running tag, judged only by the tag and the repository: variant, codename, branch and
 * architecture always; the line when the tag is shorter than a version (`16` of `16.4`) or when the next series cannot read its data. A
 * pre-release stays on the version it precedes, and continues to its release. `wanted`: one of its `lines`, to stay on that.
 */
export function keptOf(tag: string, repository: string, wanted: string | null = null): Kept {
  const parsed = classify(tag);
  const core = findCore(tag);
  if (parsed.shape === null || core === null) return keptName(parsed, repository);
  const canary = maturityOf(parsed) === "canary";
  const counting = countingOf(repository, core.numbers[0] ?? "");
  const usual = canary ? 0 : lineParts(parsed, core, counting);
  const precedes = parsed.prerelease.length > 0 && !canary;
  const lineOf = (count: number) => runsOf(tag.slice(core.start, core.end)).slice(0, count).join(".");
  const narrower = core.shape === "version" && !precedes && !canary ? [1, 2] : [];
  const lines = narrower.filter((count) => count > usual && count < core.numbers.length).map(lineOf);
  const parts = wanted !== null && lines.includes(wanted) ? wanted.split(".").length : usual;
  const number = precedes
    ? comingNumber(tag, core)
    : core.shape === "version" || core.shape === "calver"
      ? numberPattern(tag, core, parts)
      : digitsOf(tag.slice(core.start, core.end));
  const base = baseMarkOf(parsed, core, repository);
  const words = [parsed.name, base ?? "", parsed.variant].filter((part) => part !== "").join(" ");
  const kept = precedes ? Math.max(1, Math.min(2, core.numbers.length)) : parts;
  return {
    follows: "versions",
    line: kept === 0 ? null : lineOf(kept),
    lines,
    names_line: !precedes && usual > 0 && usual === core.numbers.length && usual < counting.full,
    variant: words === "" ? null : words.replaceAll(".#", ""),
    channel: canary ? "canary" : "stable",
    include_pattern: `^${prefixPattern(tag, core)}${number}${suffixPattern(parsed, core, { precedes, base })}$`,
    versions_pattern: null,
    leaves_series: false,
  };
}

/**
 * Whether an automatic run may go from one tag to another of the repository, and if not, what it would leave. `beside`: other tags of the
 * source, which show whether two numbers are a version or the short name of a line.
 */
export function moveBetween(from: string, to: string, repository: string, beside: readonly string[] = []): Move {
  if (from === to) return "same";
  const [left, right] = [classify(from), classify(to)];
  if (left.shape === null) return keepsVariantOf(left, right) ? "unknown" : "other_variant";
  if (right.shape === null) return "unknown";
  if (left.name !== right.name || left.variant !== right.variant) return "other_variant";
  const [before, after] = [findCore(from), findCore(to)];
  const isBack = isDowngrade(from, to);
  if (isBack === null || before === null || after === null) return "unknown";
  if (baseMarkOf(left, before, repository) !== baseMarkOf(right, after, repository)) return "other_variant";
  const isShort = beside.some((tag) => isLongerName(tag, left, before));
  const parts = guardedParts(left, before, after, { repository, isShort });
  const leaves = before.numbers.slice(0, parts).some((number, place) => number !== (after.numbers[place] ?? "0"));
  if (leaves) return "other_line";
  return isBack ? "back" : "forward";
}

/** A running image: the tag that it was created from, null for a digest alone, and the other names of that digest. */
export interface RunningImage {
  repository: string;
  tag: string | null;
  names: readonly string[];
  /** Other tags of the source; see `moveBetween`. */
  beside?: readonly string[];
}

/**
 * The effect of moving a running image to a tag. Its tag says which variant and line were chosen; its most specific other name says which
 * version it is.
 */
export function moveOf({ repository, tag, names, beside = [] }: RunningImage, to: string): Move {
  if (tag === to || names.includes(to)) return "same";
  const chosen = tag === null ? "unknown" : moveBetween(tag, to, repository, beside);
  if (chosen === "other_line" || chosen === "other_variant") return chosen;
  const moves = names.map((name) => ({
    move: moveBetween(name, to, repository, beside),
    parts: classify(name).numbers.length,
  }));
  const comparable = moves.filter(({ move }) => move !== "other_variant" && move !== "unknown");
  const most = Math.max(0, ...comparable.map(({ parts }) => parts));
  const exact = comparable.filter(({ parts }) => parts === most).map(({ move }) => move);
  const worst = (["other_line", "back", "forward"] as const).find((move) => exact.includes(move));
  if (worst !== undefined) return worst;
  return chosen === "unknown" && moves.some(({ move }) => move === "other_variant") ? "other_variant" : chosen;
}

/** A moving name is followed as it is. Its numbered versions are recognised by its words other than `latest` and `stable`. */
function keptName(parsed: ParsedTag, repository: string): Kept {
  const { tag } = parsed;
  const maturity = maturityOf(parsed);
  const variant = namesIn(tag).filter((word) => !lineWords.has(word));
  const isNamed =
    parsed.scheme === "floating" &&
    !isStateful(repository) &&
    !/\d{3,}/.test(tag) &&
    // Releases are no alternative to builds of unfinished work.
    maturity === "release" &&
    variant.every((word) => /^[a-z]/.test(word));
  return {
    follows: "tag",
    line: null,
    lines: [],
    names_line: false,
    variant: null,
    channel: maturity === "release" ? "stable" : maturity === "candidate" ? "prerelease" : maturity,
    include_pattern: `^${escaped(tag)}$`,
    versions_pattern: isNamed ? versionsPattern(variant) : null,
    leaves_series: isStateful(repository) && !/\d/.test(tag),
  };
}

/** Words of moving names about maturity or age, not about content. */
const lineWords: ReadonlySet<string> = new Set([
  ...canaryWords,
  ...prereleaseWords,
  ..."latest stable lts release current mainline oldstable".split(" "),
]);

/** The words of a moving name: `jod-alpine3.20` has two. */
function namesIn(tag: string): string[] {
  return tag
    .toLowerCase()
    .split(/[-_]/)
    .filter((word) => word !== "");
}

/** A codename is a distribution's own line (`bookworm-20250113-slim`) or a base (`3.13.1-bookworm-slim`). */
function versionsPattern(variant: readonly string[]): string {
  const [first = "", ...more] = variant.map(escaped);
  const rest = more.map((word) => `-${word}`).join("");
  const version = `${String.raw`v?\d+(\.\d+)+`}${first === "" ? "" : `-${first}`}`;
  return codenames.has(first) ? `^(${version}|${first}-${String.raw`\d{8}(\.\d+)?`})${rest}$` : `^${version}${rest}$`;
}

/** `alpine` continues to `1.27.3-alpine`; which versions are `lts` is unknown. */
function keepsVariantOf(name: ParsedTag, to: ParsedTag): boolean {
  const words = namesIn(name.tag).filter((word) => word !== "latest");
  return words.length === 0 || (name.scheme === "floating" && words.join("-") === to.variant);
}

/** A single number of four or more digits counts builds, unless it is a year. */
function isCounter(number: string): boolean {
  return number.length > 4 || (number.length === 4 && (number < "1990" || number > "2099"));
}

/** How many of a tag's numbers name its line. */
function lineParts({ shape }: ParsedTag, { numbers }: TagCore, { series, full }: Counting): number {
  if (shape !== "version" && shape !== "calver") return 0;
  if (numbers.length === 1 && isCounter(numbers[0] ?? "")) return 0;
  return numbers.length < full ? numbers.length : Math.min(series, numbers.length);
}

/** `1.27.3-alpine` beside `1.27-alpine`. */
function isLongerName(tag: string, { name, variant }: ParsedTag, { numbers }: TagCore): boolean {
  const [other, core] = [classify(tag), findCore(tag)];
  if (core === null || other.name !== name || other.variant !== variant || other.prerelease.length > 0) return false;
  return core.numbers.length > numbers.length && numbers.every((number, place) => core.numbers[place] === number);
}

/** The two numbers of a tag that may be a version or the short name of a line; null for every other tag. */
export function pairIn(tag: string): string | null {
  const core = findCore(tag);
  return core?.numbers.length === 2 ? tag.slice(core.start, core.end) : null;
}

/** Like `lineParts`; for an unknown image, two numbers are a line only beside three. */
function guardedParts(
  left: ParsedTag,
  before: TagCore,
  after: TagCore,
  { repository, isShort }: { repository: string; isShort: boolean },
): number {
  const known = countingOf(repository, before.numbers[0] ?? "");
  if (left.prerelease.length > 0) return Math.min(known.series, before.numbers.length);
  const isPair = before.numbers.length === 2 && after.numbers.length <= 2 && known.series === 0 && !isShort;
  return isPair ? 0 : lineParts(left, before, known);
}

/**
 * `4.0.8-18`: a number of two digits behind a full version is its base; packagings count from 0 or 1. Images that keep data have no such
 * base: Percona counts on (`8.0.39-30`, `8.0.40-31`).
 */
function baseMarkOf({ tag, builds: [first, second] }: ParsedTag, core: TagCore, repository: string): string | null {
  if (isStateful(repository)) return null;
  if (core.numbers.length < 3 || tag[core.end] !== "-" || first?.word !== "" || second !== undefined) return null;
  const number = first.number ?? "";
  return number.length === 2 && number < "40" ? number : null;
}

function escaped(text: string): string {
  return text.replace(/[.+*?()[\]{}|^$\\]/g, String.raw`\$&`);
}

function runsOf(text: string): string[] {
  return text.match(/\d+/g) ?? [];
}

/** Every digit may differ: `20250127` gives `\d{8}`. */
function digitsOf(text: string): string {
  return escaped(text).replace(/\d+/g, (run) =>
    run.length === 1 ? String.raw`\d` : `${String.raw`\d`}{${run.length}}`,
  );
}

/** The number after the kept line; a full version is never taken for the shorter name of its line. */
function numberPattern(tag: string, core: TagCore, parts: number): string {
  const text = tag.slice(core.start, core.end);
  const runs = runsOf(text);
  const joint = escaped(/^\d+(\D)/.exec(text)?.[1] ?? ".");
  const more = `(${joint}${String.raw`\d+`})`;
  const missing = Math.max(0, Math.min(3, runs.length) - Math.max(parts, 1));
  const rest =
    parts >= runs.length ? `${more}*` : missing > 1 ? `${more}{${missing},}` : missing === 1 ? `${more}+` : "";
  if (parts > 0) return `${runs.slice(0, parts).join(joint)}${rest}`;
  const first =
    core.shape === "calver" ? String.raw`\d{4}` : (runs[0] ?? "").length > 3 ? String.raw`\d+` : String.raw`\d{1,3}`;
  return `${first}${rest}`;
}

/** The number that a pre-release precedes, and its repairs. */
function comingNumber(tag: string, core: TagCore): string {
  const [first = "", second, third] = runsOf(tag.slice(core.start, core.end));
  if (second === undefined || third === undefined) {
    return `${[first, ...(second === undefined ? [] : [second])].join(String.raw`\.`)}${String.raw`(\.\d+)*`}`;
  }
  return `${first}${String.raw`\.`}${second}${String.raw`\.`}${atLeast(third)}${String.raw`(\.\d+)*`}`;
}

/** Numbers from this one on. */
function atLeast(number: string): string {
  if (/^0+$/.test(number)) return String.raw`\d+`;
  const higher = [...number].flatMap((digit, place) => {
    const left = number.length - place - 1;
    const rest = left === 0 ? "" : left === 1 ? String.raw`\d` : `${String.raw`\d`}{${left}}`;
    return digit === "9" ? [] : [`${number.slice(0, place)}[${Number(digit) + 1}-9]${rest}`];
  });
  return `(${[number, ...higher, `${String.raw`\d`}{${number.length + 1},}`].join("|")})`;
}

function prefixPattern(tag: string, core: TagCore): string {
  const prefix = tag.slice(0, core.start);
  if (core.shape !== "version" && core.shape !== "calver") return partsPattern(tag, 0, core.start, null);
  const letter = /(?<=^|[-_.])[vV]$/.exec(prefix)?.[0] ?? "";
  const bare = prefix.slice(0, prefix.length - letter.length);
  const isAlone = bare === "" || /[-_.]$/.test(bare);
  return `${partsPattern(tag, 0, bare.length, null)}${isAlone ? `${letter || "v"}?` : ""}`;
}

const comingWords = "alpha|beta|rc|cr|pre|preview|ea|milestone|a|b|m";
const coming = `(?i:[-._]?(${comingWords})${String.raw`([-._]?\d+)*`})?`;
const prereleaseText = new RegExp(
  `[-._~]?(?:${[...prereleaseWords, "a", "b", "m"].sort((a, b) => b.length - a.length).join("|")})(?:[-._]?\\d+)*(?![a-z0-9])`,
  "i",
);

function suffixPattern(
  { tag }: ParsedTag,
  core: TagCore,
  { precedes, base }: { precedes: boolean; base: string | null },
): string {
  const found = (precedes ? prereleaseText : jenkinsCommit).exec(tag.slice(core.end));
  if (found === null) return partsPattern(tag, core.end, tag.length, base);
  const start = core.end + found.index;
  const end = start + found[0].length;
  const between = precedes ? coming : String.raw`\.v([0-9a-f]_*){12}`;
  return `${partsPattern(tag, core.end, start, base)}${between}${partsPattern(tag, end, tag.length, base)}`;
}

/** A word and its separator; a repair's number belongs to it, even after a separator. */
const partText = new RegExp(`([-_.+~]*)((?:${[...repairWords].join("|")})[-_.]\\d+(?![^-_.+~])|[^-_.+~]*)`, "gi");

/**
 * A part of a tag as a pattern. Its numbers and commits may differ if the tag stays in its family; words stay. A repair (`-hotfix1`,
 * `-security-01`) and a packaging (`-1`) are optional; `base` is a number that stays.
 */
function partsPattern(tag: string, start: number, end: number, base: string | null): string {
  let pattern = "";
  let previous = "";
  for (const match of tag.slice(start, end).matchAll(partText)) {
    const [, joint = "", word = ""] = match;
    const at = start + match.index + joint.length;
    const isCommit = isHash(word) || (hashWords.has(previous) && word !== "");
    const part = isCommit ? "[gh]?[0-9a-f]{6,64}" : word === base ? word : wordPattern(tag, at, word);
    const isRepair = repairWords.has(word.toLowerCase().replace(/[-_.]?\d+$/, ""));
    const isLast = tag[at + word.length] !== ".";
    const isPackaging = joint === "-" && match.index === 0 && isLast && part !== word && Number(word) < 10;
    pattern += isRepair || isPackaging ? `(${escaped(joint)}${part})?` : `${escaped(joint)}${part}`;
    previous = word.toLowerCase();
  }
  return pattern;
}

function wordPattern(tag: string, start: number, word: string): string {
  const family = familyOf(tag);
  return [...word.matchAll(/\d+|\D+/g)]
    .map(({ 0: run, index }) => {
      if (!isDigits(run)) return escaped(run);
      const other = `${run.slice(0, -1)}${run.endsWith("9") ? 8 : Number(run.at(-1)) + 1}`;
      const changed = `${tag.slice(0, start + index)}${other}${tag.slice(start + index + run.length)}`;
      return familyOf(changed) === family ? String.raw`\d+` : run;
    })
    .join("");
}
