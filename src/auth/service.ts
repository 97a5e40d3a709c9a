import type { Clock } from "../clock.ts";
import type { Database, Writer } from "../db/client.ts";
import { AppError, forbidden, invalidInput, unauthorized } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { type Passwords, passwordProblem } from "../secrets/password.ts";
import type { SessionTokens } from "../secrets/tokens.ts";
import { passwordCheck } from "./password-check.ts";
import {
  type AdministratorRow,
  findAdministrator,
  findSessionWithAdministrator,
  insertSession,
  pruneSessions,
  revokeSession,
  revokeSignIns,
  touchSession,
  updateAdministrator,
} from "./queries.ts";
import {
  AccountPatch,
  type AccountView,
  type Actor,
  type AuditRecord,
  PasswordChangeInput,
  type RecordAudit,
  type Session,
  SignInInput,
  type SignInView,
} from "./schema.ts";
import { addressKey, type Throttle } from "./throttle.ts";

export type AuthService = ReturnType<typeof authService>;

const IDLE_LIMIT_MS = 24 * 3_600_000;
const ABSOLUTE_LIMIT_MS = 7 * 24 * 3_600_000;
// How exactly "last seen" is known; each request that finds it older costs one write.
const TOUCH_EVERY_MS = 60_000;
// Browsers of one person; the oldest sign-in beyond ends.
const MAXIMUM_SIGN_INS = 50;
const USER_AGENT_CHARACTERS = 300;

interface AuthServiceOptions {
  db: Database;
  clock: Clock;
  log: Log;
  audit: RecordAudit;
  passwords: Passwords;
  tokens: SessionTokens;
  throttle: Throttle;
}

/** Where a sign-in comes from: what is kept with the session for the administrator to recognise it. */
export interface SignInOrigin {
  actor: Actor;
  user_agent: string | null;
}

function wrongCredentials(): AppError {
  return new AppError("invalid_credentials", 401, "The user name or the password is wrong");
}

function subjectOf(administrator: { id: string; username: string }): NonNullable<AuditRecord["subject"]> {
  return { kind: "administrator", id: administrator.id, name: administrator.username };
}

/** Sessions may change the account; a token for automation that leaked may not lock its owner out. */
export function requireSignIn(session: Session): void {
  if (session.kind === "session") return;
  throw forbidden(
    "session_required",
    "An API token cannot change the account or its tokens; sign in with the password",
  );
}

/** The sole administrator: signing in and out, the session behind each request, and the account. */
export function authService(options: AuthServiceOptions) {
  const { db, clock, log, audit, passwords, tokens, throttle } = options;
  const checkPassword = passwordCheck({ db, clock, audit, passwords, throttle });

  const startSession = async (
    tx: Writer,
    administrator: AdministratorRow,
    origin: SignInOrigin,
  ): Promise<{ id: string; epoch: number; created_at: number; expires_at: number }> => {
    const now = clock.now();
    const session = {
      id: newId(now),
      epoch: administrator.session_epoch,
      created_at: now,
      // The token counts in seconds: the row ends at the same instant.
      expires_at: Math.floor((now + ABSOLUTE_LIMIT_MS) / 1000) * 1000,
    };
    await insertSession(tx, {
      ...session,
      kind: "session",
      administrator_id: administrator.id,
      scope: "full",
      address: origin.actor.address,
      user_agent: origin.user_agent?.slice(0, USER_AGENT_CHARACTERS) ?? null,
      last_seen_at: now,
    });
    await pruneSessions(tx, now, now - IDLE_LIMIT_MS, MAXIMUM_SIGN_INS);
    return session;
  };

  const signInView = async (
    session: Awaited<ReturnType<typeof startSession>>,
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

  const getAdministrator = async (): Promise<AdministratorRow> => {
    const administrator = await findAdministrator(db.read);
    if (administrator === null) throw unauthorized();
    return administrator;
  };

  /**
   * Compares the current password before something that a stolen session alone must not do. Throws 422 with the field
   * `current_password`, or 429. `event` names the action in the audit.
   */
  const confirmPassword = async (
    actor: Actor,
    session: Session,
    password: string,
    event: string,
  ): Promise<AdministratorRow> => {
    const administrator = await getAdministrator();
    await checkPassword({
      // By the session too: whoever stole it may have many addresses.
      keys: [addressKey(actor.address), `session ${session.id}`],
      stored: administrator.password_hash,
      password,
      actor,
      event,
      wrong: () => invalidInput({ current_password: "The current password is wrong" }),
    });
    return administrator;
  };

  const accountView = (row: AdministratorRow): AccountView => ({
    id: row.id,
    username: row.username,
    password_change_required: row.is_password_change_required,
    password_changed_at: row.password_changed_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  });

  const touch = async (id: string, now: number) => {
    try {
      await db.write((tx) => touchSession(tx, id, now));
    } catch (error) {
      // A full disk must not keep the administrator from reading what is there.
      log.warning("Could not note the use of a session", { error });
    }
  };

  return {
    /** Checks name and password and begins a session. Throws 401 `invalid_credentials`, 422, 429. */
    signIn: async (origin: SignInOrigin, input: unknown): Promise<SignInView> => {
      const { username, password } = parseInput(SignInInput, input);
      const { actor } = origin;
      const administrator = await findAdministrator(db.read);
      const known = administrator?.username === username ? administrator : null;
      await checkPassword({
        keys: [addressKey(actor.address)],
        stored: known?.password_hash ?? null,
        password,
        actor,
        event: "login",
        wrong: wrongCredentials,
      });
      if (known === null) throw wrongCredentials();
      const rehashed = passwords.needsRehash(known.password_hash) ? await passwords.hash(password) : null;
      const session = await db.write(async (tx) => {
        const current = await findAdministrator(tx);
        // The password or the name may have changed while this one was compared.
        if (current === null || current.password_hash !== known.password_hash || current.username !== username) {
          throw wrongCredentials();
        }
        if (rehashed !== null) await updateAdministrator(tx, current.id, { password_hash: rehashed });
        const started = await startSession(tx, current, origin);
        await audit(tx, { ...actor, name: username }, { event: "login", outcome: "ok", subject: subjectOf(current) });
        return started;
      });
      return await signInView(session, known.id, known.is_password_change_required);
    },

    /** The session of a token, judged by its row and the account as they are now; null when it does not hold. */
    authenticate: async (token: string, via: Session["via"]): Promise<Session | null> => {
      const claims = await tokens.verify(token);
      if (claims === null) return null;
      const found = await findSessionWithAdministrator(db.read, claims.session_id);
      if (found === null) return null;
      const { session, administrator } = found;
      const now = clock.now();
      const isOurs = session.administrator_id === claims.administrator_id;
      const isCurrent = claims.epoch === administrator.session_epoch && session.epoch === administrator.session_epoch;
      const isOpen = session.revoked_at === null && now < session.expires_at;
      const isIdle = session.kind === "session" && now - session.last_seen_at > IDLE_LIMIT_MS;
      if (!isOurs || !isCurrent || !isOpen || isIdle) return null;
      if (Math.abs(now - session.last_seen_at) >= TOUCH_EVERY_MS) await touch(session.id, now);
      return {
        id: session.id,
        kind: session.kind,
        scope: session.scope,
        via,
        administrator_id: administrator.id,
        username: administrator.username,
        is_password_change_required: administrator.is_password_change_required,
        expires_at: session.expires_at,
      };
    },

    /** Ends this session, or this API token, at once. */
    signOut: async (actor: Actor, session: Session): Promise<void> => {
      await db.write(async (tx) => {
        await revokeSession(tx, session.id, clock.now());
        const subject = { kind: "administrator", id: session.administrator_id, name: session.username };
        await audit(tx, actor, { event: "logout", outcome: "ok", subject });
      });
    },

    /** Ends every other sign-in and gives this one a new session. API tokens stay. Throws 403, 422, 429. */
    changePassword: async (origin: SignInOrigin, session: Session, input: unknown): Promise<SignInView> => {
      requireSignIn(session);
      const parsed = parseInput(PasswordChangeInput, input);
      const problem = passwordProblem(parsed.new_password, [session.username]);
      if (problem !== null) throw invalidInput({ new_password: problem });
      const administrator = await confirmPassword(origin.actor, session, parsed.current_password, "password_changed");
      if (parsed.new_password === parsed.current_password) {
        throw invalidInput({ new_password: "The new password is the current one; choose another" });
      }
      const hash = await passwords.hash(parsed.new_password);
      const started = await db.write(async (tx) => {
        const current = await findAdministrator(tx);
        if (current === null || current.password_hash !== administrator.password_hash) {
          throw invalidInput({ current_password: "The password was changed meanwhile; sign in again" });
        }
        const now = clock.now();
        await updateAdministrator(tx, current.id, {
          password_hash: hash,
          is_password_change_required: false,
          password_changed_at: now,
          updated_at: now,
        });
        await revokeSignIns(tx, now);
        const next = await startSession(tx, current, origin);
        await audit(tx, origin.actor, { event: "password_changed", outcome: "ok", subject: subjectOf(current) });
        return next;
      });
      return await signInView(started, administrator.id, false);
    },

    account: async (): Promise<AccountView> => accountView(await getAdministrator()),

    /** Renames the administrator: the id, the password and the sessions stay. */
    updateAccount: async (actor: Actor, session: Session, input: unknown): Promise<AccountView> => {
      requireSignIn(session);
      const { username } = parseInput(AccountPatch, input);
      if (username === undefined) return accountView(await getAdministrator());
      await db.write(async (tx) => {
        const current = await findAdministrator(tx);
        if (current === null) throw unauthorized();
        await updateAdministrator(tx, current.id, { username, updated_at: clock.now() });
        await audit(tx, actor, {
          event: "account_renamed",
          outcome: "ok",
          subject: subjectOf({ id: current.id, username }),
          detail: { from: current.username, to: username },
        });
      });
      return accountView(await getAdministrator());
    },

    /** What the forms of a cookie's session carry; see `http/middleware/csrf.ts`. */
    formToken: (session: Session): string => tokens.formToken(session.id),
    isFormToken: (session: Session, text: string): boolean => tokens.isFormToken(session.id, text),
  };
}
