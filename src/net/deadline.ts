import type { Clock } from "../clock.ts";

/** One total limit over everything that an attempt does; it is also over when an outer signal aborts. */
export interface Deadline {
  readonly timeout_ms: number;
  /** True when the time ran out, false while it runs or when an outer signal came first. */
  hasPassed(): boolean;
  /** True when the time ran out or an outer signal aborted: nothing may be begun any more. */
  isOver(): boolean;
  /** What to destroy when it is over; replaces what was watched before. Called at once when it is over already. */
  watch(destroy: () => void): void;
  /** To be called when the last byte was read, or everything is lost. */
  end(): void;
}

/**
 * Deadlines over one timer: every request has one, and a timer with its abort controller each would cost more than the rest
 * of a small request.
 */
export interface Deadlines {
  start(timeoutMs: number, outer: readonly (AbortSignal | null | undefined)[]): Deadline;
}

interface Running {
  due: number;
  finish: (hasPassed: boolean) => void;
}

export function createDeadlines(clock: Clock): Deadlines {
  const running = new Set<Running>();
  let timer: AbortController | null = null;
  let armedFor = Number.POSITIVE_INFINITY;

  const disarm = () => {
    timer?.abort();
    timer = null;
    armedFor = Number.POSITIVE_INFINITY;
  };

  const arm = (due: number) => {
    if (due >= armedFor) return;
    disarm();
    const own = new AbortController();
    timer = own;
    armedFor = due;
    clock.sleep(Math.max(due - clock.elapsed(), 0), own.signal).then(fire, () => undefined); // disarmed: nothing to do
  };

  const fire = () => {
    timer = null;
    armedFor = Number.POSITIVE_INFINITY;
    const now = clock.elapsed();
    let next = Number.POSITIVE_INFINITY;
    for (const each of [...running]) {
      if (each.due <= now) each.finish(true);
      else next = Math.min(next, each.due);
    }
    if (next !== Number.POSITIVE_INFINITY) arm(next);
  };

  return {
    start: (timeoutMs, outer) => {
      let state: "running" | "passed" | "cancelled" | "ended" = "running";
      let destroy: (() => void) | null = null;
      const signals = outer.filter((signal) => signal !== null && signal !== undefined);
      const own: Running = {
        due: clock.elapsed() + timeoutMs,
        finish: (hasPassed) => {
          release(hasPassed ? "passed" : "cancelled");
          destroy?.();
        },
      };
      const cancel = () => own.finish(false);
      const release = (to: typeof state) => {
        if (state !== "running") return;
        state = to;
        for (const signal of signals) signal.removeEventListener("abort", cancel);
        running.delete(own);
        if (running.size === 0) disarm();
      };
      running.add(own);
      arm(own.due);
      for (const signal of signals) {
        if (signal.aborted) cancel();
        else signal.addEventListener("abort", cancel, { once: true });
      }
      return {
        timeout_ms: timeoutMs,
        hasPassed: () => state === "passed",
        isOver: () => state === "passed" || state === "cancelled",
        watch: (callback) => {
          destroy = callback;
          if (state === "passed" || state === "cancelled") callback();
        },
        end: () => release("ended"),
      };
    },
  };
}

/** The promise's outcome, or a rejection when the deadline is over first; for work that cannot be stopped itself. */
export function orOver<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.watch(() => reject(new Error("The deadline is over")));
    work.then(resolve, reject);
  });
}
