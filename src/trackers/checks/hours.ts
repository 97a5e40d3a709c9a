import type { CountedTime } from "../../counted-time.ts";
import type { Writer } from "../../db/client.ts";
import { countCheck, deleteHoursBefore, hourOf } from "./hour-queries.ts";

/** A few days longer than the charts show, so that days are complete in every time zone. */
const keptMs = 35 * 86_400_000;

/** Counts checks by hour and host. The first check of each hour deletes counts that are too old. */
export function checkCounter(counted: Pick<CountedTime, "before">) {
  let prunedAt: number | null = null;
  return async (
    tx: Writer,
    check: { host: string; has_succeeded: boolean; requests: number; now: number },
  ): Promise<void> => {
    const { host, has_succeeded, requests } = check;
    const starts_at = hourOf(check.now);
    await countCheck(tx, {
      starts_at,
      host,
      succeeded: has_succeeded ? 1 : 0,
      failed: has_succeeded ? 0 : 1,
      requests,
    });
    if (prunedAt === starts_at) return;
    await deleteHoursBefore(tx, counted.before(keptMs));
    prunedAt = starts_at;
  };
}
