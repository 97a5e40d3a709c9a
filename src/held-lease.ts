import type { Clock } from "./clock.ts";

/** Any process may take a lease that was not renewed for this long. */
export const leaseMs = 30_000;
const renewalMs = 10_000;

export interface HeldLease {
  /** Aborted when the work was taken over, or the lease could not be renewed in time. */
  signal: AbortSignal;
  /** When the lease was last known to be held, by `Clock.elapsed`. */
  renewedAt(): number;
  /** Reports a successful fenced write, which renews the lease. */
  renewed(): void;
  /** Reports that a fenced write found another owner; returns the signal's abort reason. */
  lost(): Error;
  /** Ends the renewal; the row keeps its lease. */
  stop(): Promise<void>;
}

interface HoldOptions {
  clock: Clock;
  /** Writes the new end; false when somebody else has it. */
  renew: (until: number) => Promise<boolean>;
  /** A database outage is harmless while the lease lasts. */
  onFault: (error: unknown) => void;
  /** The signal's abort reason. */
  reason: () => Error;
}

/** Renews a lease every ten seconds until it is stopped or lost. */
export function holdLease({ clock, renew, onFault, reason }: HoldOptions): HeldLease {
  const ended = new AbortController();
  const stopped = new AbortController();
  let renewedAt = clock.elapsed();
  const lost = (): Error => {
    const error = reason();
    ended.abort(error);
    return error;
  };
  const renewOnce = async (): Promise<void> => {
    try {
      const askedAt = clock.elapsed();
      if (await renew(clock.now() + leaseMs)) renewedAt = askedAt;
      else lost();
    } catch (error) {
      onFault(error);
      if (clock.elapsed() - renewedAt >= leaseMs) lost();
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
    signal: ended.signal,
    renewedAt: () => renewedAt,
    renewed: () => {
      renewedAt = clock.elapsed();
    },
    lost,
    stop: async () => {
      stopped.abort();
      await renewing;
    },
  };
}
