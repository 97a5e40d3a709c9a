import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import { parseInstant } from "../clock.ts";
import type { Writer } from "../db/client.ts";
import { cameBeforeAllSince } from "../db/insertion-order.ts";
import { isPartOf, listsOver } from "../db/listing.ts";
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

export const auditLists = listsOver(audit_entries, () => ({
  sorts: {
    time: "audit_entries.at",
    subject: "coalesce(audit_entries.subject_name, '')",
    actor: "coalesce(audit_entries.actor, '')",
  },
  filters: {
    event: audit_entries.event,
    outcome: audit_entries.outcome,
    actor: (name: string) => eq(audit_entries.actor, name),
    subject: (text: string) =>
      sql`(${audit_entries.subject_id} = ${text} or ${isPartOf(text, audit_entries.subject_name)})`,
    address: (text: string) => eq(sql`instr(${audit_entries.address}, ${text})`, 1),
    since: (text: string) => gte(audit_entries.at, parseInstant(text) ?? 0),
    until: (text: string) => lt(audit_entries.at, parseInstant(text) ?? 0),
  },
  searched: [audit_entries.subject_name, audit_entries.subject_id, audit_entries.actor, audit_entries.address],
}));
