import {
  and,
  asc,
  desc,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  notInArray,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { preparedFor } from "../db/prepared.ts";
import {
  events,
  executor_bindings,
  executors,
  rate_limits,
  releases,
  response_cache,
  snapshots,
  tracker_channels,
  tracker_sources,
  trackers,
} from "../db/tables.ts";

export type TrackerRow = typeof trackers.$inferSelect;
export type SourceRow = typeof tracker_sources.$inferSelect;
export type ChannelRow = typeof tracker_channels.$inferSelect;
export type ReleaseRow = typeof releases.$inferSelect;
/** A release without its notes, which can be long. */
export type ReleaseFactsRow = Omit<ReleaseRow, "notes">;

/** More than a tracker can have: 20 sources with 4 channels of 1,000 versions is what the settings allow. */
const maxReleasesRead = 100_000;

const releaseFacts = {
  id: releases.id,
  source_id: releases.source_id,
  version: releases.version,
  tag: releases.tag,
  stage: releases.stage,
  revision: releases.revision,
  previous_revision: releases.previous_revision,
  published_at: releases.published_at,
  first_observed_at: releases.first_observed_at,
  republished_at: releases.republished_at,
  url: releases.url,
  notes_error: releases.notes_error,
  app_version: releases.app_version,
  is_deprecated: releases.is_deprecated,
  source_revision: releases.source_revision,
  labelled_version: releases.labelled_version,
  notes_digest: releases.notes_digest,
};

// Trackers

export async function findTracker(read: Reader, id: string): Promise<TrackerRow | null> {
  return (await read.select().from(trackers).where(eq(trackers.id, id)).limit(1))[0] ?? null;
}

export async function findTrackerByName(read: Reader, name: string): Promise<TrackerRow | null> {
  return (await read.select().from(trackers).where(eq(trackers.name, name)).limit(1))[0] ?? null;
}

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

/** Ordered by name; one row more than `limit` says that there is another page. */
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

export async function insertTracker(tx: Writer, row: typeof trackers.$inferInsert): Promise<void> {
  await tx.insert(trackers).values(row);
}

export async function updateTrackerRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof trackers.$inferInsert>,
): Promise<void> {
  await tx.update(trackers).set(changes).where(eq(trackers.id, id));
}

export async function deleteTrackerRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(trackers).where(eq(trackers.id, id));
}

// Sources

export async function sourcesOf(read: Reader, trackerIds: readonly string[]): Promise<SourceRow[]> {
  if (trackerIds.length === 0) return [];
  return await read
    .select()
    .from(tracker_sources)
    .where(inArray(tracker_sources.tracker_id, [...trackerIds]))
    .orderBy(asc(tracker_sources.tracker_id), asc(tracker_sources.position));
}

export async function findSource(read: Reader, id: string): Promise<SourceRow | null> {
  return (await read.select().from(tracker_sources).where(eq(tracker_sources.id, id)).limit(1))[0] ?? null;
}

export async function insertSource(tx: Writer, row: typeof tracker_sources.$inferInsert): Promise<void> {
  await tx.insert(tracker_sources).values(row);
}

export async function updateSourceRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof tracker_sources.$inferInsert>,
): Promise<void> {
  await tx.update(tracker_sources).set(changes).where(eq(tracker_sources.id, id));
}

export async function deleteSourceRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(tracker_sources).where(eq(tracker_sources.id, id));
}

export async function deleteReleasesOf(tx: Writer, sourceId: string): Promise<void> {
  await tx.delete(releases).where(eq(releases.source_id, sourceId));
}

// Due checks

/** A lease lasts no longer than this; one that would is left over from a clock that went back. */
export const maxLeaseMs = 60 * 60_000;

function isFree(now: number | Placeholder, furthest: number | Placeholder): SQL | undefined {
  return or(
    isNull(tracker_sources.lease_until),
    lte(tracker_sources.lease_until, now),
    gt(tracker_sources.lease_until, furthest),
  );
}

function isDue(now: number | Placeholder): SQL | undefined {
  return or(
    isNotNull(tracker_sources.check_requested_at),
    and(eq(trackers.is_enabled, true), lte(tracker_sources.next_check_at, now)),
  );
}

export interface DueSource {
  id: string;
  host: string;
}

function buildDue(read: Reader, busyHosts: readonly string[]) {
  const [now, limit] = [sql.placeholder("now"), sql.placeholder("limit")];
  const isIdle = isFree(now, sql.placeholder("furthest"));
  const free = busyHosts.length === 0 ? isIdle : and(isIdle, notInArray(tracker_sources.host, [...busyHosts]));
  const columns = { id: tracker_sources.id, host: tracker_sources.host };
  const requested = read
    .select(columns)
    .from(tracker_sources)
    .where(and(isNotNull(tracker_sources.check_requested_at), free))
    .orderBy(asc(tracker_sources.check_requested_at))
    .limit(limit)
    .prepare();
  // In the order of the index on the due time, so that a look costs the same however many are due.
  const scheduled = read
    .select(columns)
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(
      and(
        lte(tracker_sources.next_check_at, now),
        isNull(tracker_sources.check_requested_at),
        eq(trackers.is_enabled, true),
        free,
      ),
    )
    .orderBy(asc(tracker_sources.next_check_at))
    .limit(limit)
    .prepare();
  return { requested, scheduled };
}

/** Which hosts are busy changes; most often none is. */
const dueAnywhere = preparedFor((read: Reader) => buildDue(read, []));

/** Sources whose check is due, requested ones first, without those of the hosts that are busy. */
export async function dueSources(
  read: Reader,
  now: number,
  limit: number,
  busyHosts: readonly string[],
): Promise<DueSource[]> {
  const due = busyHosts.length === 0 ? dueAnywhere(read) : buildDue(read, busyHosts);
  const given = { now, furthest: now + maxLeaseMs };
  const requested = await due.requested.all({ ...given, limit });
  if (requested.length === limit) return requested;
  return [...requested, ...(await due.scheduled.all({ ...given, limit: limit - requested.length }))];
}

const checkRules = preparedFor((read: Reader) =>
  read
    .select({ tracker: trackers, channel: tracker_channels })
    .from(trackers)
    .leftJoin(tracker_channels, eq(tracker_channels.source_id, sql.placeholder("source_id")))
    .where(eq(trackers.id, sql.placeholder("tracker_id")))
    .orderBy(asc(tracker_channels.position))
    .prepare(),
);

/** The tracker of a source and the source's channels; null when it is gone. */
export async function findCheckRules(
  read: Reader,
  source: Pick<SourceRow, "id" | "tracker_id">,
): Promise<{ tracker: TrackerRow; channels: ChannelRow[] } | null> {
  const rows = await checkRules(read).all({ source_id: source.id, tracker_id: source.tracker_id });
  const [first] = rows;
  if (first === undefined) return null;
  return { tracker: first.tracker, channels: rows.flatMap((row) => row.channel ?? []) };
}

const claimDue = preparedFor((tx: Writer) => {
  const now = sql.placeholder("now");
  const due = tx
    .select({ id: tracker_sources.id })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(and(eq(tracker_sources.id, sql.placeholder("id")), isFree(now, sql.placeholder("furthest")), isDue(now)));
  return tx
    .update(tracker_sources)
    .set({
      lease_owner: sql`${sql.placeholder("owner")}`,
      lease_until: sql`${sql.placeholder("until")}`,
      next_check_at: sql`${sql.placeholder("until")}`,
      check_requested_at: null,
    })
    .where(inArray(tracker_sources.id, due))
    .returning()
    .prepare();
});

/** Takes a due source for `owner` and pushes its due time forward; null when another has it or it is not due any more. */
export async function claimSource(
  tx: Writer,
  id: string,
  claim: { owner: string; now: number; until: number },
): Promise<SourceRow | null> {
  const rows = await claimDue(tx).all({ id, ...claim, furthest: claim.now + maxLeaseMs });
  return rows[0] ?? null;
}

/** What the end of a check may write: columns that are stored as they are given. */
type SettledColumns = Partial<Omit<typeof tracker_sources.$inferInsert, "config">>;

function buildSettle(tx: Writer, names: readonly string[]) {
  const given = Object.fromEntries(names.map((name) => [name, sql`${sql.placeholder(name)}`]));
  return tx
    .update(tracker_sources)
    .set({ ...given, lease_owner: null, lease_until: null })
    .where(
      and(
        eq(tracker_sources.id, sql.placeholder("settled_id")),
        eq(tracker_sources.lease_owner, sql.placeholder("held_by")),
        eq(tracker_sources.lease_until, sql.placeholder("held_until")),
      ),
    )
    .returning({ id: tracker_sources.id })
    .prepare();
}

/** By the columns that they write, of which there are as many kinds as a check has ends. */
const settles = preparedFor((_tx: Writer) => new Map<string, ReturnType<typeof buildSettle>>());

/** Writes the end of a check and gives the lease back; false when the lease was lost in the meantime. */
export async function settleSource(
  tx: Writer,
  id: string,
  lease: { owner: string; until: number },
  changes: SettledColumns,
): Promise<boolean> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  const known = settles(tx);
  const query = known.get(names.join()) ?? buildSettle(tx, names);
  known.set(names.join(), query);
  const held = { settled_id: id, held_by: lease.owner, held_until: lease.until };
  return (await query.all({ ...Object.fromEntries(given), ...held })).length === 1;
}

/** Makes every check that somebody holds due again, whoever holds it. */
export async function releaseLeases(tx: Writer, now: number): Promise<number> {
  const rows = await tx
    .update(tracker_sources)
    .set({ lease_owner: null, lease_until: null, next_check_at: now })
    .where(isNotNull(tracker_sources.lease_owner))
    .returning({ id: tracker_sources.id });
  return rows.length;
}

/** Due times further away than an interval, or than the day that a rate limit may ask for: the clock went back. */
export async function pullBackDueTimes(tx: Writer, now: number, maxWaitMs: number): Promise<number> {
  const interval = sql`(select ${trackers.check_interval_minutes} * 60000 from ${trackers} where ${trackers.id} = ${tracker_sources.tracker_id})`;
  const allowed = sql`max(${interval}, case when ${tracker_sources.last_error_code} = 'rate_limited' then ${maxWaitMs} else 0 end)`;
  const rows = await tx
    .update(tracker_sources)
    .set({ next_check_at: sql`${now} + ${interval}` })
    .where(and(isFree(now, now + maxLeaseMs), gt(tracker_sources.next_check_at, sql`${now} + ${allowed}`)))
    .returning({ id: tracker_sources.id });
  return rows.length;
}

/** The furthest due time of a source that nobody checks; null when there is none. Cheap: the end of an index. */
export async function furthestDueTime(read: Reader): Promise<number | null> {
  const rows = await read
    .select({ at: tracker_sources.next_check_at })
    .from(tracker_sources)
    .orderBy(desc(tracker_sources.next_check_at))
    .limit(1);
  return rows[0]?.at ?? null;
}

export async function requestChecks(tx: Writer, trackerId: string, now: number): Promise<void> {
  await tx.update(tracker_sources).set({ check_requested_at: now }).where(eq(tracker_sources.tracker_id, trackerId));
}

// Channels

export async function channelsOf(read: Reader, sourceIds: readonly string[]): Promise<ChannelRow[]> {
  if (sourceIds.length === 0) return [];
  return await read
    .select()
    .from(tracker_channels)
    .where(inArray(tracker_channels.source_id, [...sourceIds]))
    .orderBy(asc(tracker_channels.source_id), asc(tracker_channels.position));
}

export async function insertChannel(tx: Writer, row: typeof tracker_channels.$inferInsert): Promise<void> {
  await tx.insert(tracker_channels).values(row);
}

export async function updateChannelRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof tracker_channels.$inferInsert>,
): Promise<void> {
  await tx.update(tracker_channels).set(changes).where(eq(tracker_channels.id, id));
}

export async function deleteChannelRow(tx: Writer, id: string): Promise<void> {
  await tx.delete(tracker_channels).where(eq(tracker_channels.id, id));
}

// Releases

const releasesOfOne = preparedFor((read: Reader) =>
  read
    .select(releaseFacts)
    .from(releases)
    .where(eq(releases.source_id, sql.placeholder("source_id")))
    .limit(maxReleasesRead)
    .prepare(),
);

export async function releasesOf(read: Reader, sourceIds: readonly string[]): Promise<ReleaseFactsRow[]> {
  const [first, ...more] = sourceIds;
  if (first === undefined) return [];
  if (more.length === 0) return await releasesOfOne(read).all({ source_id: first });
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(inArray(releases.source_id, [...sourceIds]))
    .limit(maxReleasesRead);
}

export async function releasesByIds(read: Reader, ids: readonly string[]): Promise<ReleaseFactsRow[]> {
  if (ids.length === 0) return [];
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(inArray(releases.id, [...ids]));
}

export async function findRelease(read: Reader, id: string): Promise<ReleaseRow | null> {
  return (await read.select().from(releases).where(eq(releases.id, id)).limit(1))[0] ?? null;
}

/** The releases of one version in several sources. */
export async function releasesOfVersion(
  read: Reader,
  sourceIds: readonly string[],
  version: string,
): Promise<ReleaseFactsRow[]> {
  if (sourceIds.length === 0) return [];
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(and(inArray(releases.source_id, [...sourceIds]), eq(releases.version, version)));
}

export interface ReleasePosition {
  first_observed_at: number;
  id: string;
}

/** Over all trackers, the last observed first. */
export async function listReleasesBefore(
  read: Reader,
  before: ReleasePosition | null,
  limit: number,
): Promise<ReleaseFactsRow[]> {
  const at = releases.first_observed_at;
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(
      before === null
        ? undefined
        : or(lt(at, before.first_observed_at), and(eq(at, before.first_observed_at), lt(releases.id, before.id))),
    )
    .orderBy(desc(at), desc(releases.id))
    .limit(limit);
}

export async function insertRelease(tx: Writer, row: typeof releases.$inferInsert): Promise<void> {
  await tx.insert(releases).values(row);
}

export async function updateReleaseRow(
  tx: Writer,
  id: string,
  changes: Partial<typeof releases.$inferInsert>,
): Promise<void> {
  await tx.update(releases).set(changes).where(eq(releases.id, id));
}

export async function deleteReleases(tx: Writer, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(releases).where(inArray(releases.id, [...ids]));
}

// What is bound to a source

export interface BoundExecutor {
  id: string;
  name: string;
  service: string;
  tracker_id: string;
  source_id: string;
  channel: ChannelRow["type"];
  observed: Readonly<Record<string, unknown>> | null;
}

function boundExecutors(read: Reader, condition: SQL) {
  return read
    .select({
      id: executors.id,
      name: executors.name,
      service: executor_bindings.service,
      tracker_id: executor_bindings.tracker_id,
      source_id: executor_bindings.source_id,
      channel: executor_bindings.channel,
      observed: executors.observed,
    })
    .from(executor_bindings)
    .innerJoin(executors, eq(executors.id, executor_bindings.executor_id))
    .where(condition)
    .orderBy(asc(executors.name), asc(executor_bindings.service));
}

export async function executorsOfTrackers(read: Reader, trackerIds: readonly string[]): Promise<BoundExecutor[]> {
  if (trackerIds.length === 0) return [];
  return await boundExecutors(read, inArray(executor_bindings.tracker_id, [...trackerIds]));
}

const boundToSource = preparedFor((read: Reader) =>
  boundExecutors(read, eq(executor_bindings.source_id, sql.placeholder("source_id"))).prepare(),
);

export async function executorsOfSource(read: Reader, sourceId: string): Promise<BoundExecutor[]> {
  return await boundToSource(read).all({ source_id: sourceId });
}

/** What the snapshots of the executors that are bound to a source name. */
export async function snapshotsOnSource(
  read: Reader,
  sourceId: string,
): Promise<{ reference: string; digest: string | null }[]> {
  return await read
    .selectDistinct({ reference: snapshots.reference, digest: snapshots.digest })
    .from(snapshots)
    .innerJoin(executor_bindings, eq(executor_bindings.executor_id, snapshots.executor_id))
    .where(eq(executor_bindings.source_id, sourceId))
    .limit(maxReleasesRead);
}

/** Their triggers are evaluated at the next tick. */
export async function wakeExecutors(
  tx: Writer,
  sourceId: string,
  channels: readonly ChannelRow["type"][],
  now: number,
): Promise<void> {
  if (channels.length === 0) return;
  const bound = tx
    .select({ id: executor_bindings.executor_id })
    .from(executor_bindings)
    .where(and(eq(executor_bindings.source_id, sourceId), inArray(executor_bindings.channel, [...channels])));
  await tx.update(executors).set({ next_evaluation_at: now }).where(inArray(executors.id, bound));
}

/** The event that announced a version in a channel of a tracker. */
export async function findReleaseEvent(
  read: Reader,
  trackerId: string,
  fact: { channel: string; version: string },
): Promise<{ id: string; facts: Readonly<Record<string, unknown>> } | null> {
  const rows = await read
    .select({ id: events.id, facts: events.facts })
    .from(events)
    .where(
      and(
        eq(events.tracker_id, trackerId),
        eq(events.kind, "new_release"),
        sql`json_extract(${events.facts}, '$.channel') = ${fact.channel}`,
        sql`json_extract(${events.facts}, '$.version') = ${fact.version}`,
      ),
    )
    .orderBy(desc(events.created_at))
    .limit(1);
  return rows[0] ?? null;
}

export async function updateEventFacts(
  tx: Writer,
  id: string,
  facts: Readonly<Record<string, unknown>>,
): Promise<void> {
  await tx.update(events).set({ facts }).where(eq(events.id, id));
}

// Stored answers and the rate ledger

export type StoredResponse = Omit<typeof response_cache.$inferSelect, "key" | "size_bytes">;

const responseByKey = preparedFor((read: Reader) =>
  read
    .select()
    .from(response_cache)
    .where(eq(response_cache.key, sql.placeholder("key")))
    .limit(1)
    .prepare(),
);

export async function findResponse(read: Reader, key: string): Promise<StoredResponse | null> {
  const rows = await responseByKey(read).all({ key });
  return rows[0] ?? null;
}

export async function storeResponse(tx: Writer, row: typeof response_cache.$inferInsert): Promise<void> {
  const { key, ...rest } = row;
  await tx.insert(response_cache).values(row).onConflictDoUpdate({ target: response_cache.key, set: rest });
}

export async function touchResponse(tx: Writer, key: string, now: number): Promise<void> {
  await tx.update(response_cache).set({ used_at: now }).where(eq(response_cache.key, key));
}

/** Removes what was not used since `usedSince`, and the longest unused over the two bounds. */
export async function pruneResponses(
  tx: Writer,
  bounds: { usedSince: number; rows: number; bytes: number },
): Promise<void> {
  await tx.delete(response_cache).where(lt(response_cache.used_at, bounds.usedSince));
  const ranked = tx
    .select({
      key: response_cache.key,
      place: sql<number>`row_number() over (order by ${response_cache.used_at} desc, ${response_cache.key})`.as(
        "place",
      ),
      sum: sql<number>`sum(${response_cache.size_bytes}) over (order by ${response_cache.used_at} desc, ${response_cache.key})`.as(
        "sum",
      ),
    })
    .from(response_cache)
    .as("ranked");
  const excess = tx
    .select({ key: ranked.key })
    .from(ranked)
    .where(or(gt(ranked.place, bounds.rows), gt(ranked.sum, bounds.bytes)));
  await tx.delete(response_cache).where(inArray(response_cache.key, excess));
}

export async function storedRates(
  read: Reader,
  limit: number,
): Promise<{ state: Readonly<Record<string, unknown>> | null }[]> {
  return await read
    .select({ state: rate_limits.state })
    .from(rate_limits)
    .orderBy(desc(rate_limits.updated_at))
    .limit(limit);
}

export async function storeRate(tx: Writer, row: typeof rate_limits.$inferInsert): Promise<void> {
  const { key, ...rest } = row;
  await tx.insert(rate_limits).values(row).onConflictDoUpdate({ target: rate_limits.key, set: rest });
}

export async function deleteRatesBefore(tx: Writer, before: number): Promise<void> {
  await tx.delete(rate_limits).where(lt(rate_limits.updated_at, before));
}
