import { notFound } from "../errors.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import type { Parts } from "../parts.ts";
import { describeBrowser } from "./browser.ts";
import type { HeldSessions } from "./held-sessions.ts";
import { findSignIn, revokeOtherSignIns, revokeSession, type SessionRow, signInLists } from "./queries.ts";
import { type Actor, type EndedSessionsView, type Session, SignInSessionView, sessionList } from "./schema.ts";
import { IDLE_LIMIT_MS } from "./sign-ins.ts";
import { requireSignIn } from "./step-up.ts";

interface SessionServiceOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  held: HeldSessions;
}

/** Live sign-ins, for the administrator to review and end; API tokens have their own list. */
export function sessionService({ db, clock, log, audit, held }: SessionServiceOptions) {
  const live = () => ({ now: clock.now(), idle_before: clock.now() - IDLE_LIMIT_MS });
  const subjectOf = (row: SessionRow) => {
    const { browser, system } = describeBrowser(row.user_agent);
    return {
      kind: "session",
      id: row.id,
      name: [browser, system, row.address].filter((each) => each !== null).join(", "),
    };
  };
  const viewFor =
    (current: Session) =>
    (row: SessionRow): SignInSessionView =>
      viewOf(SignInSessionView, { ...row, is_current: row.id === current.id, ...describeBrowser(row.user_agent) });

  /** A session without a row cannot be listed or named; without disk space it ends with the process. */
  const settleHeld = async () => {
    try {
      await held.settle();
    } catch (error) {
      log.warning("Sessions in memory could not be stored", { error });
    }
  };

  return {
    /** The list as `session` sees it. */
    listFor: (session: Session) =>
      listOperations({
        shape: sessionList,
        page: async (ask) => {
          await settleHeld();
          return await signInLists.page(db.read, live(), ask);
        },
        counts: (ask) => signInLists.counts(db.read, live(), ask),
        views: async (rows) => rows.map(viewFor(session)),
      }),

    /** Throws 404 for a sign-in that is no longer valid. */
    get: async (session: Session, id: string): Promise<SignInSessionView> => {
      const row = await findSignIn(db.read, live(), id);
      if (row === null) throw notFound("session", id);
      return viewFor(session)(row);
    },

    /** The session is refused from the next request on, and its event streams end. It may be the caller's own. */
    end: async (actor: Actor, session: Session, id: string): Promise<void> => {
      requireSignIn(session);
      await db.write(async (tx) => {
        const row = await findSignIn(tx, live(), id);
        if (row === null) throw notFound("session", id);
        await revokeSession(tx, id, clock.now());
        await audit(tx, actor, { event: "session_ended", outcome: "ok", subject: subjectOf(row) });
      });
    },

    /** Every sign-in but the caller's. API tokens stay. */
    endOthers: async (actor: Actor, session: Session): Promise<EndedSessionsView> => {
      requireSignIn(session);
      held.endOthers(session.id);
      return await db.write(async (tx) => {
        const ended = await revokeOtherSignIns(tx, session.id, clock.now());
        await audit(tx, actor, { event: "other_sessions_ended", outcome: "ok", detail: { ended } });
        return { ended };
      });
    },
  };
}
