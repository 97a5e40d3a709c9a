import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { AppError, notFound } from "../errors.ts";
import type { ApprovalTokens } from "../secrets/approval-tokens.ts";
import { findRun } from "./queries.ts";
import type { RunDetailView } from "./schema.ts";
import type { RunService } from "./service.ts";

export type ApprovalLinkService = ReturnType<typeof approvalLinkService>;

interface ApprovalLinkOptions {
  db: Database;
  clock: Clock;
  tokens: ApprovalTokens;
  runs: Pick<RunService, "get" | "decide">;
  /** Counts a wrong token. Throws or returns 429 for an address that has guessed too often, and null before. */
  countGuess: (address: string | null) => Error | null;
}

/** In place of a run that does not exist, so that the answer takes as long. */
const nobody = { run: "", plan_hash: "", approval_until: 0 };

/**
 * Consent through the one-time link of a message, by whoever has it: a link that is wrong, used up, overtaken by another plan or
 * too old is the same as one that never was.
 */
export function approvalLinkService({ db, clock, tokens, runs, countGuess }: ApprovalLinkOptions) {
  /**
   * The hash that the link is about. Throws 404, or 429 to whoever guesses. The token is looked at first: its 256 bits are not to be
   * guessed, so that wrong ones of a shared address must not lock out whoever has the right one.
   */
  const open = async (id: string, token: string, address: string | null): Promise<string> => {
    const run = await findRun(db.read, id);
    const subject =
      run === null || run.plan_hash === null || run.approval_until === null
        ? null
        : { run: id, plan_hash: run.plan_hash, approval_until: run.approval_until };
    const isOurs = tokens.isToken(subject ?? nobody, token);
    if (!isOurs || subject === null) throw countGuess(address) ?? notFound("page", "/approvals");
    const isOpen = run?.state === "pending" && run.approval === "awaiting" && subject.approval_until > clock.now();
    // No guess: somebody who has the link came twice, or late.
    if (!isOpen) throw notFound("page", "/approvals");
    return subject.plan_hash;
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
