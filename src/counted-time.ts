import type { Clock } from "./clock.ts";

/** How far counted time follows the clock beyond the time that passes: half a day for each hour that the process runs. */
const followed = 12;
/** Expired data is kept a day longer, so that a clock that is wrong for an hour changes nothing. */
const spareMs = 86_400_000;
/** No right clock shows less to this product; a machine without a battery may start at 1970. */
const earliest = 1_767_225_600_000; // 2026-01-01

/**
 * A second opinion on the time, for code that removes something: it advances with elapsed time and only follows the clock slowly, in both
 * directions. A clock that is wrong for minutes moves it by hours at most, over any number of restarts.
 */
export interface CountedTime {
  /** The earlier of clock and counted time: what has ended by this has ended by both. */
  now(): number;
  /** What was written before this is older than `ageMs` by both, plus a day: it may be deleted. */
  before(ageMs: number): number;
  /** The later of both, plus a day: times beyond this come from a wrong clock. */
  latest(): number;
  /** Counted time, to be stored. */
  counted(): number;
}

/** `from`: where counting continues; what an earlier process stored, or the time of the latest known event. */
export function countedTime(clock: Clock, from: number | null): CountedTime {
  let counted = Math.max(from ?? clock.now(), earliest);
  let countedAt = clock.elapsed();
  const count = (): number => {
    const at = clock.elapsed();
    const passed = at - countedAt;
    countedAt = at;
    const most = passed * followed;
    const difference = clock.now() - (counted + passed);
    counted += passed + Math.max(-most, Math.min(most, difference));
    return counted;
  };
  const now = () => Math.min(count(), clock.now());
  return {
    now,
    before: (ageMs) => now() - ageMs - spareMs,
    latest: () => Math.max(count(), clock.now()) + spareMs,
    counted: count,
  };
}
