import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
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

export async function findSource(read: Reader, id: string): Promise<SourceRow | null> {
  return (await read.select().from(tracker_sources).where(eq(tracker_sources.id, id)).limit(1))[0] ?? null;
}

/** More sources of one registry say nothing new of how it is asked. */
const maxNeighbours = 1_000;

export async function sourcesAtHosts(read: Reader, kind: string, hosts: readonly string[]): Promise<SourceRow[]> {
  return await read
    .select()
    .from(tracker_sources)
    .where(and(eq(tracker_sources.kind, kind), inArray(tracker_sources.host, [...hosts])))
    .orderBy(asc(tracker_sources.id))
    .limit(maxNeighbours);
}

export async function insertSource(tx: Writer, row: typeof tracker_sources.$inferInsert): Promise<void> {
  await tx.insert(tracker_sources).values(row);
}

export async function updateSourceRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof tracker_sources.$inferInsert>,
): Promise<void> {
  await tx.update(tracker_sources).set(changes).where(eq(tracker_sources.id, id));
}

export async function deleteSourceRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(tracker_sources).where(eq(tracker_sources.id, id));
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

export async function insertChannel(tx: Writer, row: typeof tracker_channels.$inferInsert): Promise<void> {
  await tx.insert(tracker_channels).values(row);
}

export async function updateChannelRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof tracker_channels.$inferInsert>,
): Promise<void> {
  await tx.update(tracker_channels).set(changes).where(eq(tracker_channels.id, id));
}

export async function deleteChannelRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(tracker_channels).where(eq(tracker_channels.id, id));
}
