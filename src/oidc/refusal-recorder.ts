import type { AuditEvent, AuditRecord } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import { type AppError, PluginError } from "../errors.ts";
import { inEnglish } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { oidcRefused, type Refusal, type RefusalReason, tokenReasons } from "./refusal.ts";
import { createAllowance } from "./request-limit.ts";

// Anyone can provoke these from any number of addresses: thirty entries in reserve, then one a minute in total.
const entries = { in_hand: 30, recovery_ms: 60_000 };

/** These require a well-formed response from the provider, so they have their own budget that no stranger can exhaust. */
const ofProvider: ReadonlySet<RefusalReason> = new Set([
  "subject_not_bound",
  "already_bound",
  "id_token_missing",
  "token_response_invalid",
  ...tokenReasons,
]);

export interface RefusalRecorder {
  /** Records the reason and returns an error that does not reveal it. */
  tell(actor: Actor, event: AuditEvent, slug: string, refusal: Refusal): Promise<AppError>;
  /**
   * Like `tell`, for refusals that strangers can provoke: when there are many, some are left out of the audit and the log, and the next
   * entry counts them as `left_out`.
   */
  tellOfStranger(actor: Actor, event: AuditEvent, slug: string, refusal: Refusal): Promise<AppError>;
}

/** Records refused sign-ins and bindings in the audit and the log. */
export function refusalRecorder({
  db,
  clock,
  log,
  audit,
}: Pick<Parts, "db" | "clock" | "log" | "audit">): RefusalRecorder {
  const byStrangers = { take: createAllowance(clock, entries), left_out: 0 };
  const byProvider = { take: createAllowance(clock, entries), left_out: 0 };

  const write = async (actor: Actor, event: AuditEvent, slug: string, refusal: Refusal, leftOut: number) => {
    const { reason, cause, provider_error, clock: difference } = refusal;
    const detail = {
      method: "oidc",
      reason,
      ...(provider_error === undefined ? {} : { provider_error }),
      ...(difference === undefined ? {} : { clock: difference }),
      slug: slug.slice(0, 64),
      ...(leftOut === 0 ? {} : { left_out: leftOut }),
    };
    const record: AuditRecord = { event, outcome: "failed", detail };
    // The network error helps the administrator configure the provider; the provider's own text is never part of it.
    log.warning("Sign-in with the identity provider failed", {
      reason,
      ...(cause instanceof PluginError ? { error: cause } : {}),
      ...(difference === undefined ? {} : { clock: inEnglish(difference) }),
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
