import { and, asc, eq, exists, gt, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/client.ts";
import { namedRowsOf } from "../db/rows.ts";
import { tracker_channels, tracker_sources, trackers } from "../db/tables/trackers.ts";
import type { ChannelRow } from "./source-queries.ts";

export type TrackerRow = typeof trackers.$inferSelect;

export const trackerRows = namedRowsOf(trackers, "tracker");

export interface TrackerFilter {
  search: string | null;
  state: "ok" | "failing" | "pending" | "checking" | "disabled" | null;
  channel: ChannelRow["type"] | null;
  kind: string | null;
}

function sourceOf(read: Reader, condition: SQL | undefined): SQL {
  return exists(
    read
      .select({ one: sql`1` })
      .from(tracker_sources)
      .where(and(eq(tracker_sources.tracker_id, trackers.id), condition)),
  );
}

function inState(read: Reader, state: TrackerFilter["state"], now: number): SQL | undefined {
  const isChecking = gt(tracker_sources.lease_until, now);
  const isFailing = isNotNull(tracker_sources.last_error_code);
  const isPending = isNull(tracker_sources.last_checked_at);
  switch (state) {
    case "disabled":
      return eq(trackers.is_enabled, false);
    case "checking":
      return sourceOf(read, isChecking);
    case "failing":
      return sourceOf(read, isFailing);
    case "pending":
      return and(sourceOf(read, isPending), sql`not ${sourceOf(read, isFailing)}`);
    case "ok":
      return sql`not ${sourceOf(read, or(isPending, isFailing))}`;
    default:
      return undefined;
  }
}

/** Ordered by name; returns one row more than `limit` when there is another page. */
export async function listTrackersAfter(
  read: Reader,
  after: string | null,
  limit: number,
  filter: TrackerFilter,
  now: number,
): Promise<TrackerRow[]> {
  const conditions: (SQL | undefined)[] = [inState(read, filter.state, now)];
  if (after !== null) conditions.push(gt(trackers.name, after));
  if (filter.kind !== null) conditions.push(sourceOf(read, eq(tracker_sources.kind, filter.kind)));
  if (filter.channel !== null) {
    const channel = read
      .select({ one: sql`1` })
      .from(tracker_channels)
      .where(and(eq(tracker_channels.source_id, tracker_sources.id), eq(tracker_channels.type, filter.channel)));
    conditions.push(sourceOf(read, exists(channel)));
  }
  if (filter.search !== null) {
    const part = `%${filter.search.replaceAll(/[\\%_]/g, "\\$&")}%`;
    const found = (text: SQL) => sql`${text} like ${part} escape '\\'`;
    const inAddress = sql`exists (select 1 from json_each(${tracker_sources.config}) where ${found(sql`json_each.value`)})`;
    conditions.push(or(found(sql`${trackers.name}`), found(sql`${trackers.description}`), sourceOf(read, inAddress)));
  }
  return await read
    .select()
    .from(trackers)
    .where(and(...conditions))
    .orderBy(asc(trackers.name))
    .limit(limit + 1);
}
