import { asc, eq } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { tracker_sources, trackers } from "../db/tables.ts";

/** More than this are not compared with what is imported. */
const maxSourcesRead = 20_000;

/** Every source's address with the name of its tracker. */
export async function listSourceAddresses(
  read: Reader,
): Promise<{ tracker: string; kind: string; config: Readonly<Record<string, unknown>> | null }[]> {
  return await read
    .select({ tracker: trackers.name, kind: tracker_sources.kind, config: tracker_sources.config })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .orderBy(asc(trackers.name))
    .limit(maxSourcesRead);
}
