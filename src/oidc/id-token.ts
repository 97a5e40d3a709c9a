import { createHash } from "node:crypto";
import { compactVerify } from "jose";
import { type ClaimExpectations, judgeClaims } from "./claims.ts";
import { parseCompactJws, type SigningAlgorithm } from "./compact-jws.ts";
import { Refusal } from "./refusal.ts";

export interface IdTokenExpectations extends ClaimExpectations {
  /** The algorithms that the provider declares. */
  algorithms: readonly SigningAlgorithm[];
  /** The access token issued with it, for `at_hash`. */
  access_token: string | null;
  /** The exchanged code, for `c_hash`. */
  code: string;
}

/** Calls `verify` with the provider's key for a token, and once more with a refreshed key when the first fails. Throws `Refusal`. */
export type WithKey = (
  alg: SigningAlgorithm,
  kid: string | null,
  verify: (key: CryptoKey) => Promise<void>,
) => Promise<void>;

export interface Identity {
  issuer: string;
  subject: string;
}

/** The left half of the hash that the signature uses, in base64url (OpenID Connect Core, 3.1.3.6). */
function halfHash(alg: SigningAlgorithm, text: string): string {
  // Ed25519 hashes with SHA-512.
  const bits = alg === "EdDSA" ? "512" : alg.slice(-3);
  const whole = createHash(`sha${bits}`).update(text, "ascii").digest();
  return whole.subarray(0, whole.length / 2).toString("base64url");
}

async function verifySignature(token: string, alg: SigningAlgorithm, key: CryptoKey): Promise<void> {
  try {
    await compactVerify(token, key, { algorithms: [alg] });
  } catch (cause) {
    throw new Refusal("token_signature_wrong", { cause });
  }
}

/**
 * The subject of an ID token: the only source of the administrator's identity. Checks every rule here, even where the libraries check it
 * too, and always verifies the signature. Throws `Refusal` for the first broken rule.
 */
export async function judgeIdToken(token: string, expected: IdTokenExpectations, withKey: WithKey): Promise<Identity> {
  const { alg, kid, claims: members } = parseCompactJws(token, expected.algorithms);
  await withKey(alg, kid, (key) => verifySignature(token, alg, key));
  const claims = judgeClaims(members, expected);
  if (claims.at_hash !== undefined) {
    const isOurs = expected.access_token !== null && claims.at_hash === halfHash(alg, expected.access_token);
    if (!isOurs) throw new Refusal("token_hash_wrong");
  }
  if (claims.c_hash !== undefined && claims.c_hash !== halfHash(alg, expected.code)) {
    throw new Refusal("token_hash_wrong");
  }
  return { issuer: claims.iss, subject: claims.sub };
}
