/** The only place that reads the time. Instants are integer milliseconds UTC. */
export interface Clock {
  /** What the system calls the time; somebody may set it to anything at any moment. */
  now(): number;
  /** Milliseconds since some moment before, which nobody can set: every wait and age in the memory of this process counts by it. */
  elapsed(): number;
  /** Resolves after `ms`, rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => Math.floor(performance.now()),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      // A timer of more than 2^31 ms fires at once; nothing here may wait that long in memory.
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        Math.min(ms, 2 ** 31 - 1),
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
};

/** `2026-11-21T03:12:09.100Z`: how every instant leaves the API, the webhooks and the log. */
/** For libraries that want a date of their own. */
export function toDate(instant: number): Date {
  return new Date(instant);
}

export function toIso(instant: number): string {
  return new Date(instant).toISOString();
}

/** Parses what an upstream calls a time; null when it is none. */
export function parseInstant(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
