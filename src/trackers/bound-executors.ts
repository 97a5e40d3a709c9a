import type { Reader, Writer } from "../db/client.ts";

/** A service of an executor that is bound to a channel. */
export interface BoundExecutor {
  id: string;
  name: string;
  service: string;
  tracker_id: string;
  source_id: string;
  /** The channel's name. */
  channel: string;
}

/** With what its target was last seen to run. */
export interface ObservedExecutor extends BoundExecutor {
  observed: Readonly<Record<string, unknown>> | null;
}

/** Who uses what trackers find. Executors supply it. */
export interface BoundExecutors {
  ofTrackers: (read: Reader, trackerIds: readonly string[]) => Promise<BoundExecutor[]>;
  ofSource: (read: Reader, sourceId: string) => Promise<ObservedExecutor[]>;
  /** What the snapshots of the bound executors name. */
  snapshotsOn: (read: Reader, sourceId: string) => Promise<{ reference: string; digest: string | null }[]>;
  /** The ids of trackers with a version that an executor would install. */
  outdatedTrackers: (read: Reader, now: number) => Promise<readonly string[]>;
  /** Makes the executors bound to these channels decide again whether to update. */
  wake: (tx: Writer, sourceId: string, channels: readonly string[], now: number) => Promise<void>;
}
