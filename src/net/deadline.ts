import type { Clock } from "../clock.ts";

/** One total limit for everything an attempt does; it also ends when an outer signal aborts. */
export interface Deadline {
  readonly timeout_ms: number;
  /** True when the time ran out; false while it runs or when an outer signal came first. */
  hasPassed(): boolean;
  /** True when the time ran out or an outer signal aborted: nothing new may begin. */
  isOver(): boolean;
  /** What to destroy at the end; replaces the previous one. Called at once when it is already over. */
  watch(destroy: () => void): void;
  /** Call it after the last byte, or when the attempt failed. */
  end(): void;
}

/** Deadlines that share one timer: a timer and an abort controller per request would cost more than the rest of a small request. */
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

/** The promise's result, or a rejection when the deadline passes first; for work that cannot be stopped. */
export function orOver<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.watch(() => reject(new Error("The deadline is over")));
    work.then(resolve, reject);
  });
}
