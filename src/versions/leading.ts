import type { ParsedTag } from "./classify.ts";
import { familyKeys, floatingAliases } from "./families.ts";
import { type Family, rankFamilies } from "./family-ranks.ts";
import { leftBehind } from "./left-behind.ts";
import { type Aim, type Maturity, placeOf } from "./maturity.ts";
import { compareInFamily, compareNames, compareText } from "./precedence.ts";

/** How to order a list of tags. */
export interface Leading {
  aim: Aim | null;
  maturity: (tag: ParsedTag) => Maturity;
  /** When each tag was published, milliseconds UTC; null when no times are known. */
  times: ReadonlyMap<string, number> | null;
  /** Order within a family, and with `mixes_families` also among all that follow the leading one. */
  compare: (a: ParsedTag, b: ParsedTag) => number;
  mixes_families: boolean;
}

/** Floating names for all users, before all others. */
const floatingRanks: ReadonlyMap<string, number> = new Map([
  ["latest", 1],
  ["stable", 2],
  ["release", 3],
  ["lts", 4],
]);
const wordRank = 5;
const phraseRank = 6;

/**
 * Distinct tags in groups, the leading one first; members of one group may replace each other, and no later one may. The aim's maturity
 * comes first, and within it the leading family, then the other families, then moving names (`latest`, `1.27` beside `1.27.3`).
 * Non-versions come last.
 */
export function leadingGroups(parsed: readonly ParsedTag[], given: Leading): ParsedTag[][] {
  const grades = new Map(parsed.map((tag) => [tag, given.maturity(tag)]));
  const leading: Leading = { ...given, maturity: (tag) => grades.get(tag) ?? given.maturity(tag) };
  const aliases = floatingAliases(parsed);
  const isMoving = (tag: ParsedTag) => tag.shape === null || aliases.has(tag.tag);
  const versions = parsed.filter((tag) => !isMoving(tag));
  const keys = familyKeys(versions);
  // Abandoned versions come only before a release, which is no pre-release at all.
  const { aim } = leading;
  const behind: ReadonlySet<ParsedTag> =
    aim === null || aim === "stable" ? new Set() : leftBehind({ ...leading, keys, aim });
  const wholes = wholeFamilies(keys, leading);
  const shelves = new Map<number, ParsedTag[]>();
  for (const tag of parsed) append(shelves, shelfOf(tag, isMoving(tag), behind.has(tag), leading), tag);
  return [...shelves.keys()]
    .sort((a, b) => a - b)
    .flatMap((shelf) => {
      const tags = shelves.get(shelf) ?? [];
      const families = new Map<string, ParsedTag[]>();
      for (const tag of tags) {
        const key = keys.get(tag);
        if (key !== undefined) append(families, key, tag);
      }
      if (families.size > 0) return orderFamilies(families, wholes, leading);
      return [tags.sort((a, b) => compareMoving(a, b, leading.times))];
    });
}

function append<K>(map: Map<K, ParsedTag[]>, key: K, tag: ParsedTag): void {
  const tags = map.get(key);
  if (tags === undefined) map.set(key, [tag]);
  else tags.push(tag);
}

const otherShelf = 100;
/** A place has one shelf for its versions and two for moving names. */
const shelvesOfPlace = 3;

/**
 * Versions of a maturity come before its moving names. For pre-releases any version comes before the moving names, and a stable channel
 * takes a candidate's version before `latest`, but `latest` before a build of unfinished work.
 */
function shelfOf(tag: ParsedTag, isMoving: boolean, isLeft: boolean, { aim, maturity }: Leading): number {
  if (tag.scheme === "other") return otherShelf;
  const grade = maturity(tag);
  const place = placeOf(grade, aim);
  if (!isMoving) return isLeft ? placeOf("release", aim) * shelvesOfPlace - 0.5 : place * shelvesOfPlace;
  if (aim === "stable" && grade === "release") return placeOf("candidate", aim) * shelvesOfPlace + 1;
  const isBehindAll = aim === "prerelease" && grade !== "release";
  return isBehindAll ? placeOf("canary", aim) * shelvesOfPlace + 1 + place : place * shelvesOfPlace + 2;
}

type Whole = Pick<Family, "size" | "established">;
const nothing: Whole = { size: 0, established: 0 };

function orderFamilies(
  byKey: ReadonlyMap<string, readonly ParsedTag[]>,
  wholes: ReadonlyMap<string, Whole>,
  leading: Leading,
): ParsedTag[][] {
  const families = [...byKey].map(([key, members]): Family => {
    const releases = members.filter((member) => leading.maturity(member) === "release").length;
    const whole = wholes.get(key) ?? nothing;
    return {
      key,
      members,
      releases,
      active: leading.aim === null ? releases : members.length,
      size: releases > 0 ? releases : whole.size,
      established: whole.established,
      ...timesOf(members, leading.times),
    };
  });
  const ranked = rankFamilies(families).map((family) => [...family.members].sort(leading.compare));
  if (!leading.mixes_families || ranked.length < 3) return ranked;
  const [first = [], ...others] = ranked;
  return [first, others.flat().sort(leading.compare)];
}

/** How many versions and releases each family has in all. */
function wholeFamilies(keys: ReadonlyMap<ParsedTag, string>, { maturity }: Leading): Map<string, Whole> {
  const wholes = new Map<string, Whole>();
  for (const [tag, key] of keys) {
    const { size, established } = wholes.get(key) ?? nothing;
    wholes.set(key, { size: size + 1, established: established + (maturity(tag) === "release" ? 1 : 0) });
  }
  return wholes;
}

function timesOf(
  members: readonly ParsedTag[],
  times: ReadonlyMap<string, number> | null,
): Pick<Family, "newest_at" | "is_timed"> {
  if (times === null) return { newest_at: null, is_timed: false };
  let newest = 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (const { tag } of members) {
    const at = times.get(tag) ?? 0;
    newest = Math.max(newest, at);
    oldest = Math.min(oldest, at);
  }
  return { newest_at: newest, is_timed: newest > oldest };
}

function compareMoving(a: ParsedTag, b: ParsedTag, times: ReadonlyMap<string, number> | null): number {
  const rank = (tag: ParsedTag) => (tag.shape !== null ? 0 : (floatingRanks.get(tag.tag) ?? rankOfName(tag.tag)));
  const timeOf = (tag: ParsedTag) => times?.get(tag.tag) ?? 0;
  return (
    rank(a) - rank(b) ||
    timeOf(b) - timeOf(a) ||
    compareText(`${a.name}|${a.variant}`, `${b.name}|${b.variant}`) ||
    (a.shape === null || b.shape === null ? compareNames(a.tag, b.tag) : compareInFamily(b, a))
  );
}

/** `nightly` is meant for more people than `nightly-fpm` or `1.22-nightly`. */
function rankOfName(tag: string): number {
  return /^[A-Za-z]+$/.test(tag) ? wordRank : phraseRank;
}
