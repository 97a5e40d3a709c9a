import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { errorMessage } from "../errors.ts";
import { type HeldLease, holdLease } from "../held-lease.ts";
import type { Log } from "../log.ts";
import { renewLease } from "./queries.ts";

/** Another process has taken over the run, so this one must not touch it. */
export class LeaseLost extends Error {
  constructor(runId: string) {
    super(`The run "${runId}" belongs to another process now`);
    this.name = "LeaseLost";
  }
}

export interface Lease extends HeldLease {
  run_id: string;
  owner: string;
}

interface LeaseOptions {
  db: Database;
  clock: Clock;
  log: Log;
  run_id: string;
  owner: string;
}

/** Holds a run's lease; the signal is aborted with `LeaseLost` if it is lost. */
export function holdRun({ db, clock, log, run_id, owner }: LeaseOptions): Lease {
  const held = holdLease({
    clock,
    renew: (until) => db.write((tx) => renewLease(tx, run_id, owner, until)),
    onFault: (error) => log.warning("Lease of a run was not renewed", { run: run_id, error: errorMessage(error) }),
    reason: () => new LeaseLost(run_id),
  });
  return { ...held, run_id, owner };
}
