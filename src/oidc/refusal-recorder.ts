import type { Actor, AuditRecord, RecordAudit } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { Database } from "../db/client.ts";
import { type AppError, PluginError } from "../errors.ts";
import type { Log } from "../log.ts";
import { oidcRefused, type Refusal, type RefusalReason, tokenReasons } from "./refusal.ts";
import { createAllowance } from "./request-limit.ts";

// Of what anybody can provoke from any number of addresses: thirty entries in hand, then one a minute in total.
const entries = { in_hand: 30, recovery_ms: 60_000 };

/** What needs an answer of the provider that holds as far as its form: told from a count of its own, which no stranger uses up. */
const ofProvider: ReadonlySet<RefusalReason> = new Set([
  "subject_not_bound",
  "already_bound",
  "id_token_missing",
  "token_response_invalid",
  ...tokenReasons,
]);

interface RefusalRecorderOptions {
  db: Database;
  clock: Clock;
  log: Log;
  audit: RecordAudit;
}

export interface RefusalRecorder {
  /** Writes down why, and gives the error that says nothing of it. */
  tell(actor: Actor, event: string, slug: string, refusal: Refusal): Promise<AppError>;
  /**
   * As `tell` for what strangers can provoke: of many at once some are left out of the audit and the log, and the next entry says
   * how many as `left_out`.
   */
  tellOfStranger(actor: Actor, event: string, slug: string, refusal: Refusal): Promise<AppError>;
}

/** Refusals of ways to the provider and back, for the audit and the log. */
export function refusalRecorder({ db, clock, log, audit }: RefusalRecorderOptions): RefusalRecorder {
  const byStrangers = { take: createAllowance(clock, entries), left_out: 0 };
  const byProvider = { take: createAllowance(clock, entries), left_out: 0 };

  const write = async (actor: Actor, event: string, slug: string, refusal: Refusal, leftOut: number) => {
    const { reason, cause, provider_error } = refusal;
    const detail = {
      method: "oidc",
      reason,
      ...(provider_error === undefined ? {} : { provider_error }),
      slug: slug.slice(0, 64),
      ...(leftOut === 0 ? {} : { left_out: leftOut }),
    };
    const record: AuditRecord = { event, outcome: "failed", detail };
    // The network's own words help whoever set the provider up; what the provider itself said is in none of them.
    log.warning("Sign-in with the identity provider failed", {
      reason,
      ...(cause instanceof PluginError ? { error: cause } : {}),
    });
    await db.write((tx) => audit(tx, actor, record));
  };

  return {
    tell: async (actor, event, slug, refusal) => {
      await write(actor, event, slug, refusal, 0);
      return oidcRefused();
    },
    tellOfStranger: async (actor, event, slug, refusal) => {
      const count = ofProvider.has(refusal.reason) ? byProvider : byStrangers;
      if (count.take()) {
        const leftOut = count.left_out;
        count.left_out = 0;
        await write(actor, event, slug, refusal, leftOut);
      } else count.left_out += 1;
      return oidcRefused();
    },
  };
}
