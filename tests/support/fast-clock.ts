import { type Clock, systemClock } from "../../src/clock.ts";

/** The real time, so many times faster: what the product waits for in seconds passes in their parts, in the same order. */
export function fastClock(times: number): Clock {
  const begun = systemClock.now();
  return {
    elapsed: () => systemClock.elapsed() * times,
    now: () => begun + (systemClock.now() - begun) * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}
