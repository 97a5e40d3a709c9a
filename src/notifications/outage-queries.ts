import { and, eq, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { outage_notices } from "../db/tables.ts";
import type { OutageSubject } from "./outage-schema.ts";

export type NoticeRow = typeof outage_notices.$inferSelect;

const isOf = ({ cause, subject }: OutageSubject) =>
  and(eq(outage_notices.cause, cause), eq(outage_notices.subject, subject));

export async function findNotice(read: Reader, subject: OutageSubject): Promise<NoticeRow | null> {
  const rows = await read.select().from(outage_notices).where(isOf(subject)).limit(1);
  return rows[0] ?? null;
}

export async function insertNotice(tx: Writer, row: NoticeRow): Promise<void> {
  await tx.insert(outage_notices).values(row);
}

export async function updateNotice(
  tx: Writer,
  id: string,
  changes: Partial<Pick<NoticeRow, "lasted_ms" | "outage">>,
): Promise<void> {
  await tx.update(outage_notices).set(changes).where(eq(outage_notices.id, id));
}

/** Null when there was none. */
export async function deleteNotice(tx: Writer, subject: OutageSubject): Promise<NoticeRow | null> {
  const rows = await tx.delete(outage_notices).where(isOf(subject)).returning();
  return rows[0] ?? null;
}

/** Without an enabled connection, a source of an enabled tracker at the host, or one that fails with the credential. */
export async function deleteUnconcerned(tx: Writer): Promise<void> {
  const source = sql`select 1 from tracker_sources inner join trackers on trackers.id = tracker_sources.tracker_id
    where trackers.is_enabled`;
  await tx.delete(outage_notices).where(
    sql`not case outage_notices.cause
      when 'connection' then exists (
        select 1 from connections where connections.id = outage_notices.subject and connections.is_enabled)
      when 'upstream' then exists (${source} and tracker_sources.host = outage_notices.subject)
      else exists (${source} and tracker_sources.failing_since is not null
        and tracker_sources.credential_id || ' ' || tracker_sources.host = outage_notices.subject)
      end`,
  );
}
