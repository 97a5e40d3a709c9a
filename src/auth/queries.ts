import { and, count, desc, eq, gt, gte, isNotNull, isNull, lt, lte, ne, not, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader, Writer } from "../db/client.ts";
import type { DueTime } from "../db/due-times.ts";
import { findInstallationFact, storeInstallationFact } from "../db/installation.ts";
import { listsOver } from "../db/listing.ts";
import { rowsOfPrepared } from "../db/prepared.ts";
import { administrators, installation, sessions } from "../db/tables.ts";

export type AdministratorRow = typeof administrators.$inferSelect;
export type SessionRow = typeof sessions.$inferSelect;

/** Insertion order, whatever the clock showed. */
const insertionOrder = sql`${sessions}.rowid`;

const isAdministratorFact = eq(installation.key, "administrator_id");

/** The id stored when the administrator was created; null on a fresh installation. */
export async function storedAdministratorId(read: Reader): Promise<string | null> {
  return await findInstallationFact(read, "administrator_id");
}

/** At most two: enough to detect duplicates. */
export async function firstAdministrators(read: Reader): Promise<AdministratorRow[]> {
  return await read.select().from(administrators).limit(2);
}

/** The account with the stored id. Any other record is not the administrator, whatever its name. */
export async function findAdministrator(read: Reader): Promise<AdministratorRow | null> {
  const rows = await read
    .select({ administrator: administrators })
    .from(administrators)
    .innerJoin(installation, and(isAdministratorFact, eq(installation.value, administrators.id)))
    .limit(1);
  return rows[0]?.administrator ?? null;
}

export async function insertAdministrator(tx: Writer, row: typeof administrators.$inferInsert): Promise<void> {
  await tx.insert(administrators).values(row);
  await storeInstallationFact(tx, "administrator_id", row.id);
}

export async function updateAdministrator(
  tx: Writer,
  id: string,
  changes: Partial<typeof administrators.$inferInsert>,
): Promise<void> {
  await tx.update(administrators).set(changes).where(eq(administrators.id, id));
}

const sessionWithAdministrator = rowsOfPrepared((read) =>
  read
    .select({ session: sessions, administrator: administrators })
    .from(sessions)
    .innerJoin(administrators, eq(administrators.id, sessions.administrator_id))
    .innerJoin(installation, and(isAdministratorFact, eq(installation.value, administrators.id)))
    .where(eq(sessions.id, sql.placeholder("id"))),
);

export async function findSessionWithAdministrator(
  read: Reader,
  id: string,
): Promise<{ session: SessionRow; administrator: AdministratorRow } | null> {
  const [found] = await sessionWithAdministrator(read, { id });
  return found ?? null;
}

export async function insertSession(tx: Writer, row: typeof sessions.$inferInsert): Promise<void> {
  await tx.insert(sessions).values(row);
}

/**
 * `address`: where an API token was last used. Null for sign-ins, which keep the address they began from. A clock set back must not lower
 * `last_seen_at`: the session would be idle once the clock is right again.
 */
export async function touchSession(tx: Writer, id: string, now: number, address: string | null): Promise<void> {
  const last_seen_at = sql`max(${sessions.last_seen_at}, ${now})`;
  const changes = address === null ? { last_seen_at } : { last_seen_at, address };
  await tx.update(sessions).set(changes).where(eq(sessions.id, id));
}

/** Repairs what a wrong clock left in sessions: they expire and go idle as if they had begun now. */
export function sessionDueTimes(longest: { sign_in_ms: number; api_token_ms: number }): readonly DueTime[] {
  const column = sessions.expires_at;
  const end = (kind: SessionRow["kind"], longest_ms: number) => ({
    table: sessions,
    column,
    where: eq(sessions.kind, kind),
    longest_ms,
    instead_ms: longest_ms,
    is_end: true as const,
  });
  return [
    end("session", longest.sign_in_ms),
    end("api_token", longest.api_token_ms),
    { table: sessions, column: sessions.last_seen_at, longest_ms: 0, is_end: true },
  ];
}

/** False when the session is missing or already revoked. */
export async function revokeSession(tx: Writer, id: string, now: number): Promise<boolean> {
  const changed = await tx
    .update(sessions)
    .set({ revoked_at: now })
    .where(and(eq(sessions.id, id), isNull(sessions.revoked_at)))
    .returning({ id: sessions.id });
  return changed.length === 1;
}

/** Sign-ins only; API tokens are separate. */
export async function revokeSignIns(tx: Writer, now: number): Promise<void> {
  await tx
    .update(sessions)
    .set({ revoked_at: now })
    .where(and(eq(sessions.kind, "session"), isNull(sessions.revoked_at)));
}

interface LiveAt {
  now: number;
  /** A sign-in last seen before this has ended. */
  idle_before: number;
}

const isLiveSignIn = ({ now, idle_before }: LiveAt) =>
  and(
    eq(sessions.kind, "session"),
    isNull(sessions.revoked_at),
    gt(sessions.expires_at, now),
    gte(sessions.last_seen_at, idle_before),
  );

export const signInLists = listsOver(sessions, (_read, at: LiveAt) => ({
  scope: isLiveSignIn(at),
  sorts: { since: "sessions.id", seen: "sessions.last_seen_at", address: "coalesce(sessions.address, '')" },
  filters: { method: sessions.method },
  searched: [sessions.address, sessions.user_agent],
}));

export async function findSignIn(read: Reader, at: LiveAt, id: string): Promise<SessionRow | null> {
  const rows = await read
    .select()
    .from(sessions)
    .where(and(isLiveSignIn(at), eq(sessions.id, id)))
    .limit(1);
  return rows[0] ?? null;
}

/** Returns how many ended. */
export async function revokeOtherSignIns(tx: Writer, kept: string, now: number): Promise<number> {
  const ended = await tx
    .update(sessions)
    .set({ revoked_at: now })
    .where(and(eq(sessions.kind, "session"), isNull(sessions.revoked_at), ne(sessions.id, kept)))
    .returning({ id: sessions.id });
  return ended.length;
}

export async function deleteAllSessions(tx: Writer): Promise<void> {
  await tx.delete(sessions);
}

/** The addresses where live sign-ins began. */
export async function listSignInAddresses(read: Reader, now: number): Promise<string[]> {
  const rows = await read
    .selectDistinct({ address: sessions.address })
    .from(sessions)
    .where(and(eq(sessions.kind, "session"), isNull(sessions.revoked_at), gt(sessions.expires_at, now)))
    .limit(100);
  return rows.flatMap(({ address }) => (address === null ? [] : [address]));
}

interface SessionPruning {
  /** Sessions that ended before this can be removed. */
  ended_before: number;
  idle_before: number;
  /** Beyond this many, the oldest sign-ins go too. */
  keep: number;
}

/** Removes sessions that can no longer be used. */
export async function pruneSessions(tx: Writer, { ended_before, idle_before, keep }: SessionPruning): Promise<void> {
  const isIdle = and(eq(sessions.kind, "session"), lt(sessions.last_seen_at, idle_before));
  await tx.delete(sessions).where(or(lte(sessions.expires_at, ended_before), isNotNull(sessions.revoked_at), isIdle));
  const beyond = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.kind, "session"))
    .orderBy(desc(insertionOrder))
    .limit(100)
    .offset(keep);
  for (const { id } of beyond) await tx.delete(sessions).where(eq(sessions.id, id));
}

const isLiveToken = (now: number) =>
  and(eq(sessions.kind, "api_token"), isNull(sessions.revoked_at), gt(sessions.expires_at, now));

/** Issuing a token sets `last_seen_at` and its address, which does not count as a use. */
export function isTokenUsed(row: Pick<SessionRow, "created_at" | "last_seen_at">): boolean {
  return row.last_seen_at > row.created_at;
}

export const apiTokenLists = listsOver(sessions, (_read, now: number) => {
  const isUsed = gt(sessions.last_seen_at, sessions.created_at);
  return {
    scope: isLiveToken(now),
    sorts: {
      created: "sessions.id",
      name: "coalesce(sessions.name, '')",
      used: "iif(sessions.last_seen_at > sessions.created_at, sessions.last_seen_at, 0)",
      expires: "sessions.expires_at",
    },
    filters: { scope: sessions.scope, use: { used: isUsed, unused: not(isUsed) } },
    searched: [
      sessions.name,
      (contains: (text: SQLiteColumn) => SQL) => sql`(${isUsed} and ${contains(sessions.address)})`,
    ],
  };
});

/** A token that can still be used, by its ID or its name. */
export async function findApiToken(
  read: Reader,
  now: number,
  by: { id: string } | { name: string },
): Promise<SessionRow | null> {
  const isMeant = "id" in by ? eq(sessions.id, by.id) : eq(sessions.name, by.name);
  const rows = await read
    .select()
    .from(sessions)
    .where(and(isLiveToken(now), isMeant))
    .limit(1);
  return rows[0] ?? null;
}

export async function countApiTokens(read: Reader, now: number): Promise<number> {
  const rows = await read.select({ count: count() }).from(sessions).where(isLiveToken(now));
  return rows[0]?.count ?? 0;
}
