import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { SaidError } from "../errors.ts";
import { type Message, say, says } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";
import { spend } from "../work-budget.ts";
import { withoutLookaround } from "./lookaround.ts";

/** Longest pattern that a person may enter. */
export const MAX_PATTERN_CHARACTERS = 512;
/** Longer texts never match: no upstream version is longer, and it bounds the time of one match. */
export const MAX_TEXT_CHARACTERS = 256;
/** RE2's cost is program size times text; 2,000 instructions on 256 characters stay far below 100 ms. */
const MAX_PROGRAM_INSTRUCTIONS = 2_000;
/** Limit for the expanded pattern, checked before compiling because expansion is the expensive part. */
const MAX_EXPANDED_ATOMS = 10_000;
/** Compiled patterns kept, least recently used dropped first; each holds its own automaton. */
const MAX_CACHED_PATTERNS = 256;
/** Slower searches are cached: a hostile pattern costs its price once for each text, and others nothing. */
const SLOW_MS = 0.25;
/** Cost of parsing a pattern in the work's budget: the largest take some milliseconds. */
const READING_STEPS = 20_000;
/** Cached searches of all patterns together; beyond this, all are dropped. */
const MAX_SLOW_SEARCHES = 50_000;

/** A pattern ready for searching. */
export interface Pattern {
  readonly text: string;
  readonly compiled: RE2JS;
  /** Its matches in texts with slow searches. */
  readonly slow: Map<string, MatchRange | null>;
}

/** Where a pattern matched, in UTF-16 code units: `text.slice(start, end)` is the match. */
export interface MatchRange {
  start: number;
  end: number;
}

/** An invalid pattern; the message says what to enter instead. */
export class PatternError extends SaidError {}

const cache = new RecentMap<string, Pattern>(MAX_CACHED_PATTERNS);

/**
 * Compiles a person's pattern with a linear-time engine (RE2 syntax). It searches: `1\.2` matches anywhere in a text. Throws PatternError
 * for a pattern that is too long, too large, unsupported or malformed.
 */
export function parsePattern(text: string): Pattern {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const begun = performance.now();
  let compiled: RE2JS;
  try {
    compiled = compile(text);
  } finally {
    spend(text, READING_STEPS, performance.now() - begun);
  }
  const pattern: Pattern = { text, compiled, slow: new Map() };
  cache.set(text, pattern);
  return pattern;
}

/** Why an include pattern is refused; suggests two patterns when they can replace its lookaround. */
export function includePatternError(text: string, error: PatternError): Message {
  const pair = says(error.said, "patterns.lookaround") ? withoutLookaround(text) : null;
  if (pair === null || !isValid(pair.include) || !isValid(pair.exclude)) return error.said;
  const { include, exclude } = pair;
  return include === ""
    ? say("patterns.lookaround_as_exclude", { exclude })
    : say("patterns.lookaround_as_pair", { include, exclude });
}

function isValid(text: string): boolean {
  try {
    parsePattern(text);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** True when the pattern matches anywhere in the text; false for every text over 256 characters. */
export function matches(pattern: Pattern, text: string): boolean {
  return find(pattern, text) !== null;
}

/**
 * The pattern's first match, or null; null for every text over 256 characters. Throws `TooCostly` when the budget of the current work is
 * spent.
 */
export function find(pattern: Pattern, text: string): MatchRange | null {
  if (text.length > MAX_TEXT_CHARACTERS) return null;
  const known = pattern.slow.get(text);
  if (known !== undefined) return known;
  const begun = performance.now();
  const matcher = pattern.compiled.matcher(text);
  const range = matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
  const ms = performance.now() - begun;
  if (ms > SLOW_MS) rememberSlow(pattern, text, range);
  spend(pattern.text, pattern.compiled.programSize() * (text.length + 1), ms);
  return range;
}

let slowSearches = 0;

function rememberSlow(pattern: Pattern, text: string, range: MatchRange | null): void {
  if (slowSearches >= MAX_SLOW_SEARCHES) {
    for (const each of cache.values()) each.slow.clear();
    slowSearches = 0;
  }
  pattern.slow.set(text, range);
  slowSearches += 1;
}

/** The number of cached patterns. */
export function cachedPatternCount(): number {
  return cache.size;
}

function compile(text: string): RE2JS {
  if (text.length > MAX_PATTERN_CHARACTERS) {
    const values = { characters: text.length, limit: MAX_PATTERN_CHARACTERS };
    throw new PatternError(say("patterns.too_long", values));
  }
  if (expandedAtoms(text) > MAX_EXPANDED_ATOMS) throw tooLarge();
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(text);
  } catch (error) {
    if (error instanceof RE2JSException) throw explain(text, error);
    throw error;
  }
  if (compiled.programSize() > MAX_PROGRAM_INSTRUCTIONS) throw tooLarge();
  return compiled;
}

function tooLarge(): PatternError {
  return new PatternError(say("patterns.too_large"));
}

/**
 * Roughly how many matchers the pattern has with its counted repetitions expanded. An upper bound from one pass over the text; the compiler
 * checks the syntax.
 */
function expandedAtoms(text: string): number {
  const outer: number[] = [];
  let total = 0;
  let last = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === "(") {
      outer.push(total);
      total = 0;
      last = 0;
    } else if (character === ")") {
      last = total + 1;
      total = (outer.pop() ?? 0) + last;
    } else if (character === "{") {
      const times = repetition(text, index);
      // Each further pair of braces on the same atom multiplies, like nesting.
      total += last * Math.max(0, times - 1);
      last *= Math.max(1, times);
    } else {
      if (character === "\\") index += 1;
      total += 1;
      last = 1;
    }
  }
  for (const count of outer) total += count;
  return total;
}

/** The larger number of a `{n}`, `{n,}` or `{n,m}` at `index`; 1 for anything else. */
function repetition(text: string, index: number): number {
  const end = text.indexOf("}", index);
  if (end === -1) return 1;
  const numbers = text.slice(index + 1, end).split(",");
  if (numbers.length > 2 || !numbers.every((number) => /^\d{0,4}$/.test(number))) return 1;
  return Math.max(1, ...numbers.map(Number));
}

function explain(text: string, error: RE2JSException): PatternError {
  const near = error instanceof RE2JSSyntaxException ? (error.input ?? "") : "";
  if (["(?=", "(?!", "(?<=", "(?<!"].some((start) => near.startsWith(start))) {
    return new PatternError(say("patterns.lookaround", { used: near.slice(0, 4) }), error);
  }
  if (near.startsWith("\\k") || (near.startsWith("\\") && near.charAt(1) >= "1" && near.charAt(1) <= "9")) {
    return new PatternError(say("patterns.back_reference", { used: near.slice(0, 2) }), error);
  }
  const hint = syntaxHint(text, near);
  return new PatternError(say("patterns.syntax", { hint, error: error.message }), error);
}

function syntaxHint(text: string, near: string): Message {
  if (near.startsWith("(?>") || near.endsWith("++") || near.endsWith("*+") || near.endsWith("?+")) {
    return say("patterns.possessive");
  }
  if (near.startsWith("(?#") || near.startsWith("(?x")) return say("patterns.comments");
  if (near.startsWith("(?(")) return say("patterns.conditions");
  if (near.startsWith("(?")) return say("patterns.group");
  if (near.startsWith("\\Z")) return say("patterns.text_end");
  if (near.startsWith("\\u")) return say("patterns.code_point");
  if (near.startsWith("\\")) return say("patterns.escape");
  if (text.endsWith("\\")) return say("patterns.last_backslash");
  if (near.startsWith("[")) return say("patterns.open_set");
  if (/^(?:[*+?]|\{\d+,?\d*\})[*+?{]/.test(near)) return say("patterns.repeated_twice");
  if (near.includes("{")) return say("patterns.counts");
  if (near.startsWith("*") || near.startsWith("+") || near.startsWith("?")) {
    return say("patterns.nothing_to_repeat");
  }
  return say("patterns.brackets");
}
