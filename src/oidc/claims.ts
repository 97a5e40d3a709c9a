import * as v from "valibot";
import { Refusal } from "./refusal.ts";

/** How far the provider's clock may deviate from ours. */
const TOLERANCE_SECONDS = 60;

const text = v.pipe(v.string(), v.maxLength(2048));
const instant = v.pipe(v.number(), v.finite(), v.minValue(0));

const Claims = v.object({
  iss: text,
  sub: v.string(),
  aud: v.union([text, v.pipe(v.array(text), v.minLength(1), v.maxLength(32))]),
  exp: instant,
  iat: instant,
  nonce: text,
  azp: v.optional(text),
  nbf: v.optional(instant),
  auth_time: v.optional(instant),
  at_hash: v.optional(text),
  c_hash: v.optional(text),
  typ: v.optional(text),
  token_use: v.optional(text),
});
export type Claims = v.InferOutput<typeof Claims>;

export interface ClaimExpectations {
  issuer: string;
  client_id: string;
  nonce: string;
  /** Milliseconds. */
  now: number;
}

/** 1 to 255 characters (OpenID Connect Core, 2) that are visible and that a database returns unchanged. */
function isSubject(sub: string): boolean {
  if (sub.length < 1 || sub.length > 255 || !sub.isWellFormed()) return false;
  return !/\p{Cc}/u.test(sub) && /[^\p{Z}\p{Cf}\s]/u.test(sub);
}

function requireAudience(claims: Claims, clientId: string): void {
  const audiences = typeof claims.aud === "string" ? [claims.aud] : claims.aud;
  if (!audiences.includes(clientId)) throw new Refusal("token_audience_wrong");
  if (audiences.length > 1 && claims.azp === undefined) throw new Refusal("token_audience_wrong");
  if (claims.azp !== undefined && claims.azp !== clientId) throw new Refusal("token_audience_wrong");
}

/**
 * A code is exchanged moments after it was issued, so an older token was made for something else. Its lifetime does not matter, because we
 * limit sessions ourselves.
 */
const MAXIMUM_AGE_SECONDS = 600;
function requireTimes({ exp, iat, nbf, auth_time }: Claims, now: number): void {
  if (now >= exp + TOLERANCE_SECONDS) throw new Refusal("token_expired");
  if (iat > now + TOLERANCE_SECONDS || iat < now - MAXIMUM_AGE_SECONDS) throw new Refusal("token_issued_at_wrong");
  if (exp <= iat) throw new Refusal("token_expired");
  if (nbf !== undefined && nbf > now + TOLERANCE_SECONDS) throw new Refusal("token_not_yet_valid");
  if (auth_time !== undefined && auth_time > now + TOLERANCE_SECONDS) throw new Refusal("token_issued_at_wrong");
}

/** Claims of logout tokens (`events`), and what some providers put into access and refresh tokens that otherwise look the same. */
function requirePurpose(members: Readonly<Record<string, unknown>>, claims: Claims): void {
  const isOther =
    Object.hasOwn(members, "events") ||
    (claims.typ !== undefined && !["id", "jwt"].includes(claims.typ.toLowerCase())) ||
    (claims.token_use !== undefined && claims.token_use !== "id");
  if (isOther) throw new Refusal("token_type_wrong");
}

/**
 * Validates every claim of an ID token of the code flow (OpenID Connect Core, 3.1.3.7), comparing texts byte by byte. Throws `Refusal`.
 */
export function judgeClaims(members: Readonly<Record<string, unknown>>, expected: ClaimExpectations): Claims {
  const parsed = v.safeParse(Claims, members);
  if (!parsed.success) throw new Refusal("token_claims_malformed");
  const claims = parsed.output;
  requirePurpose(members, claims);
  if (claims.iss !== expected.issuer) throw new Refusal("token_issuer_wrong");
  requireAudience(claims, expected.client_id);
  requireTimes(claims, expected.now / 1000);
  if (claims.nonce !== expected.nonce) throw new Refusal("token_nonce_wrong");
  if (!isSubject(claims.sub)) throw new Refusal("token_subject_invalid");
  return claims;
}
