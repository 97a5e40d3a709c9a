import { type SQL, sql } from "drizzle-orm";
import { type tracker_sources, trackers } from "./tables/trackers.ts";

type Source = Pick<typeof tracker_sources, "kind" | "tracker_id">;

/** Of a kind that only a later version knows: no check is possible. Comparing with each takes less than looking it up in a list. */
export function isOfUnknownKind(source: Source, kinds: readonly string[]): SQL {
  const known = kinds.map((kind) => sql`when ${kind} then false`);
  return sql`case ${source.kind} ${sql.join(known, sql` `)} else true end`;
}

/** Of an enabled tracker; without a look at every tracker, since few are disabled. */
export function isOfEnabled(source: Source): SQL {
  return sql`${source.tracker_id} not in (select id from ${trackers} where not is_enabled)`;
}
