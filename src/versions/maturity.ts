import { isPrerelease, type ParsedTag, wordsOf } from "./classify.ts";
import { betaWords, canaryWords } from "./tag-words.ts";

/**
 * How mature a version is: `release`; `candidate` for what precedes one (`-rc1`, `-alpha`, `-preview`, or only marked so upstream); `beta`;
 * `canary` for builds of unfinished work (`nightly`, `-dev`, `-SNAPSHOT`, `develop-…`).
 */
export const maturities = ["release", "candidate", "beta", "canary"] as const;
export type Maturity = (typeof maturities)[number];

/** A tag's maturity by its words; `isMarked` when upstream marks it as a pre-release, whatever its words. */
export function maturityOf(tag: ParsedTag, isMarked = false): Maturity {
  if (!isPrerelease(tag)) return isMarked ? "candidate" : "release";
  const line = tag.scheme === "floating" ? tag.tag : tag.name;
  const words = [...tag.prerelease, ...tag.builds.map(({ word }) => word), ...wordsOf(line.toLowerCase())];
  if (words.some((word) => canaryWords.has(word))) return "canary";
  return words.some((word) => betaWords.has(word)) ? "beta" : "candidate";
}

/** A channel's purpose. Only its rules decide what belongs to it; this decides which of that becomes its latest. */
export type Aim = "stable" | "prerelease" | "beta" | "canary";

/** Each aim's preference: lower comes first. */
const places: Readonly<Record<Aim, Readonly<Record<Maturity, number>>>> = {
  stable: { release: 0, candidate: 1, beta: 1, canary: 2 },
  prerelease: { candidate: 0, beta: 0, canary: 1, release: 2 },
  beta: { beta: 0, candidate: 1, canary: 2, release: 3 },
  canary: { canary: 0, candidate: 1, beta: 1, release: 2 },
};

/** A maturity's place for an aim, 0 first; without an aim all are equal. */
export function placeOf(maturity: Maturity, aim: Aim | null): number {
  return aim === null ? 0 : places[aim][maturity];
}

/** The type to name a channel's member after: a candidate in a stable channel is no stable version. */
export function namedAs<T extends string>(type: T, maturity: Maturity): T | Aim {
  if (type !== "stable" || maturity === "release") return type;
  return maturity === "candidate" ? "prerelease" : maturity;
}
