import { and, asc, eq, sql } from "drizzle-orm";
import type { Reader } from "../../db/client.ts";
import { isCredentialRefused } from "../../db/refused-credentials.ts";
import { tracker_sources, trackers } from "../../db/tables/trackers.ts";

/** The sources of enabled trackers that fail because a host refuses their credential, the longest failing first. */
export async function refusedSources(read: Reader, { credential_id, host }: { credential_id: string; host: string }) {
  return await read
    .select({
      tracker: trackers.name,
      source: tracker_sources.key,
      credential: sql<string>`(select name from credentials where id = ${tracker_sources.credential_id})`,
      error_message: tracker_sources.last_error_message,
      failing_since: tracker_sources.failing_since,
      last_success_at: tracker_sources.last_success_at,
    })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(
      and(
        eq(tracker_sources.credential_id, credential_id),
        eq(tracker_sources.host, host),
        eq(trackers.is_enabled, true),
        isCredentialRefused,
      ),
    )
    .orderBy(asc(tracker_sources.failing_since), asc(tracker_sources.id));
}
