import { eq } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { tracker_sources, trackers } from "../db/tables.ts";

/** More than this are not added up. */
const maxSourcesRead = 20_000;

export interface CheckedSource {
  kind: string;
  config: Readonly<Record<string, unknown>> | null;
  host: string;
  credential_id: string | null;
  check_interval_minutes: number;
}

/** Every source that is checked by itself. */
export async function listCheckedSources(read: Reader): Promise<CheckedSource[]> {
  return await read
    .select({
      kind: tracker_sources.kind,
      config: tracker_sources.config,
      host: tracker_sources.host,
      credential_id: tracker_sources.credential_id,
      check_interval_minutes: trackers.check_interval_minutes,
    })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(eq(trackers.is_enabled, true))
    .limit(maxSourcesRead);
}
