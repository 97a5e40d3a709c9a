import { isIPv6 } from "node:net";
import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../errors.ts";
import { say } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";

// Five typing errors are free; then each failure doubles the wait: 2 s, 4 s … 15 min.
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 15 * 60_000;
// A record expires a day after its last failure. 10,000 records are about 1 MB; beyond that the least recent one goes.
const FORGET_AFTER_MS = 24 * 3_600_000;
const MAXIMUM_RECORDS = 10_000;
// In total: a hundred failures in reserve, one more every 36 s. No person reaches that; many addresses together do.
const TOTAL_FAILURES = 100;
const TOTAL_RECOVERY_MS = 36_000;

interface Failures {
  count: number;
  pending: number;
  blocked_until: number;
  last_at: number;
}

/** A password check in progress; exactly one of its ends must be called. */
export interface Attempt {
  /** None of its keys has a failure or a check in progress. */
  readonly is_first: boolean;
  succeed(): void;
  /** Counts the failure. Returns a 429 error to throw instead of "wrong password" while the total is exceeded. */
  fail(): Error | null;
  /** Neither right nor wrong: the check itself failed. */
  abandon(): void;
}

export interface Throttle {
  /**
   * Begins a check for these keys (an address, a session). Throws 429 with `Retry-After` when one of them has to wait. A key without
   * failures is never refused because others failed, and a familiar one never because of the total: a stranger cannot lock the
   * administrator out.
   */
  begin(keys: readonly string[], isFamiliar?: boolean): Attempt;
}

/** The key of a client: an IPv4 address, or the /64 of an IPv6 address, because one client controls a whole /64. */
export function addressKey(address: string | null): string {
  if (address === null || !isIPv6(address)) return `address ${address ?? "unknown"}`;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail === undefined ? [] : tail.split(":").filter((group) => group !== "");
  while (groups.length + rest.length < 8) groups.push("0");
  const prefix = [...groups, ...rest].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `address ${prefix.join(":")}::/64`;
}

function waitAfter(count: number): number {
  if (count < FREE_FAILURES) return 0;
  return Math.min(FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES), LONGEST_WAIT_MS);
}

function refusal(waitMs: number): Error {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return tooManyRequests(say("auth.too_many_attempts", { seconds }), seconds);
}

/** Slows down guessing, per key and in total; in memory. */
export function createThrottle(clock: Clock): Throttle {
  const records = new RecentMap<string, Failures>(MAXIMUM_RECORDS);
  let total = 0;
  let totalAt = clock.elapsed();

  const totalNow = (): number => {
    const now = clock.elapsed();
    total = Math.max(0, total - (now - totalAt) / TOTAL_RECOVERY_MS);
    totalAt = now;
    return total;
  };
  // Doubles with every tenth failure beyond the total.
  const totalWait = () => Math.min(FIRST_WAIT_MS * 2 ** Math.floor((total - TOTAL_FAILURES) / 10), LONGEST_WAIT_MS);

  const recordOf = (key: string): Failures => {
    const now = clock.elapsed();
    const found = records.get(key);
    const isFresh = found !== undefined && (found.pending > 0 || now - found.last_at < FORGET_AFTER_MS);
    const record = isFresh ? found : { count: 0, pending: 0, blocked_until: 0, last_at: now };
    records.set(key, record);
    return record;
  };

  const refuseIfBlocked = (record: Failures, isExceeded: boolean) => {
    const now = clock.elapsed();
    const wait = record.blocked_until - now;
    if (wait > 0) throw refusal(wait);
    // Checks in progress count as failures, so that parallel attempts get no more tries than sequential ones.
    if (record.pending > 0 && record.count + record.pending >= FREE_FAILURES) throw refusal(1000);
    if (!isExceeded) return;
    const sinceLast = now - record.last_at;
    if (record.count > 0 && sinceLast < totalWait()) throw refusal(totalWait() - sinceLast);
  };

  return {
    begin: (keys, isFamiliar = false) => {
      const isExceeded = !isFamiliar && totalNow() >= TOTAL_FAILURES;
      const mine = keys.map((key) => ({ key, record: recordOf(key) }));
      for (const { record } of mine) refuseIfBlocked(record, isExceeded);
      const isFirst = mine.every(({ record }) => record.count === 0 && record.pending === 0);
      for (const { record } of mine) record.pending += 1;

      let isOpen = true;
      const close = () => {
        if (!isOpen) throw new Error("A throttled attempt was ended twice");
        isOpen = false;
        for (const { record } of mine) record.pending -= 1;
      };
      return {
        is_first: isFirst,
        abandon: close,
        succeed: () => {
          close();
          for (const { key, record } of mine) if (record.pending === 0) records.delete(key);
          for (const { record } of mine) record.count = 0;
        },
        fail: () => {
          close();
          const now = clock.elapsed();
          for (const { record } of mine) {
            record.count += 1;
            record.last_at = now;
            record.blocked_until = now + waitAfter(record.count);
          }
          total = totalNow() + 1;
          return isExceeded ? refusal(totalWait()) : null;
        },
      };
    },
  };
}
