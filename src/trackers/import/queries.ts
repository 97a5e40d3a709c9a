import { asc, eq } from "drizzle-orm";
import type { Reader } from "../../db/client.ts";
import { tracker_channels, tracker_sources, trackers } from "../../db/tables/trackers.ts";

/** More than this are not compared with what is imported. */
const maxChannelsRead = 20_000;

/** Every channel's patterns, with the address of its source and the name of its tracker. */
export async function listChannelAddresses(read: Reader): Promise<
  {
    tracker: string;
    kind: string;
    config: Readonly<Record<string, unknown>> | null;
    include_pattern: string;
    exclude_pattern: string;
  }[]
> {
  return await read
    .select({
      tracker: trackers.name,
      kind: tracker_sources.kind,
      config: tracker_sources.config,
      include_pattern: tracker_channels.include_pattern,
      exclude_pattern: tracker_channels.exclude_pattern,
    })
    .from(tracker_channels)
    .innerJoin(tracker_sources, eq(tracker_sources.id, tracker_channels.source_id))
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .orderBy(asc(trackers.name))
    .limit(maxChannelsRead);
}
