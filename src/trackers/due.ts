import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { maxRetryAfterMs } from "./check.ts";
import { type DueSource, dueSources, furthestDueTime, pullBackDueTimes } from "./due-queries.ts";

/** Checks that go on at once, over all trackers. */
const checksAtOnce = 4;
/** To one host; a registry takes four, forges will take one. */
const checksPerHost = 4;

interface DueOptions {
  db: Database;
  clock: Clock;
  check: (id: string, signal: AbortSignal, leave: () => void) => Promise<void>;
}

/** Checks as work for the scheduler: what is due, how much of it at once, and how it is done. */
export function checkWork({ db, check }: DueOptions) {
  let lastNow = Number.NEGATIVE_INFINITY;

  /** A clock that went back would leave due times far ahead: no check waits longer than its interval. */
  const repairDueTimes = async (now: number): Promise<void> => {
    const isFirst = lastNow === Number.NEGATIVE_INFINITY;
    const wentBack = now < lastNow;
    lastNow = now;
    if (!isFirst && !wentBack) return;
    if (((await furthestDueTime(db.read)) ?? 0) <= now) return;
    await db.write((tx) => pullBackDueTimes(tx, now, maxRetryAfterMs));
  };

  return {
    name: "checks",
    concurrency: checksAtOnce,
    per_key: checksPerHost,
    on_stop: "abort" as const,
    async due(now: number, limit: number, busyHosts: readonly string[] = []): Promise<readonly DueSource[]> {
      await repairDueTimes(now);
      return await dueSources(db.read, now, limit, busyHosts);
    },
    keyOf: (item: DueSource): string => item.host,
    perform: (item: DueSource, signal: AbortSignal, leave: () => void): Promise<void> => check(item.id, signal, leave),
  };
}
