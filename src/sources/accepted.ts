import { setImmediate as nextTurn } from "node:timers/promises";

/** So long names are judged before others get their turn: a hostile pattern takes some milliseconds for each of 10,000 names. */
const turnMs = 10;

/** The items that are accepted, in their order. Whatever the judgement costs, requests are answered meanwhile. */
export async function acceptedOf<T>(items: readonly T[], isAccepted: (item: T) => boolean): Promise<readonly T[]> {
  const accepted: T[] = [];
  let begun = performance.now();
  for (const item of items) {
    if (isAccepted(item)) accepted.push(item);
    if (performance.now() - begun < turnMs) continue;
    await nextTurn();
    begun = performance.now();
  }
  return accepted;
}
