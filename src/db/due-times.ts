import { and, gt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Clock } from "../clock.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Database } from "./client.ts";
import { storeInstallationFact } from "./installation.ts";

/** May look at the row. */
type Milliseconds = number | SQL;

/**
 * A column that says when something goes on or ends. A clock that was wrong leaves times in it that come in years; what lies
 * further ahead than it ever may is put where it can have been meant.
 */
export interface DueTime {
  table: SQLiteTable;
  column: SQLiteColumn;
  /** The rows that it is about; all of them where it is left out. */
  where?: SQL | undefined;
  /** The longest that it ever lies ahead. */
  longest_ms: Milliseconds | ((now: number) => Milliseconds);
  /** How far ahead what lies further is put; now where it is left out. */
  instead_ms?: Milliseconds;
  /**
   * It takes something away when it comes (a session, the time for consent): then putting it nearer under a wrong clock would lose
   * it, and it is left alone until counted time says too that it lies too far ahead.
   */
  is_end?: true;
}

/** Work that somebody holds: nobody who died may hold it for longer than a lease lasts. */
export function leaseTime(table: SQLiteTable & { lease_until: SQLiteColumn }, lease_ms: number, where?: SQL): DueTime {
  return { table, column: table.lease_until, where, longest_ms: lease_ms, instead_ms: lease_ms };
}

interface MenderOptions {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  due_times: readonly DueTime[];
}

/** How exactly counted time is stored: so much of it is lost when the process dies. */
const storeEveryMs = 10 * 60_000;

const mendEveryMs = 60_000;
/** A clock that differs by more from what it would show by itself was set. */
const setByMs = 1000;

/**
 * Mends what a clock that was wrong has left: when it is called first, once a minute, and at once when the clock was set. Stores the
 * counted time when it has gone on by ten minutes, so that a start that changes nothing writes nothing.
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

/** Puts every due time that lies too far ahead where it can have been meant. Only looks where none does. */
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
