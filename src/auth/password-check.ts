import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import type { AppError } from "../errors.ts";
import type { Passwords } from "../secrets/password.ts";
import type { Actor, RecordAudit } from "./schema.ts";
import type { Throttle } from "./throttle.ts";

// Refusals of the throttle are told once a minute, so that nobody can fill the audit with them.
const THROTTLED_AUDIT_EVERY_MS = 60_000;

interface PasswordCheckOptions {
  db: Database;
  clock: Clock;
  audit: RecordAudit;
  passwords: Passwords;
  throttle: Throttle;
}

export interface PasswordCheck {
  /** For the throttle: the address, and the session where there is one. */
  keys: readonly string[];
  /** Null for an unknown name, which takes as long as a wrong password. */
  stored: string | null;
  password: string;
  actor: Actor;
  /** Names the action in the audit. */
  event: string;
  /** What a wrong password throws. */
  wrong: () => AppError;
}

/** Compares passwords under the throttle and leaves an audit entry for each failure; throws 429, or what `wrong` makes. */
export function passwordCheck(options: PasswordCheckOptions): (check: PasswordCheck) => Promise<void> {
  const { db, clock, audit, passwords, throttle } = options;
  let throttledAuditAt = Number.NEGATIVE_INFINITY;

  const auditThrottled = async (actor: Actor, event: string) => {
    const now = clock.now();
    if (Math.abs(now - throttledAuditAt) < THROTTLED_AUDIT_EVERY_MS) return;
    throttledAuditAt = now;
    await db.write((tx) => audit(tx, actor, { event, outcome: "refused", detail: { reason: "too_many_attempts" } }));
  };

  return async (check) => {
    const { actor, event } = check;
    const begin = async () => {
      try {
        return throttle.begin(check.keys);
      } catch (refusal) {
        await auditThrottled(actor, event);
        throw refusal;
      }
    };
    const attempt = await begin();
    let isRight: boolean;
    try {
      isRight = await passwords.verify(check.stored, check.password);
    } catch (error) {
      attempt.abandon();
      throw error;
    }
    if (isRight) {
      attempt.succeed();
      return;
    }
    const refusal = attempt.fail();
    if (refusal !== null) {
      await auditThrottled(actor, event);
      throw refusal;
    }
    await db.write((tx) => audit(tx, actor, { event, outcome: "failed", detail: { reason: "wrong_password" } }));
    throw check.wrong();
  };
}
