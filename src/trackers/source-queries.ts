import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { rowsOf, rowWrites } from "../db/rows.ts";
import { tracker_channels, tracker_sources } from "../db/tables/trackers.ts";

export type SourceRow = typeof tracker_sources.$inferSelect;
export type ChannelRow = typeof tracker_channels.$inferSelect;

// Sources

export async function sourcesOf(read: Reader, trackerIds: readonly string[]): Promise<SourceRow[]> {
  if (trackerIds.length === 0) return [];
  return await read
    .select()
    .from(tracker_sources)
    .where(inArray(tracker_sources.tracker_id, [...trackerIds]))
    .orderBy(asc(tracker_sources.tracker_id), asc(tracker_sources.position));
}

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

export async function channelsOf(read: Reader, sourceIds: readonly string[]): Promise<ChannelRow[]> {
  if (sourceIds.length === 0) return [];
  return await read
    .select()
    .from(tracker_channels)
    .where(inArray(tracker_channels.source_id, [...sourceIds]))
    .orderBy(asc(tracker_channels.source_id), asc(tracker_channels.position));
}

export const channelRows = rowWrites(tracker_channels);
