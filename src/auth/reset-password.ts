import { invalidInput } from "../errors.ts";
import type { Parts } from "../parts.ts";
import { type Passwords, passwordProblem } from "../secrets/password.ts";
import { requireAdministrator } from "./bootstrap.ts";
import { deleteAllSessions, findAdministrator, updateAdministrator } from "./queries.ts";
import { systemActor } from "./schema.ts";

interface ResetOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  passwords: Passwords;
}

/**
 * Sets the existing administrator's password and, in the same transaction, ends every session and API token, including those a running
 * server has just signed. Returns the user name. Throws 422 for the password, or when the record is missing.
 */
export async function resetPassword(options: ResetOptions, password: string): Promise<string> {
  const { db, clock, audit, passwords } = options;
  await requireAdministrator(db.read);
  const administrator = await findAdministrator(db.read);
  const problem = passwordProblem(password, administrator === null ? [] : [administrator.username]);
  if (problem !== null) throw invalidInput({ password: problem }, problem);
  const hash = await passwords.hash(password);
  return await db.write(async (tx) => {
    const id = await requireAdministrator(tx);
    const current = await findAdministrator(tx);
    const now = clock.now();
    await updateAdministrator(tx, id, {
      password_hash: hash,
      is_password_change_required: false,
      session_epoch: (current?.session_epoch ?? 0) + 1,
      password_changed_at: now,
      updated_at: now,
    });
    await deleteAllSessions(tx);
    const username = current?.username ?? "";
    await audit(
      tx,
      { ...systemActor, name: "command line" },
      { event: "password_reset", outcome: "ok", subject: { kind: "administrator", id, name: username } },
    );
    return username;
  });
}
