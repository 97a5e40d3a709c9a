import { desc, eq, gt, inArray, lt, or, sql } from "drizzle-orm";
import type { Reader, Writer } from "../../db/client.ts";
import { preparedFor } from "../../db/prepared.ts";
import { rate_limits, response_cache } from "../../db/tables/upstreams.ts";

export type StoredResponse = Omit<typeof response_cache.$inferSelect, "key" | "size_bytes">;

const responseByKey = preparedFor((read: Reader) =>
  read
    .select()
    .from(response_cache)
    .where(eq(response_cache.key, sql.placeholder("key")))
    .limit(1)
    .prepare(),
);

export async function findResponse(read: Reader, key: string): Promise<StoredResponse | null> {
  const rows = await responseByKey(read).all({ key });
  return rows[0] ?? null;
}

export async function storeResponse(tx: Writer, row: typeof response_cache.$inferInsert): Promise<void> {
  const { key, ...rest } = row;
  await tx.insert(response_cache).values(row).onConflictDoUpdate({ target: response_cache.key, set: rest });
}

export async function touchResponse(tx: Writer, key: string, now: number): Promise<void> {
  await tx.update(response_cache).set({ used_at: now }).where(eq(response_cache.key, key));
}

/** Removes rows unused since `usedSince`, and the least recently used beyond the two bounds. */
export async function pruneResponses(
  tx: Writer,
  bounds: { usedSince: number; rows: number; bytes: number },
): Promise<void> {
  await tx.delete(response_cache).where(lt(response_cache.used_at, bounds.usedSince));
  const ranked = tx
    .select({
      key: response_cache.key,
      place: sql<number>`row_number() over (order by ${response_cache.used_at} desc, ${response_cache.key})`.as(
        "place",
      ),
      sum: sql<number>`sum(${response_cache.size_bytes}) over (order by ${response_cache.used_at} desc, ${response_cache.key})`.as(
        "sum",
      ),
    })
    .from(response_cache)
    .as("ranked");
  const excess = tx
    .select({ key: ranked.key })
    .from(ranked)
    .where(or(gt(ranked.place, bounds.rows), gt(ranked.sum, bounds.bytes)));
  await tx.delete(response_cache).where(inArray(response_cache.key, excess));
}

export async function storedRates(
  read: Reader,
  limit: number,
): Promise<{ state: Readonly<Record<string, unknown>> | null }[]> {
  return await read
    .select({ state: rate_limits.state })
    .from(rate_limits)
    .orderBy(desc(rate_limits.updated_at))
    .limit(limit);
}

export async function storeRate(tx: Writer, row: typeof rate_limits.$inferInsert): Promise<void> {
  const { key, ...rest } = row;
  await tx.insert(rate_limits).values(row).onConflictDoUpdate({ target: rate_limits.key, set: rest });
}

export async function deleteRatesBefore(tx: Writer, before: number): Promise<void> {
  await tx.delete(rate_limits).where(lt(rate_limits.updated_at, before));
}
