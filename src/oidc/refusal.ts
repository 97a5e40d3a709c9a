import { AppError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";

/** Faults of an ID token. */
export const tokenReasons = [
  "token_malformed",
  "token_header_refused",
  "token_algorithm_refused",
  "token_key_unknown",
  "token_key_ambiguous",
  "token_signature_wrong",
  "token_claims_malformed",
  "token_issuer_wrong",
  "token_audience_wrong",
  "token_subject_invalid",
  "token_expired",
  "token_issued_at_wrong",
  "token_not_yet_valid",
  "token_nonce_wrong",
  "token_type_wrong",
  "token_hash_wrong",
] as const;

/** Of a token whose times do not fit what our clock shows. */
export const timeReasons: readonly RefusalReason[] = ["token_expired", "token_issued_at_wrong", "token_not_yet_valid"];

/** All causes that end a sign-in or binding without a result; only the audit names them. */
export const refusalReasons = [
  // The callback
  "state_unknown",
  "attempt_expired",
  "other_browser",
  "other_session",
  "other_provider",
  "duplicate_parameter",
  "malformed_response",
  "provider_error",
  "issuer_parameter_missing",
  "issuer_parameter_wrong",
  "code_missing",
  // Our own side
  "no_provider",
  "provider_disabled",
  "secret_unreadable",
  "provider_changed",
  "base_url_missing",
  "not_bound",
  "already_bound",
  "subject_not_bound",
  // The provider's responses
  "provider_unreachable",
  "metadata_invalid",
  "metadata_issuer_wrong",
  "endpoint_not_https",
  "jwks_invalid",
  "token_endpoint_refused",
  "token_response_invalid",
  "id_token_missing",
  ...tokenReasons,
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Thrown inside the feature. Only its reason reaches the audit; the outside learns nothing. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  /** For `provider_error`: which known error it was; the rest of the text is dropped. */
  readonly provider_error: string | undefined;
  /** By how much our clock differs from the provider's, if that may be why. */
  readonly clock: Message | undefined;

  constructor(reason: RefusalReason, options: { cause?: unknown; provider_error?: string; clock?: Message } = {}) {
    super(`Refused: ${reason}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Refusal";
    this.reason = reason;
    this.provider_error = options.provider_error;
    this.clock = options.clock;
  }
}

/** The same error for every cause: an attacker must not learn how far an attempt got. */
export function oidcRefused(): AppError {
  return new AppError("oidc_refused", 403, say("oidc.refused"));
}
