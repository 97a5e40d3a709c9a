import type { Writer } from "../db/client.ts";
import { unauthorized } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Parts } from "../parts.ts";
import type { SessionTokens } from "../secrets/tokens.ts";
import type { AuditRecord } from "./audit-schema.ts";
import type { HeldSessions } from "./held-sessions.ts";
import { type AdministratorRow, findAdministrator, insertSession, pruneSessions, type SessionRow } from "./queries.ts";
import { type Actor, type SignInView, subjectOf } from "./schema.ts";

/** A sign-in ends after this long without a request. */
export const IDLE_LIMIT_MS = 24 * 3_600_000;
export const ABSOLUTE_LIMIT_MS = 7 * 24 * 3_600_000;
// Enough for one person's browsers; beyond this the oldest sign-in ends.
const MAXIMUM_SIGN_INS = 50;
const USER_AGENT_CHARACTERS = 300;

/** Where a sign-in comes from, stored with the session so that the administrator recognises it. */
export interface SignInOrigin {
  actor: Actor;
  user_agent: string | null;
}

/**
 * Returns the identified administrator within the transaction that begins the session, so that the proof is still valid then. Throws to
 * refuse: nothing is begun or written. `detail` is for the audit, without secrets.
 */
export type Admit = (tx: Writer) => Promise<{ administrator_id: string; detail: AuditRecord["detail"] }>;

interface SignInsOptions extends Pick<Parts, "db" | "clock" | "counted" | "audit"> {
  tokens: SessionTokens;
  held: HeldSessions;
}

/** Begins sessions and signs their tokens, however the administrator was identified. */
export function signIns({ db, clock, counted, audit, tokens, held }: SignInsOptions) {
  const rowOf = (administrator: AdministratorRow, origin: SignInOrigin, method: SessionRow["method"]): SessionRow => {
    const now = clock.now();
    return {
      id: newId(now),
      epoch: administrator.session_epoch,
      created_at: now,
      // Tokens count in seconds; the row ends at the same instant.
      expires_at: Math.floor((now + ABSOLUTE_LIMIT_MS) / 1000) * 1000,
      kind: "session",
      administrator_id: administrator.id,
      name: null,
      method,
      scope: "full",
      address: origin.actor.address,
      user_agent: origin.user_agent?.slice(0, USER_AGENT_CHARACTERS) ?? null,
      last_seen_at: now,
      revoked_at: null,
    };
  };

  const start = async (
    tx: Writer,
    administrator: AdministratorRow,
    origin: SignInOrigin,
    method: SessionRow["method"],
  ): Promise<SessionRow> => {
    const session = rowOf(administrator, origin, method);
    await insertSession(tx, session);
    await pruneSessions(tx, {
      ended_before: counted.before(0),
      idle_before: counted.before(IDLE_LIMIT_MS),
      keep: MAXIMUM_SIGN_INS,
    });
    return session;
  };

  const view = async (
    session: SessionRow,
    administratorId: string,
    isPasswordChangeRequired: boolean,
  ): Promise<SignInView> => ({
    token: await tokens.sign({
      administrator_id: administratorId,
      session_id: session.id,
      epoch: session.epoch,
      issued_at: session.created_at,
      expires_at: session.expires_at,
    }),
    expires_at: session.expires_at,
    password_change_required: isPasswordChangeRequired,
  });

  /** Begins a session for the id from `admit` and writes the `login` entry. Throws what `admit` throws, and 401 for any other id. */
  const begin = async (origin: SignInOrigin, method: SessionRow["method"], admit: Admit): Promise<SignInView> => {
    const { session, administrator } = await db.write(async (tx) => {
      const admitted = await admit(tx);
      const current = await findAdministrator(tx);
      if (current === null || current.id !== admitted.administrator_id) throw unauthorized();
      const started = await start(tx, current, origin, method);
      await audit(
        tx,
        { ...origin.actor, name: current.username },
        { event: "login", outcome: "ok", subject: subjectOf(current), detail: { method, ...admitted.detail } },
      );
      return { session: started, administrator: current };
    });
    return await view(session, administrator.id, administrator.is_password_change_required);
  };

  /** Begins a session without a write, after the password was right. Throws 401 unless it is the administrator as of now. */
  const beginHeld = async (origin: SignInOrigin, proved: AdministratorRow): Promise<SignInView> => {
    const current = await findAdministrator(db.read);
    const holds = current?.password_hash === proved.password_hash && current.username === proved.username;
    if (current === null || !holds) throw unauthorized();
    const session = rowOf(current, origin, "password");
    held.hold(session, current, origin.actor);
    return await view(session, current.id, current.is_password_change_required);
  };

  return { start, view, begin, beginHeld };
}
