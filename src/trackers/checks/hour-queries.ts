import { lt, sql } from "drizzle-orm";
import type { Writer } from "../../db/client.ts";
import { preparedFor } from "../../db/prepared.ts";
import { check_hours } from "../../db/tables/upstreams.ts";

const hourMs = 3_600_000;

/** The first instant of the hour, UTC. */
export function hourOf(instant: number): number {
  return Math.floor(instant / hourMs) * hourMs;
}

const counting = preparedFor((tx: Writer) => {
  const given = (name: string) => sql`${sql.placeholder(name)}`;
  return tx
    .insert(check_hours)
    .values({
      starts_at: given("starts_at"),
      host: given("host"),
      succeeded: given("succeeded"),
      failed: given("failed"),
      requests: given("requests"),
    })
    .onConflictDoUpdate({
      target: [check_hours.starts_at, check_hours.host],
      set: {
        succeeded: sql`${check_hours.succeeded} + excluded.succeeded`,
        failed: sql`${check_hours.failed} + excluded.failed`,
        requests: sql`${check_hours.requests} + excluded.requests`,
      },
    })
    .prepare();
});

/** Adds a check to its hour. */
export async function countCheck(
  tx: Writer,
  check: { starts_at: number; host: string; succeeded: 0 | 1; failed: 0 | 1; requests: number },
): Promise<void> {
  await counting(tx).run(check);
}

export async function deleteHoursBefore(tx: Writer, before: number): Promise<void> {
  await tx.delete(check_hours).where(lt(check_hours.starts_at, before));
}
