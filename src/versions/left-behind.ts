import type { ParsedTag } from "./classify.ts";
import type { Maturity } from "./maturity.ts";
import { compareDigits } from "./precedence.ts";

/** A line without a release for a year, while another goes on, has been left: projects rename their tags. */
export const STALE_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

const unfinished: readonly Maturity[] = ["candidate", "beta", "canary"];

interface Line {
  newest_at: number;
  /** Its highest first number, as decimal text. */
  major: string;
}

/**
 * Maturities before a release that a project makes no more while it makes another one: their newest version is a year older than that one's. Where all
 * times are the same, it has to be of an older major version than the releases are, and the other one not.
 */
export function leftBehind(
  versions: readonly ParsedTag[],
  maturity: (tag: ParsedTag) => Maturity,
  times: ReadonlyMap<string, number> | null,
): ReadonlySet<Maturity> {
  const lines = new Map<Maturity, Line>();
  let oldest = Number.POSITIVE_INFINITY;
  let newest = 0;
  for (const tag of versions) {
    const at = times?.get(tag.tag) ?? 0;
    oldest = Math.min(oldest, at);
    newest = Math.max(newest, at);
    const line = lines.get(maturity(tag)) ?? { newest_at: 0, major: "0" };
    const major = majorOf(tag);
    lines.set(maturity(tag), {
      newest_at: Math.max(line.newest_at, at),
      major: compareDigits(major, line.major) > 0 ? major : line.major,
    });
  }
  const isTimed = newest > oldest;
  const released = lines.get("release")?.major ?? "0";
  const isBehind = (line: Line, other: Line) =>
    isTimed
      ? line.newest_at < other.newest_at - STALE_AFTER_MS
      : compareDigits(line.major, released) < 0 && compareDigits(released, other.major) <= 0;
  return new Set(
    unfinished.filter((grade) => {
      const line = lines.get(grade);
      return line !== undefined && unfinished.some((other) => isBehind(line, lines.get(other) ?? line));
    }),
  );
}

/** Of one number alone, and of a date, nobody can say what is major. */
function majorOf(tag: ParsedTag): string {
  const isVersion = (tag.shape === "version" || tag.shape === "calver") && tag.numbers.length > 1;
  return (isVersion ? tag.numbers[0] : undefined) ?? "0";
}
