import { classify, type ParsedTag } from "./classify.ts";
import { prereleaseAliases } from "./tag-words.ts";

/** Longest compared part of a heading. */
const maxPlainCharacters = 256;
/** Words of a project's name that may precede a version. */
const maxNameWords = 4;

/** What a heading says about its section. */
export interface VersionHeading {
  version: ParsedTag;
  /**
   * `plain`: the version, followed by nothing, a date or a separated title; `titled`: words follow directly; `named`: a project's name
   * precedes it, as in other headings too (`PHP 8.1`).
   */
  form: "plain" | "titled" | "named";
  /** It has a date or a link. */
  is_marked: boolean;
}

const entities: ReadonlyMap<string, string> = new Map([
  ["&nbsp;", " "],
  ["&amp;", "&"],
  ["&ndash;", "–"],
  ["&mdash;", "—"],
  ["&#45;", "-"],
]);

/** A letter or digit of any script. */
export function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

/** A heading as people read it: links by their text, without emphasis, code marks, HTML, images and `:tada:`. Linear. */
export function plainHeading(raw: string): string {
  let text = raw;
  for (const [entity, character] of entities) text = text.replaceAll(entity, character);
  text = text.replaceAll(/:[a-z][a-z0-9_+-]{0,40}:/g, " ");
  const lastParen = text.lastIndexOf(")");
  const lastBracket = text.lastIndexOf("]");
  const lastAngle = text.lastIndexOf(">");
  let plain = "";
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    const next = text[index + 1] ?? "";
    if (character === "\\" && next !== "" && !isWordCharacter(next)) {
      plain += next;
      index += 1;
    } else if (character === "!" && next === "[" && text.indexOf("](", index) > index && lastParen > index) {
      index = Math.max(text.indexOf(")", text.indexOf("](", index)), index);
    } else if (character === "]" && next === "(" && lastParen > index) {
      index = text.indexOf(")", index);
      plain += " ";
    } else if (character === "]" && next === "[" && lastBracket > index) {
      index = text.indexOf("]", index + 1);
      plain += " ";
    } else if (character === "<" && lastAngle > index && /[a-z/!]/i.test(next)) {
      index = text.indexOf(">", index);
    } else if (character === "[" || character === "]") {
      plain += " ";
    } else if (character === "_" && isWordCharacter(next) && isWordCharacter(plain.at(-1))) {
      plain += character;
    } else if (!"*`_".includes(character) && !(character === "~" && next === "~")) {
      plain += character;
    }
  }
  const anchor = plain.lastIndexOf("{#");
  if (anchor !== -1 && plain.trimEnd().endsWith("}")) plain = plain.slice(0, anchor);
  return plain.split(/\s+/).join(" ").trim().slice(0, maxPlainCharacters);
}

const leadWords: ReadonlySet<string> = new Set(
  "version ver ver. v v. release releases released rel tag changes change changelog log notes in for of what's whats what’s new".split(
    " ",
  ),
);
/** A heading with one of these before the version is about upgrading to it, or about something else of that version. */
const foreignWords: ReadonlySet<string> = new Set(
  "from to since before after until upgrade upgrading migrate migrating migration require requires required requirement with without support supports supported bump bumped bumps update updated updates updating deprecate deprecated drop dropped drops remove removed add added adds than than, minimum min at least using use and or".split(
    " ",
  ),
);
const rangeWords: ReadonlySet<string> = new Set(
  "to through thru until or and & -> → => > .. ... … + and/or".split(" "),
);
const stageWords: ReadonlySet<string> = new Set(
  "alpha beta rc cr pre preview prerelease pre-release dev devel snapshot nightly canary milestone m a b candidate".split(
    " ",
  ),
);

const tokenEnds = ":,;()[]{}|–—→…\"'“”‘’";

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

/** A date as in headings: `2024-01-31`, `31.01.2024`, `2024/1/31`; a year alone counts. */
function isDate(word: string): boolean {
  const parts = word.split(/[-./]/);
  if (!parts.every((part) => part !== "" && [...part].every(isDigit))) return false;
  const isYear = (part: string) => part.length === 4 && (part.startsWith("19") || part.startsWith("20"));
  return parts.length <= 3 && parts.some(isYear);
}

const months: ReadonlySet<string> = new Set("jan feb mar apr may jun jul aug sep oct nov dec".split(" "));

function isMonth(word: string): boolean {
  return months.has(word.slice(0, 3).toLowerCase());
}

/** A word's text up to the end of a version, without a final dot, dash or punctuation mark, and where it ends. */
function readToken(text: string, start: number): { token: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== " " && !tokenEnds.includes(text[end] ?? "")) end += 1;
  let last = end;
  while (last > start && ".-_/+?!".includes(text[last - 1] ?? "")) last -= 1;
  return { token: withoutDate(text.slice(start, last)), end };
}

/** `1.2.3-2024-01-31` and `1.2.3/2024-01-31`: the date is no part of the version. */
function withoutDate(token: string): string {
  const cut = token.length - 11;
  if (cut < 3 || !"-_/".includes(token[cut] ?? "")) return token;
  const date = token.slice(cut + 1);
  return date.length === 10 && date[4] === date[7] && isDate(date) && token.slice(0, cut).includes(".")
    ? token.slice(0, cut)
    : token;
}

/** A token that is a version: with its number at the start, or after `v`, `release-` or a separated name. */
function asVersion(token: string): ParsedTag | null {
  if (token === "" || ![...token].some(isDigit)) return null;
  const parsed = classify(token.startsWith("@") ? token.slice(1) : token);
  if (parsed.shape === null) return null;
  const last = parsed.prefix.at(-1);
  const isSetOff = parsed.name === "" || last === "v" || last === "V" || "-_/@".includes(last ?? "");
  return isSetOff ? parsed : null;
}

/** Letters and digits of a word in lower case, for look-ups. */
function bare(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && !isWordCharacter(word[start])) start += 1;
  while (end > start && !isWordCharacter(word[end - 1])) end -= 1;
  return word.slice(start, end).toLowerCase();
}

interface Place {
  token: string;
  end: number;
  is_named: boolean;
}

/** The first word that is a version, when only lead words or a name precede it. */
function findToken(plain: string): Place | null {
  let index = 0;
  let names = 0;
  while (index < plain.length) {
    while (index < plain.length && !isWordCharacter(plain[index]) && plain[index] !== "@") index += 1;
    const { token, end } = readToken(plain, index);
    if (token === "") return null;
    if (asVersion(token) !== null) return { token, end, is_named: names > 0 };
    const space = plain.indexOf(" ", index);
    const wordEnd = space === -1 ? plain.length : space;
    const word = plain.slice(index, wordEnd).toLowerCase();
    if (!leadWords.has(word) && !leadWords.has(bare(word))) {
      names += 1;
      if (names > maxNameWords || foreignWords.has(bare(word))) return null;
    }
    index = Math.max(wordEnd, end);
  }
  return null;
}

/** `RC 1`, `(beta)`, `Release Candidate 2` after a version, separated from what follows: part of the version. */
function stageBehind(words: readonly string[]): string | null {
  const plain = words.map(bare);
  const from = plain[0] === "release" && plain[1] === "candidate" ? 1 : 0;
  const word = plain[from] ?? "";
  let letters = 0;
  while (letters < word.length && !isDigit(word[letters])) letters += 1;
  const stage = word.slice(0, letters).replace(/[.-]$/, "");
  const digits = word.slice(letters);
  if (!stageWords.has(stage) || ![...digits].every((digit) => isDigit(digit) || digit === ".")) return null;
  if (stage.length === 1 && digits === "") return null;
  const next = words[from + 1];
  const isNumber = digits === "" && next !== undefined && next.length < 4 && [...bare(next)].every(isDigit);
  const number = isNumber ? bare(next) : digits;
  const after = plain[from + (isNumber && number !== "" ? 2 : 1)] ?? "";
  const isSetOff =
    after === "" || isDate(after) || isMonth(after) || isDigit(after[0]) || !isWordCharacter(words[from]?.at(-1));
  return isSetOff ? `${prereleaseAliases.get(stage) ?? stage}${number}` : null;
}

/** A full date in digits. */
function isFullDate(token: string): boolean {
  return token.length === 10 && isDate(token) && token.split(/[-./]/).length === 3;
}

/** Reads a heading's text (see `plainHeading`) as a version; null when it is none, a range, or about something else. */
export function readVersionHeading(plain: string, raw = ""): VersionHeading | null {
  const place = findToken(plain);
  if (place === null) return null;
  // `2024-01-31, Version 1.2.3`: the date comes first.
  const behind = isFullDate(place.token) ? readVersionHeading(plain.slice(place.end), raw) : null;
  if (behind !== null && behind.version.shape !== "date") return { ...behind, is_marked: true };
  const rest = plain.slice(place.end).trim();
  if (rangeWords.has((rest.split(" ", 1)[0] ?? "").toLowerCase())) return null;
  const words = rest.split(" ").filter((word) => bare(word) !== "");
  const next = bare(words[0] ?? "");
  const isSetOff = rest !== "" && !isWordCharacter(rest[0]);
  // `1.2.2 – 1.2.3` is a range, `1.2.3 – 2024-01-31` a version with its date.
  if (isSetOff && !isDate(next) && next.includes(".") && asVersion(next)?.prefix === "") return null;
  const stage = rest.startsWith(":") ? null : stageBehind(words);
  const version = asVersion(stage === null ? place.token : `${place.token}-${stage}`);
  if (version === null) return null;
  const isDated = words.slice(0, 4).some((word) => isDate(bare(word)));
  const isTold = ["release", "released", "unreleased", "final", "stable", "lts", "current"].includes(next);
  const isPlain = rest === "" || isSetOff || isTold || isDated || stage !== null || isMonth(next);
  return {
    version,
    form: place.is_named ? "named" : isPlain ? "plain" : "titled",
    is_marked: isDated || raw.includes("]("),
  };
}
