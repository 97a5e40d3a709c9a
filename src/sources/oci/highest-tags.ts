import { createHash } from "node:crypto";
import { orderTags } from "../../versions/order.ts";

/** Lists whose highest tags are remembered; each entry has at most 100 names. */
const maxRemembered = 2_000;
const remembered = new Map<string, readonly string[]>();

/**
 * The first `limit` of `orderTags`. Ordering 10,000 tags takes some 50 ms, and between two checks a list is nearly always the same: the
 * answer is remembered by the digest of the question, so that it can never be out of date.
 */
export function highestTags(tags: readonly string[], limit: number): readonly string[] {
  const key = createHash("sha256")
    .update(`${limit} ${tags.join(",")}`)
    .digest("base64");
  const known = remembered.get(key);
  const highest = known ?? orderTags(tags).slice(0, limit);
  remembered.delete(key);
  remembered.set(key, highest);
  const oldest = remembered.keys().next();
  if (remembered.size > maxRemembered && !oldest.done) remembered.delete(oldest.value);
  return highest;
}
