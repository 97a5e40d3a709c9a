import { AppError, invalidInput, isWithoutRoom, unauthorized } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { viewOf } from "../forms/view.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { type Passwords, passwordProblem } from "../secrets/password.ts";
import type { SessionTokens } from "../secrets/tokens.ts";
import { familiarAddresses } from "./familiar-addresses.ts";
import { heldSessions } from "./held-sessions.ts";
import { passwordCheck } from "./password-check.ts";
import {
  type AdministratorRow,
  findAdministrator,
  findSessionWithAdministrator,
  revokeSession,
  revokeSignIns,
  sessionDueTimes,
  touchSession,
  updateAdministrator,
} from "./queries.ts";
import {
  AccountPatch,
  AccountView,
  type Actor,
  longestTokenDays,
  PasswordChangeInput,
  type Session,
  SignInInput,
  type SignInView,
  subjectOf,
} from "./schema.ts";
import { ABSOLUTE_LIMIT_MS, type Admit, IDLE_LIMIT_MS, type SignInOrigin, signIns } from "./sign-ins.ts";
import { type ConfirmPassword, requireSignIn, stepUp } from "./step-up.ts";
import type { Throttle } from "./throttle.ts";

export type { SignInOrigin } from "./sign-ins.ts";
export type { ConfirmPassword } from "./step-up.ts";

export type AuthService = ReturnType<typeof authService>;

// Precision of "last seen": a request that finds it older costs one write.
const TOUCH_EVERY_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

interface AuthServiceOptions extends Parts {
  passwords: Passwords;
  tokens: SessionTokens;
  throttle: Throttle;
}

function wrongCredentials(): AppError {
  return new AppError("invalid_credentials", 401, say("auth.wrong_credentials"));
}

/** The sole administrator: sign-in and sign-out, the session behind each request, and the account. */
export function authService(options: AuthServiceOptions) {
  const { db, clock, counted, log, audit, passwords, tokens, throttle } = options;
  const familiar = familiarAddresses({ db, clock });
  const checkPassword = passwordCheck({ db, clock, log, audit, passwords, throttle, familiar });

  const confirm = stepUp({ db, checkPassword });
  const confirmPassword: ConfirmPassword = async (actor, session, password, event) => {
    await confirm(actor, session, password, event);
  };
  const held = heldSessions({ db, clock, log, audit });
  const begun = signIns({ db, clock, counted, audit, tokens, held });

  const getAdministrator = async (): Promise<AdministratorRow> => {
    const administrator = await findAdministrator(db.read);
    if (administrator === null) throw unauthorized();
    return administrator;
  };

  const accountView = (row: AdministratorRow): AccountView =>
    viewOf(AccountView, { ...row, password_change_required: row.is_password_change_required });

  const findLive = async (id: string, now: number) => {
    const found = (await held.find(id)) ?? (await findSessionWithAdministrator(db.read, id));
    if (found === null) return null;
    const { session, administrator } = found;
    const isOpen = session.revoked_at === null && now < session.expires_at;
    const isIdle = session.kind === "session" && now - session.last_seen_at > IDLE_LIMIT_MS;
    return isOpen && !isIdle && session.epoch === administrator.session_epoch ? found : null;
  };

  const touch = async (id: string, now: number, address: string | null) => {
    try {
      if (held.touch(id, now)) await held.settle();
      else await db.write((tx) => touchSession(tx, id, now, address));
    } catch (error) {
      // A full disk must not keep the administrator from reading.
      log.warning("The last use of a session could not be stored", { error });
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
        session_id: null,
        stored: known?.password_hash ?? null,
        password,
        actor,
        event: "login",
        wrong: wrongCredentials,
      });
      if (known === null) throw wrongCredentials();
      const rehashed = passwords.needsRehash(known.password_hash) ? await passwords.hash(password) : null;
      const stored = begun.begin(origin, "password", async (tx) => {
        const current = await findAdministrator(tx);
        // The password or name may have changed during the comparison.
        if (current === null || current.password_hash !== known.password_hash || current.username !== username) {
          throw wrongCredentials();
        }
        if (rehashed !== null) await updateAdministrator(tx, current.id, { password_hash: rehashed });
        return { administrator_id: current.id, detail: {} };
      });
      return await stored.catch((error: unknown) => {
        if (isWithoutRoom(error)) return begun.beginHeld(origin, known);
        throw error;
      });
    },

    /** Sign-ins held in memory while the disk is full. */
    held,

    /**
     * Begins a session without a password for a person the provider identified. `admit` returns the administrator's id within the same
     * transaction and throws if the binding no longer holds; any other id is refused (401).
     */
    signInWithProvider: (origin: SignInOrigin, admit: Admit): Promise<SignInView> => begun.begin(origin, "oidc", admit),

    /** Asks for the current password again; see `ConfirmPassword`. */
    confirmPassword,

    /** Known clients (right passwords and live sessions), as keys of the throttle. */
    familiarClients: (): Promise<ReadonlySet<string>> => familiar.keys(),

    /**
     * The session of a token, judged by its row and the account's current state; null when it is invalid. Records `address`, and the use
     * unless the request is none: see `isUse`.
     */
    authenticate: async (
      token: string,
      via: Session["via"],
      address: string | null = null,
      /** Whether a person or a program asks, and not an open page by itself, which nobody may be looking at. */
      isUse = true,
    ): Promise<Session | null> => {
      const claims = await tokens.verify(token);
      if (claims === null) return null;
      const now = clock.now();
      const found = await findLive(claims.session_id, now);
      if (found === null) return null;
      const { session, administrator } = found;
      // The row knows when its token was issued, whatever the clock says now.
      const isIssued = claims.issued_at === Math.floor(session.created_at / 1000) * 1000;
      const isOurs = isIssued && session.administrator_id === claims.administrator_id;
      if (!isOurs || claims.epoch !== administrator.session_epoch) return null;
      // A sign-in keeps its first address; for a token, the last address reveals use by somebody else.
      const moved = session.kind === "api_token" && session.address !== address ? address : null;
      const isStale = now - session.last_seen_at >= TOUCH_EVERY_MS;
      // "Never used" would be wrong for a token that a program uses at once.
      const isUnused = session.kind === "api_token" && session.last_seen_at === session.created_at;
      const isNews = isStale || (isUnused && now > session.created_at) || moved !== null;
      if (isUse && isNews) await touch(session.id, now, moved);
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

    /** Whether the session of an earlier request is still valid, without counting as a use. For long responses such as event streams. */
    holds: async (session: Session): Promise<boolean> => {
      const found = await findLive(session.id, clock.now());
      return found !== null && found.session.administrator_id === session.administrator_id;
    },

    /** Ends this session or API token at once. */
    signOut: async (actor: Actor, session: Session): Promise<void> => {
      const wasHeld = held.end(session.id);
      try {
        await db.write(async (tx) => {
          await revokeSession(tx, session.id, clock.now());
          const subject = { kind: "administrator", id: session.administrator_id, name: session.username };
          await audit(tx, actor, { event: "logout", outcome: "ok", subject });
        });
      } catch (error) {
        if (!wasHeld || !isWithoutRoom(error)) throw error;
        log.error("The disk is full: a sign-out could not be written to the audit", { session_id: session.id });
      }
    },

    /** Ends every other sign-in and gives this one a new session. API tokens stay. Throws 403, 422, 429. */
    changePassword: async (origin: SignInOrigin, session: Session, input: unknown): Promise<SignInView> => {
      requireSignIn(session);
      const parsed = parseInput(PasswordChangeInput, input);
      const problem = passwordProblem(parsed.new_password, [session.username]);
      if (problem !== null) throw invalidInput({ new_password: problem });
      const administrator = await confirm(origin.actor, session, parsed.current_password, "password_changed");
      if (parsed.new_password === parsed.current_password) {
        throw invalidInput({ new_password: say("auth.password_unchanged") });
      }
      const hash = await passwords.hash(parsed.new_password);
      const started = await db.write(async (tx) => {
        const current = await findAdministrator(tx);
        if (current === null || current.password_hash !== administrator.password_hash) {
          throw invalidInput({ current_password: say("auth.password_changed_meanwhile") });
        }
        const now = clock.now();
        await updateAdministrator(tx, current.id, {
          password_hash: hash,
          is_password_change_required: false,
          password_changed_at: now,
          updated_at: now,
        });
        await revokeSignIns(tx, now);
        const next = await begun.start(tx, current, origin, "password");
        await audit(tx, origin.actor, { event: "password_changed", outcome: "ok", subject: subjectOf(current) });
        return next;
      });
      return await begun.view(started, administrator.id, false);
    },

    due_times: sessionDueTimes({ sign_in_ms: ABSOLUTE_LIMIT_MS, api_token_ms: longestTokenDays * DAY_MS }),

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

    /** The forms' token for a cookie session; see `http/middleware/csrf.ts`. */
    formToken: (session: Session): string => tokens.formToken(session.id),
    isFormToken: (session: Session, text: string): boolean => tokens.isFormToken(session.id, text),
  };
}
