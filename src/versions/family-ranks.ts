import { familyOf, type ParsedTag, wordsOf } from "./classify.ts";
import { STALE_AFTER_MS } from "./left-behind.ts";
import { compareDigits, compareNames, compareNumbers } from "./precedence.ts";
import { companionWords } from "./tag-words.ts";

/** Releases that a family needs before it takes the lead from another kind of number of the same name and variant. */
const ESTABLISHED_RELEASES = 3;
/** This few pre-releases show that a series continues: two releases may have no more between them. */
const livingPrereleases = 2;
/** Dates that are mostly no further apart are nightly or weekly builds. */
const daysOfBuilds = 14;
/** With this many dates per counting number, the dates are the releases. */
const datesForNumber = 3;

/** A family with the facts that decide which one leads. */
export interface Family {
  key: string;
  members: readonly ParsedTag[];
  /** Members that are no pre-releases. */
  releases: number;
  /** Members whose times show that the family is alive. */
  active: number;
  /** The number of its releases; for a family with only pre-releases here, of all its members anywhere. */
  size: number;
  /** Releases of the whole family, when `members` are only its pre-releases. */
  established: number;
  /** When its newest member was published, milliseconds UTC; null when unknown. */
  newest_at: number | null;
  /** Its members have different times; a single shared time comes from a first check and means nothing. */
  is_timed: boolean;
}

/**
 * Families, the leading one first:
 * 1. lines of releases before lines of pre-releases (`develop-…`);
 * 2. applications before what accompanies them (`helm-chart-…`, `operator/…`);
 * 3. active lines before abandoned ones: see `isLeft`;
 * 4. plain tags before those with a variant, a name or a number of something else (`-alpine`, `app-…`, a bundled browser's), fewer such marks first;
 * 5. counting and calendar versions before bare dates (nightly builds) and Unix times;
 * 6. families with at least three releases before smaller ones, so that a stray `2021.12.16` does not lead over `10.11.4`;
 * 7. of lines with a name or variant the larger, so that in a repository of many charts the lead does not change with each of them;
 * 8. the one published last; without times calendar versions, because projects move to them and not back;
 * 9. the larger, then by name; of one name that with the highest version, then by variant: words as they are, numbers the higher first
 *    (`-alpine3.21` before `-alpine3.20`).
 */
export function rankFamilies(families: readonly Family[]): Family[] {
  const isLeft = leftAmong(families);
  const ranked = families.map((family) => ({ family, rank: rankOf(family, isLeft(family)) }));
  ranked.sort((a, b) => compareRanks(a.rank, b.rank) || compareEqualRanks(a.family, b.family));
  return ranked.map(({ family }) => family);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < a.length; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareEqualRanks(a: Family, b: Family): number {
  return compareNames(lineOf(a), lineOf(b)) || compareNumbers(highestOf(b), highestOf(a)) || compareNames(a.key, b.key);
}

function highestOf({ members }: Family): readonly string[] {
  return members.map(({ numbers }) => numbers).reduce((a, b) => (compareNumbers(a, b) >= 0 ? a : b), []);
}

function rankOf(family: Family, isLeft: boolean): number[] {
  const first = family.members[0];
  const shape = first?.shape ?? null;
  const isPlainLine = first?.name === "" && first.variant === "";
  return [
    family.releases > 0 ? 0 : 1,
    wordsOf(first?.name ?? "").some((word) => companionWords.has(word)) ? 1 : 0,
    isLeft ? 1 : 0,
    (first?.name === "" ? 0 : 1) + (first?.variant === "" ? 0 : 1) + (isRegular(family) ? 0 : 1),
    shape === "version" || shape === "calver" ? 0 : shape === "date" ? 1 : 2,
    family.established >= ESTABLISHED_RELEASES ? 0 : 1,
    isPlainLine ? 0 : -family.size,
    -(family.newest_at ?? 0),
    first?.name === "" && shape === "calver" ? 0 : 1,
    -family.size,
  ];
}

/** Its numbers are the project's own versions: see `familyKeys`. */
function isRegular({ key, members: [first] }: Family): boolean {
  return first !== undefined && key === familyOf(first);
}

/**
 * Which families are abandoned:
 * - no release for a year, while another family continued;
 * - another variant has three versions of a later first number: `7.7` beside `9.9.7-community`; to pass one that has a variant itself, several
 *   have them together, because the variant changes with the versions;
 * - where their times are all the same, numbers that count, beside three times as many dates of which most lie more than two weeks
 *   apart: `4.0.0` beside `2024-05-02`, `2024-06-27` and so on.
 */
function leftAmong(families: readonly Family[]): (family: Family) => boolean {
  const newest = families.reduce((time, family) => (isAlive(family) ? Math.max(time, family.newest_at ?? 0) : time), 0);
  const regular = families.filter(isRegular);
  const reached = new Map(
    [...Map.groupBy(regular, lineOf)].map(([line, variants]) => {
      const alone = variants.map((family) => firstNumberOfThird([family])).sort((a, b) => compareDigits(b, a));
      return [line, { alone: alone[0] ?? "0", together: firstNumberOfThird(variants) }];
    }),
  );
  const dates = new Map<string, Family>();
  for (const family of regular) {
    if (family.members[0]?.shape === "date" && liesApart(family)) dates.set(placeOf(family), family);
  }
  const isPassed = (family: Family) => {
    const { alone, together } = reached.get(lineOf(family)) ?? { alone: "0", together: "0" };
    const others = family.members[0]?.variant === "" ? alone : together;
    return isRegular(family) && compareDigits(highestOf(family)[0] ?? "0", others) < 0;
  };
  const isReplaced = (family: Family) => {
    const dated = family.members[0]?.shape === "version" && !family.is_timed ? dates.get(placeOf(family)) : undefined;
    if (dated === undefined || (dated.newest_at ?? 0) < (family.newest_at ?? 0)) return false;
    return dated.members.length >= datesForNumber * family.members.length;
  };
  return (family) => (family.newest_at ?? newest) < newest - STALE_AFTER_MS || isPassed(family) || isReplaced(family);
}

/** Families of one line differ only in their variants. */
function lineOf({ members: [first] }: Family): string {
  return `${first?.shape}|${first?.name}`;
}

/** Families of one place differ only in the kind of their numbers. */
function placeOf({ members: [first] }: Family): string {
  return `${first?.name}|${first?.variant}`;
}

function isAlive({ active, releases }: Family): boolean {
  return active >= (releases > 0 ? ESTABLISHED_RELEASES : livingPrereleases);
}

/** The first number of the third highest version of these families; "0" when there are fewer. */
function firstNumberOfThird(families: readonly Family[]): string {
  const versions = new Map(
    families.flatMap(({ members }) => members.map(({ numbers }) => [numbers.join("."), numbers])),
  );
  const firstNumbers = [...versions.values()].map(([first = "0"]) => first);
  return firstNumbers.sort((a, b) => compareDigits(b, a))[ESTABLISHED_RELEASES - 1] ?? "0";
}

/** Months count as 31 days here: what matters is whether dates follow each other. */
function liesApart({ members }: Family): boolean {
  const days = members
    .map(({ numbers: [year, month, day] }) => (Number(year) * 12 + Number(month)) * 31 + Number(day))
    .sort((a, b) => a - b);
  const apart = days.filter((day, index) => index > 0 && day - (days[index - 1] ?? day) > daysOfBuilds);
  return days.length >= ESTABLISHED_RELEASES && apart.length * 2 > days.length - 1;
}
