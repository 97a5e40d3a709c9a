import { and, eq, gt, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import { listsOver, optionsIn } from "../db/listing.ts";
import { namedRowsOf } from "../db/rows.ts";
import { tracker_sources, trackers } from "../db/tables/trackers.ts";
import { waitsForHost } from "./upstreams/outage-queries.ts";

export type TrackerRow = typeof trackers.$inferSelect;

export const trackerRows = namedRowsOf(trackers, "tracker");

/** Whether a source is as the condition says. Such a list of ids is read once, where `exists` would be asked again for every tracker. */
function sourceOf(condition: SQL | undefined): SQL {
  return sql`${trackers.id} in (select ${tracker_sources.tracker_id} from ${tracker_sources} where ${condition})`;
}

// Each option where a tracker has it first, which needs no comparison for most: they have one source with one channel.
const channelTypes = optionsIn(sql`
  select source.tracker_id as id, channel.type as option
  from tracker_channels channel join tracker_sources source on source.id = channel.source_id
  where (source.position = 0 and channel.position = 0) or not exists (
    select 1 from tracker_sources former join tracker_channels earlier on earlier.source_id = former.id
    where former.tracker_id = source.tracker_id and earlier.type = channel.type
      and (former.position, earlier.position) < (source.position, channel.position))`);
const sourceKinds = optionsIn(sql`
  select source.tracker_id as id, source.kind as option
  from tracker_sources source
  where source.position = 0 or not exists (
    select 1 from tracker_sources former
    where former.tracker_id = source.tracker_id and former.kind = source.kind and former.position < source.position)`);

interface TrackerListContext {
  now: number;
  /** The kinds of sources that this version knows. */
  kinds: readonly string[];
  /** The ids of those with an update that something should run. */
  outdated: readonly string[];
}

/** The names of its options are those of `trackerList`. */
export const trackerLists = listsOver(trackers, (_read, { now, kinds, outdated }: TrackerListContext) => {
  const hasFailed = isNotNull(tracker_sources.last_error_code);
  const isUnchecked = isNull(tracker_sources.last_checked_at);
  /** A later version stored it: no check is possible. Comparing with each takes less than looking it up in a list. */
  const isUnknown = sql`case ${tracker_sources.kind}
    ${sql.join(
      kinds.map((kind) => sql`when ${kind} then false`),
      sql` `,
    )}
    else true
  end`;
  const isFailing = or(isUnknown, and(hasFailed, sql`not ${waitsForHost}`));
  const isPending = and(isUnchecked, sql`not ${waitsForHost}`);
  const inAddress = (contains: (text: SQL) => SQL) =>
    sourceOf(sql`exists (select 1 from json_each(${tracker_sources.config}) where ${contains(sql`json_each.value`)})`);
  const isOutdated = sql`${trackers.id} in (select value from json_each(${JSON.stringify(outdated)}))`;
  return {
    sorts: {
      name: "trackers.name",
      // What needs attention first, as the list shows it.
      state: sql`case
        when not ${trackers.is_enabled} then 5
        when ${sourceOf(isFailing)} then 0
        when not ${sourceOf(sql`not ${waitsForHost}`)} then 1
        when ${sourceOf(isPending)} then 2
        when ${isOutdated} then 3
        else 4
      end`,
      checked: "(select coalesce(max(s.last_checked_at), 0) from tracker_sources s where s.tracker_id = trackers.id)",
    },
    filters: {
      state: {
        ok: () => sql`not ${sourceOf(or(isUnchecked, hasFailed, isUnknown))}`,
        failing: sourceOf(isFailing),
        pending: and(sourceOf(isPending), sql`not ${sourceOf(isFailing)}`),
        waiting: and(eq(trackers.is_enabled, true), sourceOf(sql`${waitsForHost} and not ${isUnknown}`)),
        checking: () => sourceOf(gt(tracker_sources.lease_until, now)),
        disabled: eq(trackers.is_enabled, false),
        update: isOutdated,
      },
      channel: channelTypes,
      kind: sourceKinds,
    },
    searched: [trackers.name, trackers.description, inAddress],
  };
});
