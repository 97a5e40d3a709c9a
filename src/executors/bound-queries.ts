import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { reachOf } from "../connections/schema.ts";
import type { Reader, Writer } from "../db/client.ts";
import { lookColumns } from "../db/look-columns.ts";
import { rowsAmong, rowsOfPrepared } from "../db/prepared.ts";
import { connections, executor_bindings, executors, snapshots } from "../db/tables.ts";
import { isUpdate } from "./desired.ts";
import { observationNow } from "./observation-schema.ts";

/** `observed`: the column, or nothing where it would be read in vain. */
function servicesBound(
  read: Reader,
  condition: SQL,
  observed: typeof executors.observed | SQL<null> = sql<null>`null`,
) {
  return read
    .select({
      id: executors.id,
      name: executors.name,
      service: executor_bindings.service,
      tracker_id: executor_bindings.tracker_id,
      source_id: executor_bindings.source_id,
      channel: executor_bindings.channel,
      observed,
    })
    .from(executor_bindings)
    .innerJoin(executors, eq(executors.id, executor_bindings.executor_id))
    .where(condition)
    .orderBy(asc(executors.name), asc(executor_bindings.service));
}

const boundToSource = rowsOfPrepared((read) =>
  servicesBound(read, eq(executor_bindings.source_id, sql.placeholder("source_id")), executors.observed),
);

const looksOfAll = rowsOfPrepared((read) => read.select({ id: connections.id, ...lookColumns }).from(connections));

const targetsObserved = rowsOfPrepared((read) =>
  read
    .select({ id: executors.id, connection_id: executors.connection_id, observed: executors.observed })
    .from(executors),
);

const bindingsOf = rowsAmong((read, isAmong) =>
  read
    .select({
      executor_id: executor_bindings.executor_id,
      service: executor_bindings.service,
      tracker_id: executor_bindings.tracker_id,
    })
    .from(executor_bindings)
    .where(isAmong(executor_bindings.executor_id)),
);

/** More snapshots than the executors of one source keep. */
const maxSnapshotsRead = 100_000;

/** What trackers know about executors: each service with the channel that it is bound to. */
export const boundExecutors = {
  ofTrackers: rowsAmong((read, isAmong) => servicesBound(read, isAmong(executor_bindings.tracker_id))),

  ofSource: async (read: Reader, sourceId: string) => await boundToSource(read, { source_id: sourceId }),

  outdatedTrackers: async (read: Reader, now: number): Promise<readonly string[]> => {
    const looks = await looksOfAll(read);
    const lost = new Set(looks.filter((facts) => reachOf(facts, now).problem !== null).map(({ id }) => id));
    const outdated = new Map<string, readonly string[]>();
    for (const row of await targetsObserved(read)) {
      const seen = lost.has(row.connection_id) ? [] : (observationNow(row, null)?.services ?? []);
      const behind = seen.filter(({ difference }) => isUpdate(difference)).map(({ service }) => service);
      if (behind.length > 0) outdated.set(row.id, behind);
    }
    const bindings = await bindingsOf(read, [...outdated.keys()]);
    const isOutdated = ({ executor_id, service }: (typeof bindings)[number]) =>
      outdated.get(executor_id)?.includes(service);
    return [...new Set(bindings.filter(isOutdated).map(({ tracker_id }) => tracker_id))];
  },

  /** The images in the snapshots of the executors that are bound to a source. */
  snapshotsOn: async (read: Reader, sourceId: string) =>
    await read
      .selectDistinct({ reference: snapshots.reference, digest: snapshots.digest })
      .from(snapshots)
      .innerJoin(executor_bindings, eq(executor_bindings.executor_id, snapshots.executor_id))
      .where(eq(executor_bindings.source_id, sourceId))
      .limit(maxSnapshotsRead),

  /** Makes the executors bound to these channels due at the next tick. */
  wake: async (tx: Writer, sourceId: string, channels: readonly string[], now: number): Promise<void> => {
    if (channels.length === 0) return;
    const bound = tx
      .select({ id: executor_bindings.executor_id })
      .from(executor_bindings)
      .where(and(eq(executor_bindings.source_id, sourceId), inArray(executor_bindings.channel, [...channels])));
    await tx.update(executors).set({ next_evaluation_at: now }).where(inArray(executors.id, bound));
  },
};
