import { leaseMs } from "../../held-lease.ts";
import type { Parts } from "../../parts.ts";
import { upstreamKey } from "../upstreams/loads.ts";
import { outageDueTimes } from "../upstreams/outage-queries.ts";
import type { RateState } from "../upstreams/stored-responses.ts";
import { maxRetryAfterMs } from "./check.ts";
import { checkDueTimes, type DueSource, dueSources, overdueRequests } from "./queries.ts";
import { longestPauseMs } from "./retry.ts";

/** Checks in parallel, over all trackers. */
const checksAtOnce = 4;
/** A requested check waits this long for a slot; then it gets an additional one. */
const patienceMs = 5_000;

interface DueOptions extends Pick<Parts, "db" | "clock"> {
  /** How many parallel checks one host may have, by source kind. */
  checksPerHost: (kind: string) => number;
  rates: () => readonly RateState[];
  check: (id: string, signal: AbortSignal, leave: () => void, dueAt: number | null) => Promise<void>;
}

/**
 * Checks as work for the scheduler: what is due, how many at once, and how each runs. The second kind is for requested checks that have
 * waited too long for a slot: a person is waiting, and hosts that do not respond may occupy the slots.
 */
export function checkWork({ db, clock, check, checksPerHost, rates }: DueOptions) {
  /** The keys of upstreams whose rate limit is used up. */
  const waitingAt = (now: number): string[] =>
    rates()
      .filter(({ blocked_until }) => blocked_until !== null && blocked_until > now)
      .map(upstreamKey);

  const shared = {
    concurrency: checksAtOnce,
    per_key: checksAtOnce,
    perKeyOf: (item: DueSource): number => checksPerHost(item.kind),
    on_stop: "abort" as const,
    keyOf: (item: DueSource): string => item.host,
    perform: async (item: DueSource, signal: AbortSignal, leave: () => void): Promise<void> => {
      // The limit may have been used up since the item was listed; it stays due and first in the queue.
      const isWaiting = waitingAt(clock.now()).includes(upstreamKey(item));
      if (!isWaiting) await check(item.id, signal, leave, item.due_at);
    },
  };
  return {
    scheduled: {
      ...shared,
      name: "checks",
      due_times: [
        ...checkDueTimes({ wait_ms: maxRetryAfterMs, pause_ms: longestPauseMs, lease_ms: leaseMs }),
        ...outageDueTimes(leaseMs),
      ],
      due: async (now: number, limit: number, busyHosts: readonly string[] = []): Promise<readonly DueSource[]> =>
        await dueSources(db.read, { now, limit, hosts: busyHosts, waiting: waitingAt(now) }),
    },
    overdue: {
      ...shared,
      name: "requested checks",
      due_times: [],
      due: async (now: number, limit: number): Promise<readonly DueSource[]> =>
        await overdueRequests(db.read, { now, before: now - patienceMs, limit, waiting: waitingAt(now) }),
    },
  };
}
