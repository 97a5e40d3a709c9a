/** The only place that reads the time. Instants are integer milliseconds UTC. */
export interface Clock {
  /** The system's time; somebody may set it to anything at any moment. */
  now(): number;
  /** Milliseconds since some fixed moment, which nobody can set: every wait and age in memory uses it. */
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
      // A timer of more than 2^31 ms fires at once; nothing may wait that long in memory.
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

/** `2026-11-21T03:12:09.100Z`: the form of every instant in the API, the webhooks and the log. */
/** For libraries that need a Date. */
export function toDate(instant: number): Date {
  return new Date(instant);
}

export function toIso(instant: number): string {
  return new Date(instant).toISOString();
}

/** Parses an upstream's time; null when invalid. */
export function parseInstant(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
