import type { Clock } from "../../src/clock.ts";

interface Sleeper {
  due: number;
  wake: () => void;
}

export interface FakeClock extends Clock {
  /** Time passes; every sleeper that falls due is woken in order of its time, and what it does next runs first. */
  advance(ms: number): Promise<void>;
  /** Moves from sleeper to sleeper until the promise settles; also past moments at which it waits for real I/O alone. */
  runUntil<T>(work: Promise<T>): Promise<T>;
  /** Sets what the clock shows, as an administrator or NTP would: no time passes, and nobody is woken by it. */
  set(now: number): void;
  /** Milliseconds until each sleeper falls due, the nearest first. */
  pending(): readonly number[];
}

/** A database write begins at the end of the loop's turn, so that others can share its commit; a run does dozens in a row. */
const turns = 200;

/** Lets everything run that waits for promises and for writes alone, or until there is nothing more to wait for. */
async function settle(isOver: () => boolean = () => false): Promise<void> {
  for (let turn = 0; turn < turns && !isOver(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock that stands still until it is told otherwise. */
export function createFakeClock(start = Date.UTC(2026, 0, 5, 12)): FakeClock {
  let elapsed = 0;
  /** What the clock shows when nothing has elapsed. */
  let origin = start;
  const sleepers = new Set<Sleeper>();
  const nearest = () => [...sleepers].sort((a, b) => a.due - b.due)[0];
  const wakeNearest = async (sleeper: Sleeper) => {
    elapsed = Math.max(elapsed, sleeper.due);
    sleeper.wake();
    await settle();
  };
  return {
    now: () => origin + elapsed,
    elapsed: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          due: elapsed + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", onAbort, { once: true });
      }),
    advance: async (ms) => {
      const end = elapsed + ms;
      await settle();
      for (let next = nearest(); next !== undefined && next.due <= end; next = nearest()) await wakeNearest(next);
      elapsed = end;
    },
    runUntil: async (work) => {
      let isSettled = false;
      const note = () => {
        isSettled = true;
      };
      work.then(note, note);
      const isOver = () => isSettled;
      for (await settle(isOver); !isSettled; await settle(isOver)) {
        const next = nearest();
        // Nothing waits for this clock: what is still to come comes from real I/O. The runner's timeout is the limit.
        if (next === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
        else await wakeNearest(next);
      }
      return await work;
    },
    set: (to) => {
      origin = to - elapsed;
    },
    pending: () => [...sleepers].map((sleeper) => sleeper.due - elapsed).sort((a, b) => a - b),
  };
}

/** Waits, without a time of its own, until real I/O has made something true; the runner's timeout is the limit. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}
