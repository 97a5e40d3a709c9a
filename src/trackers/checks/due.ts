import { leaseMs } from "../../held-lease.ts";
import type { Parts } from "../../parts.ts";
import type { RateState } from "../upstreams/stored-responses.ts";
import { maxRetryAfterMs } from "./check.ts";
import { checkDueTimes, type DueSource, dueSources, type UpstreamKey } from "./queries.ts";

/** Checks in parallel, over all trackers. */
const checksAtOnce = 4;
/** More upstreams than this are not withheld by name; checks of the others fail at their first request instead. */
const maxWaiting = 50;

interface DueOptions extends Pick<Parts, "db" | "clock"> {
  /** How many parallel checks one host may have, by source kind. */
  checksPerHost: (kind: string) => number;
  rates: () => readonly RateState[];
  check: (id: string, signal: AbortSignal, leave: () => void, dueAt: number | null) => Promise<void>;
}

/** Checks as work for the scheduler: what is due, how many at once, and how each runs. */
export function checkWork({ db, clock, check, checksPerHost, rates }: DueOptions) {
  const waitingAt = (now: number): UpstreamKey[] =>
    rates().filter(({ blocked_until }) => blocked_until !== null && blocked_until > now);

  return {
    name: "checks",
    due_times: checkDueTimes({ wait_ms: maxRetryAfterMs, lease_ms: leaseMs }),
    concurrency: checksAtOnce,
    per_key: checksAtOnce,
    perKeyOf: (item: DueSource): number => checksPerHost(item.kind),
    on_stop: "abort" as const,
    async due(now: number, limit: number, busyHosts: readonly string[] = []): Promise<readonly DueSource[]> {
      return await dueSources(db.read, now, limit, { hosts: busyHosts, waiting: waitingAt(now).slice(0, maxWaiting) });
    },
    keyOf: (item: DueSource): string => item.host,
    perform: async (item: DueSource, signal: AbortSignal, leave: () => void): Promise<void> => {
      // The limit may have been used up since the item was listed; it stays due and first in line.
      const isWaiting = waitingAt(clock.now()).some(
        ({ host, credential_id }) => host === item.host && credential_id === item.credential_id,
      );
      if (!isWaiting) await check(item.id, signal, leave, item.due_at);
    },
  };
}
