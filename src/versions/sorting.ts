import type { Sorting } from "./channel.ts";
import { classify } from "./classify.ts";

/** True when at least one of the tags is a version, so that an order by version means something; `latest` and `sha-…` alone have none. */
function areComparable(tags: readonly string[]): boolean {
  return tags.some((tag) => classify(tag).shape !== null);
}

/**
 * The sorting that a proposal gives to a tracker of these tags: what runs, or all that a repository lists. Versions are sorted as versions, so
 * that a patch to an older line does not take over; names that only move (`latest`, `stable-alpine`) keep the default.
 */
export function proposedSorting(tags: readonly string[]): Sorting {
  return areComparable(tags) ? "semantic" : "publish_time";
}
