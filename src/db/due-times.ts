import { and, gt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Clock } from "../clock.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Database } from "./client.ts";
import { storeInstallationFact } from "./installation.ts";

/** May refer to the row. */
type Milliseconds = number | SQL;

/**
 * A column with the time when something continues or ends. A wrong clock can leave times that are years ahead; a time further ahead than
 * possible is corrected to the likely one.
 */
export interface DueTime {
  table: SQLiteTable;
  column: SQLiteColumn;
  /** The rows concerned; all when left out. */
  where?: SQL | undefined;
  /** The furthest it can lie ahead. */
  longest_ms: Milliseconds | ((now: number) => Milliseconds);
  /** Where a time beyond that is moved, from now; now when left out. */
  instead_ms?: Milliseconds;
  /**
   * Its arrival removes something (a session, the time for approval). Moving it closer under a wrong clock would lose that, so it stays
   * until counted time confirms that it is too far ahead.
   */
  is_end?: true;
}

/** A lease: after a crash, no process may hold work for longer than a lease lasts. */
export function leaseTime(table: SQLiteTable & { lease_until: SQLiteColumn }, lease_ms: number, where?: SQL): DueTime {
  return { table, column: table.lease_until, where, longest_ms: lease_ms, instead_ms: lease_ms };
}

interface MenderOptions {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  due_times: readonly DueTime[];
}

/** Granularity of stored counted time: at most this much is lost when the process dies. */
const storeEveryMs = 10 * 60_000;

const mendEveryMs = 60_000;
/** A clock that deviates more than this was set. */
const setByMs = 1000;

/**
 * Repairs what a wrong clock left: on the first call, once a minute, and at once when the clock was set. Stores counted time every ten
 * minutes, so that a start that changes nothing writes nothing.
 */
export function timeMender({ db, clock, counted, due_times }: MenderOptions): () => Promise<void> {
  let stored = counted.counted();
  let mended = { at: Number.NEGATIVE_INFINITY, offset: 0 };
  return async () => {
    const at = clock.elapsed();
    const offset = clock.now() - at;
    if (at - mended.at < mendEveryMs && Math.abs(offset - mended.offset) < setByMs) return;
    mended = { at, offset };
    await pullBack(db, due_times, { now: clock.now(), latest: counted.latest() });
    const now = counted.counted();
    if (Math.abs(now - stored) < storeEveryMs) return;
    await db.write((tx) => storeInstallationFact(tx, "counted_time", String(now)));
    stored = now;
  };
}

/** Corrects every due time that lies too far ahead; writes only when there is one. */
async function pullBack(
  db: Database,
  dueTimes: readonly DueTime[],
  { now, latest }: { now: number; latest: number },
): Promise<void> {
  const far = ({ column, where, longest_ms, is_end }: DueTime) => {
    const longest = typeof longest_ms === "function" ? longest_ms(now) : longest_ms;
    return and(where, gt(column, sql`${is_end === true ? latest : now} + ${longest}`));
  };
  const found: DueTime[] = [];
  for (const due of dueTimes) {
    const rows = await db.read.select({ far: sql`1` }).from(due.table).where(far(due)).limit(1);
    if (rows.length > 0) found.push(due);
  }
  if (found.length === 0) return;
  await db.write(async (tx) => {
    for (const due of found) {
      await tx
        .update(due.table)
        .set({ [due.column.name]: sql`${now} + ${due.instead_ms ?? 0}` })
        .where(far(due));
    }
  });
}
