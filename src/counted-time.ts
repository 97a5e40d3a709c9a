import type { Clock } from "./clock.ts";

/** How far counted time follows the clock beyond the time that passes: half a day for each hour that the process runs. */
const followed = 12;
/** What is deleted by its age is a day older than it would have to be: a clock that is wrong for an hour changes nothing. */
const spareMs = 86_400_000;
/** No right clock shows less to this product; a machine without a battery may begin at 1970. */
const earliest = 1_767_225_600_000; // 2026-01-01

/**
 * A second opinion on the time, for whatever takes something away: it runs on by itself, as time passes, and only follows the clock
 * slowly, in both directions. A clock that is wrong for minutes moves it by hours at most, over any number of restarts.
 */
export interface CountedTime {
  /** The earlier of the clock and of what was counted: what has ended by this has ended by both. */
  now(): number;
  /** What was written before this is older than `ageMs` by both, and a day more: it may be deleted. */
  before(ageMs: number): number;
  /** What lies beyond this, which is the later of both and a day, was written by a clock that was wrong. */
  latest(): number;
  /** What was counted, to be stored. */
  counted(): number;
}

/** `from`: where counting goes on; what an earlier process stored, or the youngest thing that is known to have happened. */
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
