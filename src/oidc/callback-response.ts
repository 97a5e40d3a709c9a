import { Refusal } from "./refusal.ts";

const MAXIMUM_QUERY_CHARACTERS = 16_384;

/** RFC 6749, 4.1.2.1 and OpenID Connect Core, 3.1.2.6: the codes that may be logged; any other text is the sender's own. */
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

/** Parameters of other flows: tokens are never taken from an address. */
const foreignParameters = ["response", "id_token", "token", "access_token"];

/** The parameters of a callback; null when the query is longer than any real one. */
export function callbackParameters(query: string): URLSearchParams | null {
  return query.length > MAXIMUM_QUERY_CHARACTERS ? null : new URLSearchParams(query);
}

/** The state, if there is exactly one in the format we issue. */
export function stateOf(parameters: URLSearchParams | null): string | null {
  const [state, ...others] = parameters?.getAll("state") ?? [];
  return state !== undefined && others.length === 0 && /^[\w-]{43}$/.test(state) ? state : null;
}

/**
 * The code from the provider. No parameter may be repeated (RFC 6749, 3.1); `iss` must match the provider and must be present when it
 * promised to send it (RFC 9207). Throws `Refusal`.
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

/** Throws `Refusal` when a name is repeated. */
export function requireSingle(parameters: URLSearchParams): void {
  const names = [...parameters.keys()];
  if (new Set(names).size !== names.length) throw new Refusal("duplicate_parameter");
}
