import { and, asc, desc, eq, gt, gte, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { cameBeforeAllSince } from "../db/insertion-order.ts";
import { audit_entries } from "../db/tables.ts";

export type AuditEntryRow = typeof audit_entries.$inferSelect;

export async function insertAuditEntry(tx: Writer, row: typeof audit_entries.$inferInsert): Promise<void> {
  await tx.insert(audit_entries).values(row);
}

interface AuditPruning {
  /** Entries written before this have expired. */
  before: number;
  /** Beyond this many of the newest, entries written before `least_before` go too. */
  keep: number;
  least_before: number;
  /** A time beyond this comes from a wrong clock. */
  latest: number;
  at_once: number;
}

/** Removes the oldest expired entries, at most `at_once`; returns how many. */
export async function pruneAuditEntries(tx: Writer, pruning: AuditPruning): Promise<number> {
  const beyond = await tx
    .select({ at: audit_entries.at })
    .from(audit_entries)
    .orderBy(desc(audit_entries.at))
    .limit(1)
    .offset(pruning.keep);
  const excess = Math.min((beyond[0]?.at ?? Number.NEGATIVE_INFINITY) + 1, pruning.least_before);
  const before = Math.max(pruning.before, excess);
  const old = tx
    .select({ id: audit_entries.id })
    .from(audit_entries)
    .where(
      and(lt(audit_entries.at, before), cameBeforeAllSince(audit_entries, audit_entries.at, before, pruning.latest)),
    )
    .orderBy(asc(audit_entries.at))
    .limit(pruning.at_once);
  const removed = await tx
    .delete(audit_entries)
    .where(inArray(audit_entries.id, old))
    .returning({ id: audit_entries.id });
  return removed.length;
}

export interface AuditFilter {
  event: string | null;
  outcome: AuditEntryRow["outcome"] | null;
  actor: string | null;
  /** The subject's id, or part of its name in any case. */
  subject: string | null;
  /** A whole address or its beginning. */
  address: string | null;
  since: number | null;
  /** Exclusive. */
  until: number | null;
}

function auditConditions(filter: AuditFilter): SQL | undefined {
  const { event, outcome, actor, subject, address, since, until } = filter;
  return and(
    event === null ? undefined : eq(audit_entries.event, event),
    outcome === null ? undefined : eq(audit_entries.outcome, outcome),
    actor === null ? undefined : eq(audit_entries.actor, actor),
    // Not `like`: the input would act as wildcards.
    subject === null
      ? undefined
      : or(
          eq(audit_entries.subject_id, subject),
          gt(sql`instr(lower(${audit_entries.subject_name}), lower(${subject}))`, 0),
        ),
    address === null ? undefined : eq(sql`instr(${audit_entries.address}, ${address})`, 1),
    since === null ? undefined : gte(audit_entries.at, since),
    until === null ? undefined : lt(audit_entries.at, until),
  );
}

/** Newest first; `before` is the last entry of the previous page. Returns one row more than `limit` when there is another page. */
export async function listAuditEntriesBefore(
  read: Reader,
  filter: AuditFilter,
  before: { at: number; id: string } | null,
  limit: number,
): Promise<AuditEntryRow[]> {
  const isBefore =
    before === null
      ? undefined
      : or(lt(audit_entries.at, before.at), and(eq(audit_entries.at, before.at), lt(audit_entries.id, before.id)));
  return await read
    .select()
    .from(audit_entries)
    .where(and(auditConditions(filter), isBefore))
    .orderBy(desc(audit_entries.at), desc(audit_entries.id))
    .limit(limit + 1);
}

/** Every event name in the audit, in alphabetical order. */
export async function listAuditEvents(read: Reader): Promise<string[]> {
  const rows = await read
    .selectDistinct({ event: audit_entries.event })
    .from(audit_entries)
    .orderBy(asc(audit_entries.event))
    .limit(500);
  return rows.map((row) => row.event);
}
