import { asc, desc, eq, inArray, lt } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { idempotency_keys } from "../db/tables.ts";
import type { Sealed } from "../secrets/sealed.ts";

/** What was created with a key since `since`; null when nothing was. */
export async function findOutcome(read: Reader, keyHash: string, since: number): Promise<Sealed | null> {
  const rows = await read
    .select({ sealed: idempotency_keys.sealed_outcome, created_at: idempotency_keys.created_at })
    .from(idempotency_keys)
    .where(eq(idempotency_keys.key_hash, keyHash))
    .limit(1);
  const [row] = rows;
  return row === undefined || row.created_at < since ? null : row.sealed;
}

/** Replaces an expired one. */
export async function insertOutcome(tx: Writer, row: typeof idempotency_keys.$inferInsert): Promise<void> {
  const { key_hash: _, ...changes } = row;
  await tx.insert(idempotency_keys).values(row).onConflictDoUpdate({ target: idempotency_keys.key_hash, set: changes });
}

export async function updateOutcome(tx: Writer, keyHash: string, sealed: Sealed): Promise<void> {
  await tx.update(idempotency_keys).set({ sealed_outcome: sealed }).where(eq(idempotency_keys.key_hash, keyHash));
}

const { key_hash, created_at } = idempotency_keys;

/** Removes the oldest of what is older than `before`, at most `limit`. */
export async function deleteExpiredOutcomes(tx: Writer, before: number, limit: number): Promise<void> {
  const expired = tx
    .select({ key_hash })
    .from(idempotency_keys)
    .where(lt(created_at, before))
    .orderBy(asc(created_at))
    .limit(limit);
  await tx.delete(idempotency_keys).where(inArray(key_hash, expired));
}

/** Removes what is beyond the newest `keep`, at most `limit`. */
export async function deleteSurplusOutcomes(tx: Writer, keep: number, limit: number): Promise<void> {
  const surplus = tx.select({ key_hash }).from(idempotency_keys).orderBy(desc(created_at)).limit(limit).offset(keep);
  await tx.delete(idempotency_keys).where(inArray(key_hash, surplus));
}
