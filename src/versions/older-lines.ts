import { classify, type ParsedTag } from "./classify.ts";
import { isDowngrade } from "./order.ts";

/** Why a version is not the newest although it came last: it belongs to an older line, or is out of order in its own. */
export const laterButOlder = ["older_line", "older_version"] as const;
export type LaterButOlder = (typeof laterButOlder)[number];

/**
 * The line that patches are made for: all numbers but the last, `16` of `16.12` and `1.27` of `1.27.3`. Null for one number and for dates.
 */
export function lineOf(tag: string | ParsedTag): string | null {
  const { shape, numbers } = typeof tag === "string" ? classify(tag) : tag;
  const hasLines = (shape === "version" || shape === "calver") && numbers.length > 1;
  return hasLines ? numbers.slice(0, -1).join(".") : null;
}

/** How a version compares with the highest known one; null when it is not below it, and when they are not comparable. */
export function olderThan(tag: string, newest: string): LaterButOlder | null {
  if (isDowngrade(newest, tag) !== true) return null;
  return lineOf(tag) === lineOf(newest) ? "older_version" : "older_line";
}
