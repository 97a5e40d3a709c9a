import { and, eq, exists, gt, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { listsOver } from "../db/listing.ts";
import { namedRowsOf } from "../db/rows.ts";
import { tracker_channels, tracker_sources, trackers } from "../db/tables/trackers.ts";
import type { ChannelRow } from "./source-queries.ts";

export type TrackerRow = typeof trackers.$inferSelect;

export const trackerRows = namedRowsOf(trackers, "tracker");

function sourceOf(read: Reader, condition: SQL | undefined): SQL {
  return exists(
    read
      .select({ one: sql`1` })
      .from(tracker_sources)
      .where(and(eq(tracker_sources.tracker_id, trackers.id), condition)),
  );
}

function withChannel(read: Reader, type: ChannelRow["type"]): SQL {
  const channel = read
    .select({ one: sql`1` })
    .from(tracker_channels)
    .where(and(eq(tracker_channels.source_id, tracker_sources.id), eq(tracker_channels.type, type)));
  return sourceOf(read, exists(channel));
}

interface TrackerListContext {
  now: number;
  /** The ids of those with an update that something should run. */
  outdated: readonly string[];
  /** Every kind of source. */
  kinds: readonly string[];
}

/** The names of its options are those of `trackerList`. */
export const trackerLists = listsOver(trackers, (read, { now, outdated, kinds }: TrackerListContext) => {
  const isFailing = isNotNull(tracker_sources.last_error_code);
  const isPending = isNull(tracker_sources.last_checked_at);
  const inAddress = (contains: (text: SQL) => SQL) =>
    sourceOf(
      read,
      sql`exists (select 1 from json_each(${tracker_sources.config}) where ${contains(sql`json_each.value`)})`,
    );
  return {
    sorts: {
      name: "trackers.name",
      checked: "(select coalesce(max(s.last_checked_at), 0) from tracker_sources s where s.tracker_id = trackers.id)",
    },
    filters: {
      state: {
        ok: sql`not ${sourceOf(read, or(isPending, isFailing))}`,
        failing: sourceOf(read, isFailing),
        pending: and(sourceOf(read, isPending), sql`not ${sourceOf(read, isFailing)}`),
        checking: sourceOf(read, gt(tracker_sources.lease_until, now)),
        disabled: eq(trackers.is_enabled, false),
        update: sql`${trackers.id} in (select value from json_each(${JSON.stringify(outdated)}))`,
      },
      channel: Object.fromEntries(tracker_channels.type.enumValues.map((type) => [type, withChannel(read, type)])),
      kind: Object.fromEntries(kinds.map((kind) => [kind, sourceOf(read, eq(tracker_sources.kind, kind))])),
    },
    searched: [trackers.name, trackers.description, inAddress],
  };
});
