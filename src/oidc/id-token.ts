import { createHash } from "node:crypto";
import { compactVerify } from "jose";
import { type ClaimExpectations, judgeClaims } from "./claims.ts";
import { parseCompactJws, type SigningAlgorithm } from "./compact-jws.ts";
import { Refusal } from "./refusal.ts";

export interface IdTokenExpectations extends ClaimExpectations {
  /** What the provider says that it signs with. */
  algorithms: readonly SigningAlgorithm[];
  /** Came beside the ID token; what `at_hash` speaks of. */
  access_token: string | null;
  /** What was exchanged for the token; what `c_hash` speaks of. */
  code: string;
}

/** Hands the provider's key for a token to `verify`, and once more a newer one where the first does not do. Throws `Refusal`. */
export type WithKey = (
  alg: SigningAlgorithm,
  kid: string | null,
  verify: (key: CryptoKey) => Promise<void>,
) => Promise<void>;

export interface Identity {
  issuer: string;
  subject: string;
}

/** The left half of the hash that the signature uses, base64url (OpenID Connect Core, 3.1.3.6). */
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
 * Whom an ID token names: the only source of the administrator's identity. Every rule is judged here, whatever the libraries
 * below judge too; the signature is verified always. Throws `Refusal` with the first rule that is broken.
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
