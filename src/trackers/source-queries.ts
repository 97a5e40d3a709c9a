import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { rowsAmong } from "../db/prepared.ts";
import { rowsOf, rowWrites } from "../db/rows.ts";
import { tracker_channels, tracker_sources } from "../db/tables/trackers.ts";

export type SourceRow = typeof tracker_sources.$inferSelect;
export type ChannelRow = typeof tracker_channels.$inferSelect;

// Sources

/** Of trackers, by their ids. */
export const sourcesOf = rowsAmong((read, isAmong) =>
  read
    .select()
    .from(tracker_sources)
    .where(isAmong(tracker_sources.tracker_id))
    .orderBy(asc(tracker_sources.tracker_id), asc(tracker_sources.position)),
);

export const sourceRows = rowsOf(tracker_sources, "source");

/** More sources of one registry add nothing to its estimated load. */
const maxNeighbours = 1_000;

export async function sourcesAtHosts(read: Reader, kind: string, hosts: readonly string[]): Promise<SourceRow[]> {
  return await read
    .select()
    .from(tracker_sources)
    .where(and(eq(tracker_sources.kind, kind), inArray(tracker_sources.host, [...hosts])))
    .orderBy(asc(tracker_sources.id))
    .limit(maxNeighbours);
}

// Channels

/** Of sources, by their ids. */
export const channelsOf = rowsAmong((read, isAmong) =>
  read
    .select()
    .from(tracker_channels)
    .where(isAmong(tracker_channels.source_id))
    .orderBy(asc(tracker_channels.source_id), asc(tracker_channels.position)),
);

export const channelRows = rowWrites(tracker_channels);
