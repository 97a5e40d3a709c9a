import { type Clock, systemClock } from "../../src/clock.ts";

/** Waits of retries, which the product counts in seconds. */
const waits = { from: 1_000, to: 8_000 };

/**
 * The real time, but for the waits between retries: these pass at once, and the time jumps by them. Longer ones, such as deadlines
 * that nobody comes near, never end by themselves; shorter ones are real.
 */
export function hurriedClock(): Clock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    elapsed: () => systemClock.elapsed() + ahead,
    sleep: (ms, signal) => {
      if (ms < waits.from) return systemClock.sleep(ms, signal);
      if (ms <= waits.to) {
        ahead += ms;
        return Promise.resolve();
      }
      return new Promise((_, reject) => {
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  };
}
