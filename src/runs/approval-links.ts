import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { AppError, notFound } from "../errors.ts";
import type { ApprovalTokens } from "../secrets/approval-tokens.ts";
import { findRun } from "./queries.ts";
import type { RunDetailView } from "./schema.ts";
import type { RunService } from "./service.ts";

interface ApprovalLinkOptions {
  db: Database;
  clock: Clock;
  tokens: ApprovalTokens;
  runs: Pick<RunService, "get" | "decide">;
  /** Counts a wrong token. Throws or returns a 429 for an address with too many guesses; otherwise returns null. */
  countGuess: (address: string | null) => Error | null;
}

/** Checked if the run does not exist, so that the response takes the same time. */
const nobody = { run: "", plan_hash: "", approval_until: 0 };

/**
 * Approval through the one-time link in a notification, by anyone who has it. A wrong, used, superseded or expired link looks like one that
 * never existed.
 */
export function approvalLinkService({ db, clock, tokens, runs, countGuess }: ApprovalLinkOptions) {
  /**
   * Returns the hash of the plan that the link is for; throws 404, or 429 after too many guesses. The token is checked first: its 256 bits
   * cannot be guessed, and wrong tokens from a shared address must not lock out the holder of the right one.
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
    // Not a guess: the link is genuine, but used or expired.
    if (!isOpen) throw notFound("page", "/approvals");
    return subject.plan_hash;
  };

  return {
    /** The run with its plan while the link is valid. Changes nothing, because link previews request it too. */
    get: async (id: string, token: string, address: string | null): Promise<RunDetailView> => {
      await open(id, token, address);
      return await runs.get(id);
    },

    /** Approves or refuses, and uses up the link. Throws 404 where `get` would, or if the decision was made meanwhile. */
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
