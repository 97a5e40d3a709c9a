import { and, asc, count, desc, eq, gt, inArray, isNull, lt, lte, not, notExists, or, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { type DueTime, leaseTime } from "../db/due-times.ts";
import { cameBeforeAllSince } from "../db/insertion-order.ts";
import { listsOver } from "../db/listing.ts";
import { isAmongGiven, rowsOfPrepared } from "../db/prepared.ts";
import { namedRowsOf, rowsOf } from "../db/rows.ts";
import { deliveries, delivery_attempts, events, notifiers } from "../db/tables.ts";
import type { AddSourceToEvent } from "./schema.ts";

export type NotifierRow = typeof notifiers.$inferSelect;
export type DeliveryRow = typeof deliveries.$inferSelect;
export type AttemptRow = typeof delivery_attempts.$inferSelect;
export type EventRow = typeof events.$inferSelect;

export const notifierRows = namedRowsOf(notifiers, "notifier");

/** As `notifierStateOf` has it; `unreadable`: the ids of those whose URL cannot be used. */
const stateIn = (unreadable: readonly string[]) => sql<string>`case
  when not ${notifiers.is_enabled} then 'disabled'
  when ${notifiers.id} in (select value from json_each(${JSON.stringify(unreadable)})) then 'unreadable'
  when ${notifiers.stopped_at} is not null then 'stopped'
  else 'sending' end`;

export const notifierLists = listsOver(notifiers, (_read, unreadable: readonly string[]) => ({
  sorts: { name: "notifiers.name", destination: "notifiers.destination" },
  filters: { state: stateIn(unreadable) },
  searched: [notifiers.name, notifiers.description, notifiers.destination],
}));

const mostNotifiers = 1_000;

export const everyNotifier = async (read: Reader): Promise<NotifierRow[]> =>
  await read.select().from(notifiers).limit(mostNotifiers);

/** Notifiers that may send: enabled and not stopped. */
export async function sendingNotifiers(read: Reader): Promise<NotifierRow[]> {
  return await read
    .select()
    .from(notifiers)
    .where(and(eq(notifiers.is_enabled, true), isNull(notifiers.stopped_at)))
    .limit(mostNotifiers);
}

export const addSourceToEvent: AddSourceToEvent = async (tx, { tracker_id, channel, version }, sourceKey) => {
  const [event] = await tx
    .select({ id: events.id, facts: events.facts })
    .from(events)
    .where(
      and(
        eq(events.tracker_id, tracker_id),
        eq(events.kind, "new_release"),
        sql`json_extract(${events.facts}, '$.channel') = ${channel}`,
        sql`json_extract(${events.facts}, '$.version') = ${version}`,
      ),
    )
    .orderBy(desc(events.created_at))
    .limit(1);
  if (event === undefined) return false;
  const sources = Array.isArray(event.facts.sources) ? event.facts.sources : [];
  if (!sources.includes(sourceKey)) {
    const facts = { ...event.facts, sources: [...sources, sourceKey] };
    await tx.update(events).set({ facts }).where(eq(events.id, event.id));
  }
  return true;
};

export async function insertEvent(tx: Writer, row: typeof events.$inferInsert): Promise<void> {
  await tx.insert(events).values(row);
}

interface EventPruning {
  before: number;
  /** A time beyond this comes from a wrong clock. */
  latest: number;
  at_once: number;
}

/** Deletes the oldest expired events, at most `at_once`, with their deliveries. An event with a pending delivery stays. */
export async function deleteEventsBefore(tx: Writer, { before, latest, at_once }: EventPruning): Promise<void> {
  const isPending = and(eq(deliveries.event_id, events.id), eq(deliveries.state, "pending"));
  const old = tx
    .select({ id: events.id })
    .from(events)
    .where(
      and(
        lt(events.created_at, before),
        cameBeforeAllSince(events, events.created_at, before, latest),
        notExists(tx.select({ id: deliveries.id }).from(deliveries).where(isPending)),
      ),
    )
    .orderBy(asc(events.created_at))
    .limit(at_once);
  await tx.delete(events).where(inArray(events.id, old));
}

/** Newest first; `before` is an id (ids sort by time). */
export async function listEventsBefore(
  read: Reader,
  before: string | null,
  limit: number,
  filter: { kind: string | null; tracker_id: string | null; executor_id: string | null },
): Promise<EventRow[]> {
  return await read
    .select()
    .from(events)
    .where(
      and(
        before === null ? undefined : lt(events.id, before),
        filter.kind === null ? undefined : eq(events.kind, filter.kind),
        filter.tracker_id === null ? undefined : eq(events.tracker_id, filter.tracker_id),
        filter.executor_id === null ? undefined : eq(events.executor_id, filter.executor_id),
      ),
    )
    .orderBy(desc(events.id))
    .limit(limit + 1);
}

export const deliveryRows = rowsOf(deliveries, "delivery");

export const deliveryLists = listsOver(deliveries, (_read, notifierId: string) => ({
  scope: eq(deliveries.notifier_id, notifierId),
  sorts: {
    time: "deliveries.id",
    title: "coalesce(deliveries.body ->> 'title', '')",
    event: "deliveries.event",
    state: "deliveries.state",
  },
  filters: { state: deliveries.state, event: deliveries.event },
  searched: [sql`${deliveries.body} ->> 'title'`],
}));

export async function countPending(read: Reader, notifierId: string): Promise<number> {
  const rows = await read
    .select({ n: count() })
    .from(deliveries)
    .where(and(eq(deliveries.notifier_id, notifierId), eq(deliveries.state, "pending")));
  return rows[0]?.n ?? 0;
}

/** Whatever they wait for. */
export async function makePendingDue(tx: Writer, notifierId: string, now: number): Promise<void> {
  await tx
    .update(deliveries)
    .set({ next_attempt_at: now })
    .where(
      and(eq(deliveries.notifier_id, notifierId), eq(deliveries.state, "pending"), gt(deliveries.next_attempt_at, now)),
    );
}

/** Due deliveries without an owner, oldest first; `busy` are the ids of notifiers, as JSON. */
export const dueDeliveries = rowsOfPrepared((read) => {
  const now = sql.placeholder("now");
  return read
    .select({ id: deliveries.id, notifier_id: deliveries.notifier_id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.state, "pending"),
        lte(deliveries.next_attempt_at, now),
        or(isNull(deliveries.lease_until), lte(deliveries.lease_until, now)),
        not(isAmongGiven(deliveries.notifier_id, "busy")),
      ),
    )
    .orderBy(asc(deliveries.next_attempt_at), asc(deliveries.id))
    .limit(sql.placeholder("limit"));
});

/** A clock correction of up to this much is normal. */
const correctedMs = 60_000;

/** A receiver may ask for a long pause; one whose last attempt lies in the future comes from a wrong clock. */
export function deliveryDueTimes(longest: { pause_ms: number; lease_ms: number }): readonly DueTime[] {
  const isPending = eq(deliveries.state, "pending");
  const tried = sql`(select max(${delivery_attempts.at}) from ${delivery_attempts} where ${delivery_attempts.delivery_id} = ${deliveries.id})`;
  return [
    {
      table: deliveries,
      column: deliveries.next_attempt_at,
      where: isPending,
      longest_ms: (now) =>
        sql`case when coalesce(${tried}, ${deliveries.created_at}) > ${now + correctedMs} then 0 else ${longest.pause_ms} end`,
    },
    leaseTime(deliveries, longest.lease_ms, isPending),
  ];
}

/** Claims a due delivery for `owner`; null when another has it or it has ended. */
export async function claimDelivery(
  tx: Writer,
  id: string,
  claim: { owner: string; now: number; until: number },
): Promise<DeliveryRow | null> {
  const rows = await tx
    .update(deliveries)
    .set({ lease_owner: claim.owner, lease_until: claim.until, next_attempt_at: claim.until })
    .where(
      and(
        eq(deliveries.id, id),
        eq(deliveries.state, "pending"),
        or(isNull(deliveries.lease_until), lte(deliveries.lease_until, claim.now)),
      ),
    )
    .returning();
  return rows[0] ?? null;
}

/** Writes the result of an attempt if `owner` still has the lease; false when somebody else has it by now. */
export async function settleDelivery(
  tx: Writer,
  id: string,
  owner: string,
  changes: Partial<DeliveryRow>,
): Promise<boolean> {
  const rows = await tx
    .update(deliveries)
    .set({ ...changes, lease_owner: null, lease_until: null })
    .where(and(eq(deliveries.id, id), eq(deliveries.lease_owner, owner)))
    .returning({ id: deliveries.id });
  return rows.length === 1;
}

export async function insertAttempt(tx: Writer, row: typeof delivery_attempts.$inferInsert): Promise<void> {
  await tx.insert(delivery_attempts).values(row).onConflictDoNothing();
}

export async function attemptsOf(read: Reader, deliveryIds: readonly string[]): Promise<AttemptRow[]> {
  if (deliveryIds.length === 0) return [];
  return await read
    .select()
    .from(delivery_attempts)
    .where(inArray(delivery_attempts.delivery_id, [...deliveryIds]))
    .orderBy(asc(delivery_attempts.attempt))
    .limit(1000);
}
