import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { errorMessage } from "../errors.ts";
import type { Log } from "../log.ts";
import { renewLease } from "./queries.ts";

/** A lease that was not renewed for so long may be taken by anybody. */
export const leaseMs = 30_000;
const renewalMs = 10_000;

/** Another process has the run now: nothing of it may be touched any more. */
export class LeaseLost extends Error {
  constructor(runId: string) {
    super(`The run "${runId}" belongs to another process now`);
    this.name = "LeaseLost";
  }
}

export interface Lease {
  run_id: string;
  owner: string;
  /** Aborted with `LeaseLost` when the run was taken over, or could not be kept for the whole length of a lease. */
  signal: AbortSignal;
  /** When the lease was last known to be held. */
  renewedAt(): number;
  /** Tells that a fenced write went through, which renews it. */
  renewed(): void;
  /** Tells that a fenced write found another owner. */
  lost(): LeaseLost;
  /** Ends the renewal; the row keeps its lease. */
  stop(): Promise<void>;
}

interface LeaseOptions {
  db: Database;
  clock: Clock;
  log: Log;
  run_id: string;
  owner: string;
}

/** Renews a lease every ten seconds until it is stopped or lost. */
export function holdLease(options: LeaseOptions): Lease {
  const { db, clock, log, run_id, owner } = options;
  const ended = new AbortController();
  const stopped = new AbortController();
  let renewedAt = clock.now();
  const lost = (): LeaseLost => {
    const error = new LeaseLost(run_id);
    ended.abort(error);
    return error;
  };
  const renewOnce = async (): Promise<void> => {
    try {
      const now = clock.now();
      if (await db.write((tx) => renewLease(tx, run_id, owner, now + leaseMs))) renewedAt = now;
      else lost();
    } catch (error) {
      // A database that does not answer for a moment costs nothing while the lease lasts.
      log.warning("Lease of a run was not renewed", { run: run_id, error: errorMessage(error) });
      if (clock.now() - renewedAt >= leaseMs) lost();
    }
  };
  const renewing = (async () => {
    while (!stopped.signal.aborted && !ended.signal.aborted) {
      try {
        await clock.sleep(renewalMs, stopped.signal);
      } catch (error) {
        if (stopped.signal.aborted) return;
        throw error;
      }
      await renewOnce();
    }
  })();
  return {
    run_id,
    owner,
    signal: ended.signal,
    renewedAt: () => renewedAt,
    renewed: () => {
      renewedAt = clock.now();
    },
    lost,
    stop: async () => {
      stopped.abort();
      await renewing;
    },
  };
}
