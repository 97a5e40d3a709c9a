import { AppError, isWithoutRoom } from "../errors.ts";
import type { Parts } from "../parts.ts";
import type { Passwords } from "../secrets/password.ts";
import type { AuditEvent, AuditRecord } from "./audit-schema.ts";
import type { FamiliarAddresses } from "./familiar-addresses.ts";
import type { Actor } from "./schema.ts";
import { addressKey, type Throttle } from "./throttle.ts";
import { createTurns } from "./turns.ts";

// Throttled attempts are recorded once a minute, so that nobody can flood the audit.
const THROTTLED_AUDIT_EVERY_MS = 60_000;

interface PasswordCheckOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  passwords: Passwords;
  throttle: Throttle;
  familiar: FamiliarAddresses;
}

export interface PasswordCheck {
  /** The session that the request belongs to; null for a stranger. */
  session_id: string | null;
  /** Null for an unknown name, which takes as long as a wrong password. */
  stored: string | null;
  password: string;
  actor: Actor;
  /** The action's name in the audit. */
  event: AuditEvent;
  /** The error for a wrong password. */
  wrong: () => AppError;
}

/** Compares passwords under the throttle and records each failure. Throws 429, or the error from `wrong`. */
export function passwordCheck(options: PasswordCheckOptions): (check: PasswordCheck) => Promise<void> {
  const { db, clock, log, audit, passwords, throttle, familiar } = options;
  const turns = createTurns(clock);
  let throttledAuditAt = Number.NEGATIVE_INFINITY;

  /** A full disk must not change the response: the administrator who frees space may mistype too. */
  const note = async (actor: Actor, record: AuditRecord) => {
    try {
      await db.write((tx) => audit(tx, actor, record));
    } catch (error) {
      if (!isWithoutRoom(error)) throw error;
      const { event, outcome } = record;
      log.error("The disk is full: an entry could not be written to the audit", {
        event,
        outcome,
        address: actor.address,
      });
    }
  };

  const auditThrottled = async (actor: Actor, event: AuditEvent) => {
    const now = clock.elapsed();
    if (now - throttledAuditAt < THROTTLED_AUDIT_EVERY_MS) return;
    throttledAuditAt = now;
    await note(actor, { event, outcome: "refused", detail: { reason: "too_many_attempts" } });
  };

  const begin = async ({ actor, event, session_id }: PasswordCheck) => {
    const address = addressKey(actor.address);
    const isFamiliar = session_id !== null || (await familiar.keys()).has(address);
    try {
      // Also counted by session: a thief may have many addresses.
      const attempt = throttle.begin(session_id === null ? [address] : [address, `session ${session_id}`], isFamiliar);
      return { attempt, isFamiliar };
    } catch (refusal) {
      await auditThrottled(actor, event);
      throw refusal;
    }
  };

  /** Strangers queue behind each other; familiar clients never wait for a stranger. */
  const verify = async ({ stored, password }: PasswordCheck, isFamiliar: boolean, isFirst: boolean) => {
    if (isFamiliar) return await passwords.verify(stored, password);
    const endTurn = await turns.take(isFirst);
    try {
      return await passwords.verify(stored, password);
    } finally {
      endTurn();
    }
  };

  return async (check) => {
    const { actor, event } = check;
    const { attempt, isFamiliar } = await begin(check);
    let isRight: boolean;
    try {
      isRight = await verify(check, isFamiliar, attempt.is_first);
    } catch (error) {
      attempt.abandon();
      if (error instanceof AppError && error.status === 429) await auditThrottled(actor, event);
      throw error;
    }
    if (isRight) {
      attempt.succeed();
      familiar.note(actor.address);
      return;
    }
    const refusal = attempt.fail();
    if (refusal !== null) {
      await auditThrottled(actor, event);
      throw refusal;
    }
    await note(actor, { event, outcome: "failed", detail: { reason: "wrong_password" } });
    throw check.wrong();
  };
}
