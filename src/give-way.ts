import { setImmediate as nextTurn } from "node:timers/promises";

/** How long to work before others get their turn: a hostile pattern takes some milliseconds for each of 10,000 names. */
const turnMs = 10;

/** For long computing loops: await the result at each item to serve requests meanwhile. */
export function givingWay(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < turnMs) return;
    await nextTurn();
    begun = performance.now();
  };
}
