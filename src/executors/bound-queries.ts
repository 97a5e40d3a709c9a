import { and, asc, eq, inArray, not, type SQL, sql } from "drizzle-orm";
import { reachOf } from "../connections/schema.ts";
import type { Reader, Writer } from "../db/client.ts";
import { lookColumns } from "../db/look-columns.ts";
import { isAmongGiven, rowsAmong, rowsOfPrepared } from "../db/prepared.ts";
import { connections, executor_bindings, executors, snapshots } from "../db/tables.ts";
import { updateDifferences } from "./observation-schema.ts";

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

const outdatedBindings = rowsOfPrepared((read) =>
  read
    .selectDistinct({ id: executor_bindings.tracker_id })
    .from(executor_bindings)
    .innerJoin(executors, eq(executors.id, executor_bindings.executor_id))
    .innerJoin(
      sql`json_each(${executors.observed}, '$.services') as service`,
      sql`json_extract(service.value, '$.service') = ${executor_bindings.service}`,
    )
    .where(
      and(
        inArray(sql`json_extract(service.value, '$.difference')`, [...updateDifferences]),
        not(isAmongGiven(executors.connection_id, "lost")),
      ),
    ),
);

/** More snapshots than the executors of one source keep. */
const maxSnapshotsRead = 100_000;

/** What trackers know about executors: each service with the channel that it is bound to. */
export const boundExecutors = {
  ofTrackers: rowsAmong((read, isAmong) => servicesBound(read, isAmong(executor_bindings.tracker_id))),

  ofSource: async (read: Reader, sourceId: string) => await boundToSource(read, { source_id: sourceId }),

  outdatedTrackers: async (read: Reader, now: number): Promise<readonly string[]> => {
    const looks = await looksOfAll(read);
    const lost = looks.filter((facts) => reachOf(facts, now).problem !== null).map(({ id }) => id);
    const rows = await outdatedBindings(read, { lost: JSON.stringify(lost) });
    return rows.map((row) => row.id);
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
