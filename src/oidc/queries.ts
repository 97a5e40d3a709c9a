import { and, asc, count, eq, isNull, lte } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { administrators, oidc_attempts, oidc_bindings, oidc_providers, sessions } from "../db/tables.ts";

export type ProviderRow = typeof oidc_providers.$inferSelect;
export type BindingRow = typeof oidc_bindings.$inferSelect;
export type AttemptRow = typeof oidc_attempts.$inferSelect;

export async function findProvider(read: Reader): Promise<ProviderRow | null> {
  const rows = await read.select().from(oidc_providers).limit(1);
  return rows[0] ?? null;
}

export const providerRows = rowsOf(oidc_providers, "identity_provider");

export async function findBinding(read: Reader): Promise<BindingRow | null> {
  const rows = await read.select().from(oidc_bindings).limit(1);
  return rows[0] ?? null;
}

export async function insertBinding(tx: Writer, row: typeof oidc_bindings.$inferInsert): Promise<void> {
  await tx.insert(oidc_bindings).values(row);
}

export async function deleteBinding(tx: Writer): Promise<void> {
  await tx.delete(oidc_bindings);
}

export async function insertAttempt(tx: Writer, row: typeof oidc_attempts.$inferInsert): Promise<void> {
  await tx.insert(oidc_attempts).values(row);
}

/** Removes the attempt and returns it, so that a second caller finds nothing. */
export async function takeAttempt(tx: Writer, stateHash: string): Promise<AttemptRow | null> {
  const rows = await tx.delete(oidc_attempts).where(eq(oidc_attempts.state_hash, stateHash)).returning();
  return rows[0] ?? null;
}

/** Removes the attempts that had ended by then. */
export async function deleteExpiredAttempts(tx: Writer, ended: number): Promise<void> {
  await tx.delete(oidc_attempts).where(lte(oidc_attempts.expires_at, ended));
}

/** Removes the attempts of this kind beyond `keep`: first the ones `takeNext` names by the hashes of their states, then the oldest. */
export async function deleteSurplusAttempts(
  tx: Writer,
  kind: AttemptRow["kind"],
  keep: number,
  takeNext: () => string | null,
): Promise<void> {
  const isKind = eq(oidc_attempts.kind, kind);
  const counted = await tx.select({ count: count() }).from(oidc_attempts).where(isKind);
  let beyond = (counted[0]?.count ?? 0) - keep;
  while (beyond > 0) {
    const next = takeNext();
    if (next === null) break;
    if ((await takeAttempt(tx, next)) !== null) beyond -= 1;
  }
  if (beyond <= 0) return;
  const oldest = await tx
    .select({ state_hash: oidc_attempts.state_hash })
    .from(oidc_attempts)
    .where(isKind)
    .orderBy(asc(oidc_attempts.created_at), asc(oidc_attempts.state_hash))
    .limit(beyond);
  for (const { state_hash } of oldest) await tx.delete(oidc_attempts).where(eq(oidc_attempts.state_hash, state_hash));
}

/** The administrator of a live sign-in, judged by its row and the account's epoch; null when it has ended. */
export async function administratorOfSignIn(read: Reader, sessionId: string, now: number): Promise<string | null> {
  const rows = await read
    .select({ session: sessions, administrator_id: administrators.id })
    .from(sessions)
    .innerJoin(
      administrators,
      and(eq(administrators.id, sessions.administrator_id), eq(administrators.session_epoch, sessions.epoch)),
    )
    .where(and(eq(sessions.id, sessionId), eq(sessions.kind, "session"), isNull(sessions.revoked_at)))
    .limit(1);
  const found = rows[0];
  return found === undefined || found.session.expires_at <= now ? null : found.administrator_id;
}
