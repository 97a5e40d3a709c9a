import { Refusal } from "./refusal.ts";

const MAXIMUM_QUERY_CHARACTERS = 16_384;

/** RFC 6749, 4.1.2.1 and OpenID Connect Core, 3.1.2.6: what may be written down; every other word is the sender's own. */
const knownErrors = [
  "access_denied",
  "invalid_request",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_response_type",
  "interaction_required",
  "login_required",
  "account_selection_required",
  "consent_required",
];

/** Answers of other flows: no token is ever taken from an address. */
const foreignParameters = ["response", "id_token", "token", "access_token"];

/** The query of a callback; null when it is longer than any real one. */
export function callbackParameters(query: string): URLSearchParams | null {
  return query.length > MAXIMUM_QUERY_CHARACTERS ? null : new URLSearchParams(query);
}

/** The state, where there is exactly one of the form that we give out. */
export function stateOf(parameters: URLSearchParams | null): string | null {
  const [state, ...others] = parameters?.getAll("state") ?? [];
  return state !== undefined && others.length === 0 && /^[\w-]{43}$/.test(state) ? state : null;
}

/**
 * The code that the provider sent back. No parameter may stand twice (RFC 6749, 3.1), `iss` must be the provider's and must
 * be there when it promised to send it (RFC 9207). Throws `Refusal`.
 */
export function codeOf(parameters: URLSearchParams, expected: { issuer: string; is_iss_promised: boolean }): string {
  const iss = parameters.get("iss");
  if (iss === null && expected.is_iss_promised) throw new Refusal("issuer_parameter_missing");
  if (iss !== null && iss !== expected.issuer) throw new Refusal("issuer_parameter_wrong");
  const error = parameters.get("error");
  if (error !== null) {
    throw new Refusal("provider_error", { provider_error: knownErrors.includes(error) ? error : "other" });
  }
  if (foreignParameters.some((name) => parameters.has(name))) throw new Refusal("malformed_response");
  const code = parameters.get("code");
  if (code === null || !/^[\x20-\x7e]{1,4096}$/.test(code)) throw new Refusal("code_missing");
  return code;
}

/** Throws `Refusal` when one name stands twice. */
export function requireSingle(parameters: URLSearchParams): void {
  const names = [...parameters.keys()];
  if (new Set(names).size !== names.length) throw new Refusal("duplicate_parameter");
}
