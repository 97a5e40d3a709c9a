import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  not,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Reader, Writer } from "../../db/client.ts";
import { type DueTime, leaseTime } from "../../db/due-times.ts";
import { isAmongGiven, preparedFor, rowsOfPrepared } from "../../db/prepared.ts";
import { source_memos, tracker_channels, tracker_sources, trackers } from "../../db/tables/trackers.ts";
import { isMessage, toText } from "../../messages/message.ts";
import type { TrackerRow } from "../queries.ts";
import type { ChannelRow, SourceRow } from "../source-queries.ts";
import { isHeld } from "../upstreams/outage-queries.ts";

function isFree(now: Placeholder | number): SQL | undefined {
  return or(isNull(tracker_sources.lease_until), lte(tracker_sources.lease_until, now));
}

function isDue(now: Placeholder): SQL | undefined {
  return or(
    isNotNull(tracker_sources.check_requested_at),
    and(eq(trackers.is_enabled, true), lte(tracker_sources.next_check_at, now), not(isHeld(now))),
  );
}

export interface DueSource {
  id: string;
  host: string;
  kind: string;
  credential_id: string | null;
  /** By its interval. */
  due_at: number;
}

const dueColumns = {
  id: tracker_sources.id,
  host: tracker_sources.host,
  kind: tracker_sources.kind,
  credential_id: tracker_sources.credential_id,
  due_at: tracker_sources.next_check_at,
};

const [now, limit] = [sql.placeholder("now"), sql.placeholder("limit")];
/** As `upstreamKey`. */
const upstream = sql`${tracker_sources.host} || ' ' || coalesce(${tracker_sources.credential_id}, '-')`;
const mayBegin = and(
  isFree(now),
  not(isAmongGiven(upstream, "waiting")),
  not(isAmongGiven(tracker_sources.host, "hosts")),
);

const requestedSources = rowsOfPrepared((read) =>
  read
    .select(dueColumns)
    .from(tracker_sources)
    .where(and(lte(tracker_sources.check_requested_at, sql.placeholder("before")), mayBegin))
    .orderBy(asc(tracker_sources.check_requested_at))
    .limit(limit),
);

// In index order of the due time, so that a read costs the same however many are due.
const scheduledSources = rowsOfPrepared((read) =>
  read
    .select(dueColumns)
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(
      and(
        lte(tracker_sources.next_check_at, now),
        // First the condition that an outage sets for a thousand of them at once.
        not(isHeld(now)),
        mayBegin,
        isNull(tracker_sources.check_requested_at),
        eq(trackers.is_enabled, true),
      ),
    )
    // Among checks due at the same time, the least checked first.
    .orderBy(asc(tracker_sources.next_check_at), asc(tracker_sources.rotation))
    .limit(limit),
);

interface DueQuery {
  now: number;
  limit: number;
  /** The keys of upstreams whose rate limit is used up. */
  waiting: readonly string[];
}

/** Also what was requested before the clock was set back. */
const anyTime = Number.MAX_SAFE_INTEGER;

/**
 * Sources whose check is due, requested ones first; none of `hosts`, which have their maximum of parallel checks. Withheld ones keep their
 * due time, so that the longest waiting is next; so do those of a host that does not respond, until its next attempt. Requested checks do
 * not wait for that.
 */
export async function dueSources(
  read: Reader,
  { limit, hosts, waiting, ...at }: DueQuery & { hosts: readonly string[] },
): Promise<DueSource[]> {
  const given = { ...at, waiting: JSON.stringify(waiting), hosts: JSON.stringify(hosts) };
  const requested = await requestedSources(read, { ...given, before: anyTime, limit });
  if (requested.length === limit) return requested;
  return [...requested, ...(await scheduledSources(read, { ...given, limit: limit - requested.length }))];
}

/** Sources whose check was requested at `before` or earlier and has not begun, the longest waiting first. */
export async function overdueRequests(
  read: Reader,
  { waiting, ...given }: DueQuery & { before: number },
): Promise<DueSource[]> {
  return await requestedSources(read, { ...given, waiting: JSON.stringify(waiting), hosts: "[]" });
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

const memos = rowsOfPrepared((read) =>
  read
    .select({ memo: source_memos.memo })
    .from(source_memos)
    .where(eq(source_memos.source_id, sql.placeholder("source_id"))),
);

/** What the checks of a source remember; null if nothing. */
export async function findMemo(read: Reader, source_id: string): Promise<string | null> {
  return (await memos(read, { source_id }))[0]?.memo ?? null;
}

export async function setMemo(tx: Writer, source_id: string, memo: string | null): Promise<void> {
  if (memo === null) {
    await tx.delete(source_memos).where(eq(source_memos.source_id, source_id));
    return;
  }
  const { source_id: target } = source_memos;
  await tx.insert(source_memos).values({ source_id, memo }).onConflictDoUpdate({ target, set: { memo } });
}

const claimDue = preparedFor((tx: Writer) => {
  const due = tx
    .select({ id: tracker_sources.id })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(and(eq(tracker_sources.id, sql.placeholder("id")), isFree(now), isDue(now)));
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

/** Claims a due source for `owner` and moves its due time forward; null if another owner has it or it is no longer due. */
export async function claimSource(
  tx: Writer,
  id: string,
  claim: { owner: string; now: number; until: number },
): Promise<SourceRow | null> {
  const rows = await claimDue(tx).all({ id, ...claim });
  return rows[0] ?? null;
}

/** Renews the lease, with the due time behind it: after a crash the check is due when the lease expires. */
export async function renewSource(tx: Writer, id: string, owner: string, until: number): Promise<boolean> {
  const renewed = await tx
    .update(tracker_sources)
    .set({ lease_until: until, next_check_at: until })
    .where(and(eq(tracker_sources.id, id), eq(tracker_sources.lease_owner, owner)));
  return renewed.rowsAffected === 1;
}

/** Columns that the end of a check may write; stored as given. */
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
      ),
    )
    .prepare();
}

/** By the columns they write; there are as many as a check has kinds of results. */
const settles = preparedFor((_tx: Writer) => new Map<string, ReturnType<typeof buildSettle>>());

/** Writes the end of a check and releases the lease; false when the lease was lost meanwhile. */
export async function settleSource(tx: Writer, id: string, owner: string, changes: SettledColumns): Promise<boolean> {
  const given = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, isMessage(value) ? toText(value) : value] as const);
  const names = given.map(([name]) => name);
  const known = settles(tx);
  const query = known.get(names.join()) ?? buildSettle(tx, names);
  known.set(names.join(), query);
  const held = { settled_id: id, held_by: owner };
  return (await query.run({ ...Object.fromEntries(given), ...held })).rowsAffected === 1;
}

/** When the next check is due. */
export async function setNextCheck(tx: Writer, id: string, at: number): Promise<void> {
  await tx.update(tracker_sources).set({ next_check_at: at }).where(eq(tracker_sources.id, id));
}

/** The latest time at which the next check is due. */
export async function checkBy(tx: Writer, id: string, at: number): Promise<void> {
  await tx
    .update(tracker_sources)
    .set({ next_check_at: at })
    .where(and(eq(tracker_sources.id, id), gt(tracker_sources.next_check_at, at)));
}

/** Makes every claimed check due again, whoever holds it. */
export async function releaseLeases(tx: Writer, now: number): Promise<number> {
  const rows = await tx
    .update(tracker_sources)
    .set({ lease_owner: null, lease_until: null, next_check_at: now })
    .where(isNotNull(tracker_sources.lease_owner))
    .returning({ id: tracker_sources.id });
  return rows.length;
}

/**
 * A check waits at most its interval, the day that a rate limit may impose, or the pause after a failure; a claimed one at most its
 * lease.
 */
export function checkDueTimes(longest: { wait_ms: number; pause_ms: number; lease_ms: number }): readonly DueTime[] {
  const interval = sql`(select ${trackers.check_interval_minutes} * 60000 from ${trackers} where ${trackers.id} = ${tracker_sources.tracker_id})`;
  const code = tracker_sources.last_error_code;
  const wait = sql`case when ${code} = 'rate_limited' then ${longest.wait_ms} else ${longest.lease_ms} end`;
  return [
    {
      table: tracker_sources,
      column: tracker_sources.next_check_at,
      longest_ms: sql`case when ${code} = 'unreachable' then ${longest.pause_ms} else max(${interval}, ${wait}) end`,
      instead_ms: sql`case when ${code} = 'unreachable' then min(${interval}, ${longest.pause_ms}) else ${interval} end`,
    },
    leaseTime(tracker_sources, longest.lease_ms),
  ];
}

export async function requestChecks(tx: Writer, trackerId: string, now: number): Promise<void> {
  await tx.update(tracker_sources).set({ check_requested_at: now }).where(eq(tracker_sources.tracker_id, trackerId));
}
