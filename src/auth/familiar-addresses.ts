import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { RecentMap } from "../recent-map.ts";
import { listSignInAddresses } from "./queries.ts";
import { addressKey } from "./throttle.ts";

const REMEMBERED_FOR_MS = 30 * 24 * 3_600_000;
const MAXIMUM_REMEMBERED = 100;
// A flood of strangers triggers this read on every attempt; a client that just signed in is known without it.
const READ_EVERY_MS = 5000;

/** Clients that sent the right password or began a live session. */
export interface FamiliarAddresses {
  /** Records a right password. */
  note(address: string | null): void;
  /** In the form of the throttle's keys. */
  keys(): Promise<ReadonlySet<string>>;
}

export function familiarAddresses({ db, clock }: { db: Database; clock: Clock }): FamiliarAddresses {
  const noted = new RecentMap<string, number>(MAXIMUM_REMEMBERED);
  let read = { at: Number.NEGATIVE_INFINITY, keys: [] as readonly string[] };

  return {
    note: (address) => {
      if (address === null) return;
      noted.set(addressKey(address), clock.elapsed());
    },
    keys: async () => {
      const now = clock.elapsed();
      if (now - read.at >= READ_EVERY_MS) {
        const addresses = await listSignInAddresses(db.read, clock.now());
        read = { at: now, keys: addresses.map(addressKey) };
      }
      const recent = [...noted].filter(([, at]) => now - at < REMEMBERED_FOR_MS).map(([key]) => key);
      return new Set([...read.keys, ...recent]);
    },
  };
}
