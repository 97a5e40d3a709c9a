import { sql } from "drizzle-orm";
import { tracker_sources } from "./tables/trackers.ts";

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
