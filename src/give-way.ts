import { setImmediate as nextTurn } from "node:timers/promises";

/** So long somebody works before others get their turn: a hostile pattern takes some milliseconds for each of 10,000 names. */
const turnMs = 10;

/** For a long loop that computes: awaited at each of its items, the result lets requests be answered meanwhile. */
export function givingWay(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < turnMs) return;
    await nextTurn();
    begun = performance.now();
  };
}
