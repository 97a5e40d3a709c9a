import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { AppError, notFound } from "../errors.ts";
import type { ApprovalTokens } from "../secrets/approval-tokens.ts";
import { findRun } from "./queries.ts";
import type { RunDetailView } from "./schema.ts";
import type { RunService } from "./service.ts";

export type ApprovalLinkService = ReturnType<typeof approvalLinkService>;

/** One look at a token, begun; exactly one of its ends must be called. */
interface Attempt {
  succeed(): void;
  /** Counts a guess; an error in place of "no such link" while there are too many of them. */
  fail(): Error | null;
  abandon(): void;
}

interface ApprovalLinkOptions {
  db: Database;
  clock: Clock;
  tokens: ApprovalTokens;
  runs: Pick<RunService, "get" | "decide">;
  /** Throws 429 for an address that has guessed too often. */
  begin: (address: string | null) => Attempt;
}

/** In place of a run that does not exist, so that the answer takes as long. */
const nobody = { run: "", plan_hash: "", approval_until: 0 };

/**
 * Consent through the one-time link of a message, by whoever has it: a link that is wrong, used up, overtaken by another plan or
 * too old is the same as one that never was.
 */
export function approvalLinkService({ db, clock, tokens, runs, begin }: ApprovalLinkOptions) {
  /** The hash that the link is about. Throws 404, or 429 to whoever guesses. */
  const open = async (id: string, token: string, address: string | null): Promise<string> => {
    const attempt = begin(address);
    let isClosed = false;
    try {
      const run = await findRun(db.read, id);
      const subject =
        run === null || run.plan_hash === null || run.approval_until === null
          ? null
          : { run: id, plan_hash: run.plan_hash, approval_until: run.approval_until };
      const isOurs = tokens.isToken(subject ?? nobody, token) && subject !== null;
      isClosed = true;
      if (!isOurs) throw attempt.fail() ?? notFound("page", "/approvals");
      const isOpen = run?.state === "pending" && run.approval === "awaiting" && subject.approval_until > clock.now();
      if (isOpen) {
        attempt.succeed();
        return subject.plan_hash;
      }
      // No guess: somebody who has the link came twice, or late.
      attempt.abandon();
      throw notFound("page", "/approvals");
    } finally {
      if (!isClosed) attempt.abandon();
    }
  };

  return {
    /** The run with its plan, while the link is good. Changes nothing: programs that show previews ask for it too. */
    get: async (id: string, token: string, address: string | null): Promise<RunDetailView> => {
      await open(id, token, address);
      return await runs.get(id);
    },

    /** Approves or refuses, and uses the link up. Throws 404 where `get` would, and when somebody was faster. */
    decide: async (actor: Actor, id: string, token: string, decision: unknown): Promise<RunDetailView> => {
      const plan_hash = await open(id, token, actor.address);
      try {
        await runs.decide(actor, id, { plan_hash, decision }, "link");
      } catch (error) {
        if (error instanceof AppError && error.status === 409) throw notFound("page", "/approvals");
        throw error;
      }
      return await runs.get(id);
    },
  };
}
