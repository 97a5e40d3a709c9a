import { and, asc, eq, sql } from "drizzle-orm";
import type { Reader } from "./client.ts";
import { rowsOfPrepared } from "./prepared.ts";
import { credentials } from "./tables/connections.ts";
import { tracker_sources, trackers } from "./tables/trackers.ts";

/** The other sources of enabled trackers that use the credential of a source at its host. */
const others = sql`from tracker_sources as other inner join trackers as owner on owner.id = other.tracker_id
  where other.credential_id = ${tracker_sources.credential_id} and other.host = ${tracker_sources.host}
    and other.id <> ${tracker_sources.id} and owner.is_enabled`;

/**
 * Of a source in a query over several tables: it fails because its host refuses its credential, which is refused for another source too or
 * has no other one there. If it works for all the others, the source fails for its own reasons.
 */
export const isCredentialRefused = sql`(
  ${tracker_sources.last_error_code} is 'unauthorized' and ${tracker_sources.credential_id} is not null and (
    exists (select 1 ${others} and other.last_error_code = 'unauthorized') or not exists (select 1 ${others})
  )
)`;

const refused = rowsOfPrepared((read) => {
  const shared = sql`partition by ${tracker_sources.credential_id}, ${tracker_sources.host}`;
  const longest = sql`order by ${tracker_sources.failing_since}, ${tracker_sources.id}`;
  const ranked = read
    .select({
      credential_id: sql<string>`${credentials.id}`.as("credential_id"),
      credential: sql<string>`${credentials.name}`.as("credential"),
      host: tracker_sources.host,
      tracker: sql<string>`${trackers.name}`.as("tracker"),
      source: sql<string>`${tracker_sources.key}`.as("source"),
      last_error_code: tracker_sources.last_error_code,
      last_error_message: tracker_sources.last_error_message,
      since: sql<number>`min(${tracker_sources.failing_since}) over (${shared})`.as("since"),
      total: sql<number>`count(*) over (${shared})`.as("total"),
      place: sql<number>`row_number() over (${shared} ${longest})`.as("place"),
    })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .innerJoin(credentials, eq(credentials.id, tracker_sources.credential_id))
    .where(and(eq(trackers.is_enabled, true), isCredentialRefused))
    .as("ranked");
  return read
    .select()
    .from(ranked)
    .where(sql`${ranked.place} <= ${sql.placeholder("each")}`)
    .orderBy(asc(ranked.since), asc(ranked.credential_id), asc(ranked.host), asc(ranked.place))
    .limit(sql.placeholder("limit"));
});

/**
 * The sources of enabled trackers whose credential is refused, at most `each` of a credential and host, the longest failing first;
 * `total` counts all of these, `since` is the first failure among them.
 */
export async function refusedSources(read: Reader, { limit, each }: { limit: number; each: number }) {
  return await refused(read, { each, limit: limit * each });
}
export type RefusedRow = Awaited<ReturnType<typeof refusedSources>>[number];
