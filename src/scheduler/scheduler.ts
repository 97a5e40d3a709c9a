import { setImmediate as nextTurn } from "node:timers/promises";
import { Cron } from "croner";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createPool, type WorkSource } from "./pool.ts";

export type Scheduler = ReturnType<typeof createScheduler>;

interface SchedulerOptions {
  clock: Clock;
  log: Log;
  /** Every kind of work, the most urgent first. */
  work: readonly WorkSource[];
  /** Runs at the beginning of each tick. */
  before?: () => Promise<void>;
}

/** Once a second. Due times are in the database, so a missed tick delays work but loses none. */
const tickPattern = "* * * * * *";

/** Reads due work at each tick and hands it to one bounded pool per kind. */
export function createScheduler({ clock, log, work, before }: SchedulerOptions) {
  const pools = work.map((kind) => createPool({ work: kind, log }));
  let cron: Cron | null = null;
  let isStopped = false;

  const logFailure = (error: unknown) => log.error("Due work could not be queried", { error });

  const tick = async (now: number = clock.now()): Promise<void> => {
    if (isStopped) return;
    await before?.().catch(logFailure);
    const filling = pools.map(async (pool, place) => {
      // Requests get their turn in between.
      for (let turn = 0; turn < place; turn += 1) await nextTurn();
      await pool.fill(now).catch(logFailure);
    });
    await Promise.all(filling);
  };
  const idle = async (): Promise<void> => {
    while (pools.some((pool) => pool.running() > 0)) await Promise.all(pools.map((pool) => pool.idle()));
    await Promise.all(pools.map((pool) => pool.idle()));
  };
  return {
    /** Starts what is due at `now`; resolves once it has started, not finished. */
    tick,

    /** Something just became due: starts it now instead of at the next tick. */
    nudge: (): void => {
      tick().catch(logFailure);
    },

    begin: (): void => {
      if (cron !== null || isStopped) return;
      cron = new Cron(tickPattern, { protect: true, catch: logFailure }, () => tick());
    },

    /** Resolves when nothing runs. */
    idle,

    /** Starts nothing more, aborts what may be aborted and waits for the rest; false if that took longer than `grace_ms`. */
    stop: async (options: { grace_ms: number }): Promise<boolean> => {
      isStopped = true;
      cron?.stop();
      for (const pool of pools) pool.stop();
      const over = new AbortController();
      const timeout = clock.sleep(options.grace_ms, over.signal).then(
        () => false,
        () => true,
      );
      const ended = await Promise.race([idle().then(() => true), timeout]);
      over.abort();
      if (!ended) log.warning("Work did not finish in time", { grace_ms: options.grace_ms });
      return ended;
    },
  };
}
