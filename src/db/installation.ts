import { and, eq, like, lt, max, sql } from "drizzle-orm";
import type { Reader, Writer } from "./client.ts";
import { hasSealedValues } from "./sealed-columns.ts";
import {
  audit_entries,
  connections,
  credentials,
  events,
  executors,
  installation,
  notifiers,
  trackers,
} from "./tables.ts";

/** Facts about the whole installation. */
export type InstallationFact =
  | "administrator_id"
  | "encryption_key_id"
  | "session_key_id"
  /** Milliseconds UTC as text, when known. */
  | "encryption_key_since"
  | "session_key_since"
  /** Milliseconds UTC as text: see `counted-time.ts`. */
  | "counted_time";

export async function findInstallationFact(read: Reader, key: InstallationFact): Promise<string | null> {
  const rows = await read
    .select({ value: installation.value })
    .from(installation)
    .where(eq(installation.key, key))
    .limit(1);
  return rows[0]?.value ?? null;
}

export async function storeInstallationFact(tx: Writer, key: InstallationFact, value: string): Promise<void> {
  await tx.insert(installation).values({ key, value }).onConflictDoUpdate({ target: installation.key, set: { value } });
}

const seenPrefix = "session_key_seen:";

/** Records that a process uses this session key; drops keys not seen since `since`. */
export async function noteSessionKey(
  tx: Writer,
  { id, now, since }: { id: string; now: number; since: number },
): Promise<void> {
  const key = `${seenPrefix}${id}`;
  const value = String(now);
  await tx.insert(installation).values({ key, value }).onConflictDoUpdate({ target: installation.key, set: { value } });
  const isSeen = like(installation.key, `${seenPrefix}%`);
  await tx.delete(installation).where(and(isSeen, lt(sql`cast(${installation.value} as integer)`, since)));
}

/** The ids of all session keys in use by processes. */
export async function sessionKeysSeen(read: Reader): Promise<readonly string[]> {
  const rows = await read
    .select({ key: installation.key })
    .from(installation)
    .where(like(installation.key, `${seenPrefix}%`))
    .limit(100);
  return rows.map(({ key }) => key.slice(seenPrefix.length));
}

/** Whether this installation was ever used, even if its administrator no longer exists. */
export async function isInUse(read: Reader): Promise<boolean> {
  for (const table of [audit_entries, credentials, connections, notifiers, trackers, executors]) {
    const rows = await read.select({ id: table.id }).from(table).limit(1);
    if (rows.length > 0) return true;
  }
  return false;
}

/** Whether anything is stored that only the encryption key can read. */
export async function hasSealedRows(read: Reader): Promise<boolean> {
  if (await hasSealedValues(read)) return true;
  return (await findInstallationFact(read, "encryption_key_id")) !== null;
}

/** Where counted time continues: the stored value, else the time of the latest known event; null when there is none. */
export async function storedCountedTime(read: Reader): Promise<number | null> {
  const stored = Number(await findInstallationFact(read, "counted_time"));
  if (Number.isSafeInteger(stored) && stored > 0) return stored;
  const [entry] = await read.select({ at: max(audit_entries.at) }).from(audit_entries);
  const [event] = await read.select({ at: max(events.created_at) }).from(events);
  return Math.max(entry?.at ?? 0, event?.at ?? 0) || null;
}
