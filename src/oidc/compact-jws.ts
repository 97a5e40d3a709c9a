import * as v from "valibot";
import { parseStrictObject } from "../strict-json.ts";
import { Refusal } from "./refusal.ts";

/** Signatures that only the holder of a private key can create (RFC 7518, 3.1; RFC 8037). Nothing else is accepted. */
export const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

// Far more than any ID token with a profile picture; the token endpoint's response is bounded too.
const MAXIMUM_TOKEN_CHARACTERS = 32_768;

/**
 * Header members that would take the key or the meaning from the token itself (RFC 7515, 4.1; RFC 7797). ID tokens should not have them
 * (OpenID Connect Core, 2), and they bypass the check against the JWKS.
 */
const refusedMembers = ["crit", "b64", "jku", "jwk", "x5u", "x5c", "enc", "zip", "cty"] as const;

const Header = v.object({
  alg: v.pipe(v.string(), v.maxLength(32)),
  typ: v.optional(v.string()),
  kid: v.optional(v.pipe(v.string(), v.maxLength(255))),
});

export interface CompactJws {
  alg: SigningAlgorithm;
  kid: string | null;
  claims: Readonly<Record<string, unknown>>;
}

/** Base64url without padding has one text for each value, but decoders accept others too; only a round trip detects them. */
function decodeCanonical(part: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return null;
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}

export function asSigningAlgorithm(name: string): SigningAlgorithm | null {
  return signingAlgorithms.find((algorithm) => algorithm === name) ?? null;
}

/**
 * Splits a compact JWS with a JSON payload and checks its form and header; the signature is still to be verified. `algorithms` are the
 * provider's. Throws `Refusal`.
 */
export function parseCompactJws(token: string, algorithms: readonly SigningAlgorithm[]): CompactJws {
  if (token.length > MAXIMUM_TOKEN_CHARACTERS) throw new Refusal("token_malformed");
  const parts = token.split(".");
  // Five parts are an encrypted token, two an unsecured one.
  if (parts.length !== 3) throw new Refusal("token_malformed");
  const [header, payload, signature] = parts.map(decodeCanonical);
  if (!header || !payload || !signature) throw new Refusal("token_malformed");
  const members = parseStrictObject(header);
  const claims = parseStrictObject(payload);
  if (members === null || claims === null) throw new Refusal("token_malformed");
  const parsed = v.safeParse(Header, members);
  if (!parsed.success) throw new Refusal("token_header_refused");
  if (refusedMembers.some((name) => Object.hasOwn(members, name))) throw new Refusal("token_header_refused");
  const { alg: name, typ, kid } = parsed.output;
  // "at+jwt", "logout+jwt" and others are tokens for another purpose (RFC 8725, 3.11).
  if (typ !== undefined && !/^(?:application\/)?jwt$/i.test(typ)) throw new Refusal("token_type_wrong");
  const alg = asSigningAlgorithm(name);
  if (alg === null || !algorithms.includes(alg)) throw new Refusal("token_algorithm_refused");
  return { alg, kid: kid ?? null, claims };
}
