import type { Clock } from "../clock.ts";

/** One total limit over everything that an attempt does; also ends when one of the outer signals does. */
export interface Deadline {
  signal: AbortSignal;
  timeout_ms: number;
  /** True when the time ran out, false while it runs or when an outer signal came first. */
  hasPassed(): boolean;
  /** Frees the timer and the listeners; to be called when the last byte was read. */
  end(): void;
}

export function startDeadline(
  clock: Clock,
  timeoutMs: number,
  outer: readonly (AbortSignal | null | undefined)[],
): Deadline {
  const controller = new AbortController();
  const timer = new AbortController();
  let hasPassed = false;
  const forward = () => controller.abort(new Error("The request was cancelled"));
  const signals = outer.filter((signal) => signal !== null && signal !== undefined);
  for (const signal of signals) {
    if (signal.aborted) forward();
    else signal.addEventListener("abort", forward, { once: true });
  }
  clock.sleep(timeoutMs, timer.signal).then(
    () => {
      hasPassed = true;
      controller.abort(new Error("The request timed out"));
    },
    () => undefined, // ended in time
  );
  return {
    signal: controller.signal,
    timeout_ms: timeoutMs,
    hasPassed: () => hasPassed,
    end: () => {
      timer.abort();
      for (const signal of signals) signal.removeEventListener("abort", forward);
    },
  };
}

/** The promise's outcome, or the signal's reason when that comes first; for work that takes no signal itself. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
