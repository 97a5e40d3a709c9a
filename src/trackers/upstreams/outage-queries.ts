import {
  and,
  asc,
  count,
  desc,
  eq,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Reader, Writer } from "../../db/client.ts";
import type { DueTime } from "../../db/due-times.ts";
import { preparedFor, rowsOfPrepared } from "../../db/prepared.ts";
import { isOfEnabled, isOfUnknownKind } from "../../db/source-conditions.ts";
import { tracker_sources, trackers } from "../../db/tables/trackers.ts";
import { upstream_outages } from "../../db/tables/upstreams.ts";
import { sourceKinds } from "../schema.ts";

export type OutageRow = typeof upstream_outages.$inferSelect;

const isOpen = isNull(upstream_outages.ended_at);

/** Of a source in a query over several tables: its host does not respond, and the next attempt is not due yet. */
export function isHeld(now: Placeholder): SQL {
  return sql`tracker_sources.host in (
    select upstream_outages.host from upstream_outages
    where upstream_outages.ended_at is null and upstream_outages.next_due_at > ${now}
  )`;
}

/** A source that waits for an outage to end: its check failed because of it, or would be due before the next attempt. */
const waits = (source: typeof tracker_sources) => sql`(${source.next_check_at} <= upstream_outages.next_due_at
  and coalesce(${source.last_error_code}, 'unreachable') = 'unreachable')`;

/** The same of a source in a query over several tables. */
export function waitsForHost(source: typeof tracker_sources): SQL {
  return sql`exists (
    select 1 from upstream_outages
    where upstream_outages.host = ${source.host} and upstream_outages.ended_at is null and ${waits(source)}
  )`;
}

const probeClaim = preparedFor((tx: Writer) =>
  tx
    .update(upstream_outages)
    .set({ probe_owner: sql`${sql.placeholder("owner")}`, next_due_at: sql`${sql.placeholder("until")}` })
    .where(
      and(
        eq(upstream_outages.host, sql.placeholder("host")),
        isOpen,
        sql`${upstream_outages.next_due_at} <= ${sql.placeholder("now")}`,
      ),
    )
    .prepare(),
);

/** Makes a claimed check the attempt of its host's outage, if one is due; the host's other sources wait for its end. */
export async function claimProbe(
  tx: Writer,
  host: string,
  claim: { owner: string; now: number; until: number },
): Promise<void> {
  await probeClaim(tx).run({ host, ...claim });
}

/** No other attempt is due while one is in progress. */
export async function renewProbe(tx: Writer, owner: string, until: number): Promise<void> {
  await tx
    .update(upstream_outages)
    .set({ next_due_at: until })
    .where(and(eq(upstream_outages.probe_owner, owner), isOpen));
}

/** The attempt of this owner said nothing about the host: the next source may try at once. */
export async function handProbeOn(tx: Writer, owner: string, now: number): Promise<void> {
  await tx
    .update(upstream_outages)
    .set({ next_due_at: now, probe_owner: null })
    .where(and(eq(upstream_outages.probe_owner, owner), isOpen));
}

/** The same for every attempt, whoever makes it. */
export async function handProbesOn(tx: Writer, now: number): Promise<void> {
  await tx
    .update(upstream_outages)
    .set({ next_due_at: now, probe_owner: null })
    .where(and(isNotNull(upstream_outages.probe_owner), isOpen));
}

export async function findOutage(read: Reader, host: string): Promise<OutageRow | null> {
  const rows = await read
    .select()
    .from(upstream_outages)
    .where(and(eq(upstream_outages.host, host), isOpen))
    .limit(1);
  return rows[0] ?? null;
}

export async function insertOutage(tx: Writer, row: typeof upstream_outages.$inferInsert): Promise<void> {
  await tx.insert(upstream_outages).values(row);
}

export async function updateOutage(tx: Writer, id: string, changes: Partial<OutageRow>): Promise<void> {
  await tx.update(upstream_outages).set(changes).where(eq(upstream_outages.id, id));
}

/** Deletes those that ended before `before`, and ongoing ones of hosts without sources. */
export async function pruneOutages(tx: Writer, before: number): Promise<void> {
  await tx.delete(upstream_outages).where(lt(upstream_outages.ended_at, before));
  await tx
    .delete(upstream_outages)
    .where(
      and(isOpen, sql`not exists (select 1 from tracker_sources where tracker_sources.host = upstream_outages.host)`),
    );
}

const ending = preparedFor((tx: Writer) =>
  tx
    .update(upstream_outages)
    .set({ ended_at: sql`${sql.placeholder("now")}`, probe_owner: null })
    .where(and(eq(upstream_outages.host, sql.placeholder("host")), isOpen))
    .returning({ since: upstream_outages.since })
    .prepare(),
);

/** Ends the outage of a host; null when there was none. */
export async function closeOutage(tx: Writer, host: string, now: number): Promise<{ since: number } | null> {
  const rows = await ending(tx).all({ host, now });
  return rows[0] ?? null;
}

/** The code of a check that failed because its host did not respond. */
const isUnreachable = eq(tracker_sources.last_error_code, "unreachable");

interface Ended {
  host: string;
  since: number;
  now: number;
}

/** Failed because of the outage, or came due during it. Sources that fail for their own reasons keep their pauses. */
function hasWaited({ host, since, now }: Ended): SQL | undefined {
  const failed = and(sql`${tracker_sources.failing_since} >= ${since}`, isUnreachable);
  const held = and(isNull(tracker_sources.failing_since), lte(tracker_sources.next_check_at, now));
  return and(eq(tracker_sources.host, host), isNull(tracker_sources.lease_until), or(failed, held));
}

export async function countWaiting(read: Reader, ended: Ended): Promise<number> {
  const rows = await read.select({ count: count() }).from(tracker_sources).where(hasWaited(ended));
  return rows[0]?.count ?? 0;
}

/** Makes the sources that waited for an outage due, one each `stepMs`, the longest waiting first. */
export async function wakeWaiting(tx: Writer, ended: Ended, stepMs: number): Promise<void> {
  const { next_check_at, id } = tracker_sources;
  const ranked = tx
    .select({ id, place: sql<number>`row_number() over (order by ${next_check_at}, ${id})`.as("place") })
    .from(tracker_sources)
    .where(hasWaited(ended))
    .as("ranked");
  await tx
    .update(tracker_sources)
    .set({ next_check_at: sql`${ended.now} + ${stepMs} * ${ranked.place}` })
    .from(ranked)
    .where(eq(id, ranked.id));
}

/** When the host's sources other than `except` last succeeded, and when one of them last found it unreachable. */
export async function latestAtHost(
  read: Reader,
  host: string,
  except: string,
): Promise<{ succeeded_at: number | null; failed_at: number | null }> {
  const failed = sql`case when ${isUnreachable} then ${tracker_sources.last_checked_at} end`;
  const rows = await read
    .select({
      succeeded_at: sql<number | null>`max(${tracker_sources.last_success_at})`,
      failed_at: sql<number | null>`max(${failed})`,
    })
    .from(tracker_sources)
    .where(and(eq(tracker_sources.host, host), ne(tracker_sources.id, except)));
  return rows[0] ?? { succeeded_at: null, failed_at: null };
}

/** More hosts than a page shows. */
const maxOpen = 200;

/** Ongoing outages, the oldest first. */
export const openOutages = rowsOfPrepared((read) =>
  read.select().from(upstream_outages).where(isOpen).orderBy(asc(upstream_outages.since)).limit(maxOpen),
);

/** Past outages, the latest first. */
export async function endedOutages(read: Reader, limit: number): Promise<OutageRow[]> {
  return await read
    .select()
    .from(upstream_outages)
    .where(isNotNull(upstream_outages.ended_at))
    .orderBy(desc(upstream_outages.ended_at))
    .limit(limit);
}

const isKnown = not(isOfUnknownKind(tracker_sources, sourceKinds));
/** In a query over ongoing outages. */
const waitsHere = and(eq(tracker_sources.host, upstream_outages.host), waits(tracker_sources), isKnown);

const hostsAwaited = rowsOfPrepared((read) =>
  read
    .select({
      host: upstream_outages.host,
      total: sql<number>`(
        select count(*) from ${tracker_sources} where ${and(waitsHere, isOfEnabled(tracker_sources))}
      )`,
    })
    .from(upstream_outages)
    .where(isOpen),
);

const firstWaiting = rowsOfPrepared((read) =>
  read
    .select({ host: upstream_outages.host, tracker: trackers.name, source: tracker_sources.key })
    .from(upstream_outages)
    .innerJoin(
      tracker_sources,
      sql`${tracker_sources}.rowid in (
        select ${tracker_sources}.rowid from ${tracker_sources}
        inner join ${trackers} on ${trackers.id} = ${tracker_sources.tracker_id}
        where ${and(waitsHere, eq(trackers.is_enabled, true))}
        order by ${trackers.name}, ${tracker_sources.position} limit ${sql.placeholder("each")}
      )`,
    )
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(isOpen)
    .orderBy(asc(trackers.name), asc(tracker_sources.position)),
);

export interface Waiting {
  total: number;
  first: readonly { tracker: string; source: string }[];
}

/**
 * The sources of enabled trackers that wait for an outage to end, by their host, of the kinds that this version knows: how many, and the
 * first `each` of them by tracker.
 */
export async function sourcesWaiting(read: Reader, each: number): Promise<ReadonlyMap<string, Waiting>> {
  const [hosts, first] = await Promise.all([hostsAwaited(read), firstWaiting(read, { each })]);
  const byHost = Map.groupBy(first, ({ host }) => host);
  return new Map(hosts.map(({ host, total }) => [host, { total, first: byHost.get(host) ?? [] }]));
}

/** The next attempt is as far ahead as its pause, or as the lease of one in progress. */
export function outageDueTimes(leaseMs: number): readonly DueTime[] {
  const { next_due_at, pause_ms } = upstream_outages;
  return [
    {
      table: upstream_outages,
      column: next_due_at,
      where: isOpen,
      longest_ms: sql`max(${pause_ms}, ${leaseMs})`,
      instead_ms: sql`${pause_ms}`,
    },
  ];
}
