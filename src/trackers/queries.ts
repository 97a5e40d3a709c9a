import { and, eq, gt, isNotNull, isNull, not, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { idsIn, listsOver, optionsIn } from "../db/listing.ts";
import { namedRowsOf } from "../db/rows.ts";
import { isOfEnabled, isOfUnknownKind } from "../db/source-conditions.ts";
import { tracker_sources, trackers } from "../db/tables/trackers.ts";
import { waitsForHost } from "./upstreams/outage-queries.ts";

export type TrackerRow = typeof trackers.$inferSelect;

export const trackerRows = namedRowsOf(trackers, "tracker");

type Source = typeof tracker_sources;
type SourceCondition = (source: Source) => SQL | undefined;

const former = alias(tracker_sources, "former");

/**
 * Whether the tracker has a source that meets the condition. The list of IDs is read once; `exists` would be evaluated for every tracker.
 */
function hasSource(is: SourceCondition): SQL {
  return sql`${trackers.id} in (
    select ${tracker_sources.tracker_id} from ${tracker_sources} where ${is(tracker_sources)}
  )`;
}

/** The IDs of trackers with such a source, each once: at its first one. Most trackers have one source, which needs no comparison. */
function withSource(is: SourceCondition) {
  return idsIn(sql`
    select ${tracker_sources.tracker_id} as id from ${tracker_sources}
    where ${is(tracker_sources)} and (${tracker_sources.position} = 0 or not exists (
      select 1 from ${tracker_sources} as former
      where ${former.tracker_id} = ${tracker_sources.tracker_id}
        and ${former.position} < ${tracker_sources.position} and ${is(former as unknown as Source)}
    ))`);
}

// Each option once per tracker, at its first place. Most trackers have one source with one channel, which needs no comparison.
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
  const hasFailed = (source: Source) => isNotNull(source.last_error_code);
  const isUnchecked = (source: Source) => isNull(source.last_checked_at);
  const isUnknown = (source: Source) => isOfUnknownKind(source, kinds);
  const isHostAway = (source: Source) =>
    sql`(${waitsForHost(source)} and ${isOfEnabled(source)} and not ${isUnknown(source)})`;
  const isFailing = (source: Source) => or(isUnknown(source), and(hasFailed(source), not(isHostAway(source))));
  const isPending = (source: Source) => and(isUnchecked(source), not(isHostAway(source)));
  const inAddress = (contains: (text: SQL) => SQL) =>
    hasSource(({ config }) => sql`exists (select 1 from json_each(${config}) where ${contains(sql`json_each.value`)})`);
  const isOutdated = sql`${trackers.id} in (select value from json_each(${JSON.stringify(outdated)}))`;
  return {
    sorts: {
      name: "trackers.name",
      // What needs attention first, as the list shows it.
      state: sql`case
        when not ${trackers.is_enabled} then 5
        when ${hasSource(isFailing)} then 0
        when not ${hasSource((source) => not(waitsForHost(source)))} then 1
        when ${hasSource(isPending)} then 2
        when ${isOutdated} then 3
        else 4
      end`,
      checked: "(select coalesce(max(s.last_checked_at), 0) from tracker_sources s where s.tracker_id = trackers.id)",
    },
    filters: {
      state: {
        ok: () => not(hasSource((source) => or(isUnchecked(source), hasFailed(source), isUnknown(source)))),
        failing: withSource(isFailing),
        pending: and(hasSource(isPending), not(hasSource(isFailing))),
        waiting: withSource(isHostAway),
        checking: () => hasSource(({ lease_until }) => gt(lease_until, now)),
        disabled: eq(trackers.is_enabled, false),
        update: isOutdated,
      },
      channel: channelTypes,
      kind: sourceKinds,
    },
    searched: [trackers.name, trackers.description, inAddress],
  };
});
