import type { Database } from "../db/client.ts";
import { forbidden, invalidInput, unauthorized } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { AuditEvent } from "./audit-schema.ts";
import type { PasswordCheck } from "./password-check.ts";
import { type AdministratorRow, findAdministrator } from "./queries.ts";
import type { Actor, Session } from "./schema.ts";

/** Sign-ins may change the account; a leaked automation token must not lock its owner out. */
export function requireSignIn(session: Session): void {
  if (session.kind === "session") return;
  throw forbidden("session_required", say("auth.session_required"));
}

/**
 * Checks the current password before an action that a stolen session alone must not perform. Call it before the change, with the change's
 * event; a refusal is recorded under that event (`failed` with the reason `wrong_password`, or `refused`). Throws 422 with the field
 * `current_password`, 429 with `Retry-After`, 403 `session_required` for an API token.
 */
export type ConfirmPassword = (actor: Actor, session: Session, password: string, event: AuditEvent) => Promise<void>;

/** Like `ConfirmPassword`; returns the account as it was compared. */
export function stepUp(options: { db: Database; checkPassword: (check: PasswordCheck) => Promise<void> }) {
  const { db, checkPassword } = options;
  return async (actor: Actor, session: Session, password: string, event: AuditEvent): Promise<AdministratorRow> => {
    requireSignIn(session);
    const administrator = await findAdministrator(db.read);
    if (administrator === null) throw unauthorized();
    await checkPassword({
      session_id: session.id,
      stored: administrator.password_hash,
      password,
      actor,
      event,
      wrong: () => invalidInput({ current_password: say("auth.wrong_password") }),
    });
    return administrator;
  };
}
