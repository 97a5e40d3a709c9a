import { asc, eq } from "drizzle-orm";
import type { Reader } from "../../db/client.ts";
import { releases, tracker_channels, tracker_sources, trackers } from "../../db/tables/trackers.ts";

/** Beyond this, existing channels are not compared with the import. */
const maxChannelsRead = 20_000;

/** Every channel's rules and latest tag, with its source's address and its tracker's name. */
export async function listChannelAddresses(read: Reader) {
  return await read
    .select({
      tracker: trackers.name,
      source: tracker_sources.key,
      source_id: tracker_sources.id,
      kind: tracker_sources.kind,
      config: tracker_sources.config,
      channel: tracker_channels.name,
      type: tracker_channels.type,
      include_pattern: tracker_channels.include_pattern,
      exclude_pattern: tracker_channels.exclude_pattern,
      latest: releases.tag,
    })
    .from(tracker_channels)
    .innerJoin(tracker_sources, eq(tracker_sources.id, tracker_channels.source_id))
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .leftJoin(releases, eq(releases.id, tracker_channels.latest_release_id))
    .orderBy(asc(trackers.name))
    .limit(maxChannelsRead);
}
