import { importJWK } from "jose";
import * as v from "valibot";
import type { SigningAlgorithm } from "./compact-jws.ts";
import { Refusal } from "./refusal.ts";

/** A real provider's key set has a handful. */
const MAXIMUM_KEYS = 100;
const MINIMUM_RSA_BITS = 2048;
/** Beyond this, verifying costs more than a sign-in may. */
const MAXIMUM_RSA_BITS = 16_384;

const member = v.pipe(v.string(), v.maxLength(4096));

const Jwk = v.object({
  kty: v.picklist(["RSA", "EC", "OKP"]),
  kid: v.optional(v.pipe(v.string(), v.maxLength(255))),
  use: v.optional(v.literal("sig")),
  key_ops: v.optional(
    v.pipe(
      v.array(v.string()),
      v.check((operations) => operations.includes("verify")),
    ),
  ),
  alg: v.optional(v.string()),
  crv: v.optional(member),
  n: v.optional(member),
  e: v.optional(member),
  x: v.optional(member),
  y: v.optional(member),
});
type Jwk = v.InferOutput<typeof Jwk>;

/** The provider's keys that can verify signatures, public parts only. */
export type KeySet = readonly Jwk[];

const Document = v.object({ keys: v.pipe(v.array(v.unknown()), v.maxLength(MAXIMUM_KEYS)) });

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/**
 * Reads a JWKS. Skips keys for other uses, of unknown types (RFC 7517, 5), and those with a published private part. Throws `Refusal` when
 * it is no key set.
 */
export function parseKeySet(document: unknown): KeySet {
  const parsed = v.safeParse(Document, document);
  if (!parsed.success) throw new Refusal("jwks_invalid");
  return parsed.output.keys.flatMap((item) => {
    if (isObject(item) && (Object.hasOwn(item, "d") || Object.hasOwn(item, "k"))) return [];
    const key = v.safeParse(Jwk, item);
    return key.success ? [key.output] : [];
  });
}

function modulusBits(n: string): number {
  const bytes = Buffer.from(n, "base64url");
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first === -1) return 0;
  return (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24);
}

const curves: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521", EdDSA: "Ed25519" };

/** Whether this key may verify signatures of this algorithm: the key decides, never the token. */
function fits(key: Jwk, alg: SigningAlgorithm): boolean {
  if (key.alg !== undefined && key.alg !== alg) return false;
  if (alg.startsWith("RS") || alg.startsWith("PS")) {
    const bits = key.kty === "RSA" && key.n !== undefined ? modulusBits(key.n) : 0;
    return bits >= MINIMUM_RSA_BITS && bits <= MAXIMUM_RSA_BITS;
  }
  return key.kty === (alg === "EdDSA" ? "OKP" : "EC") && key.crv === curves[alg];
}

/**
 * The only key for a token: the one with its `kid`, or without a `kid` the only key that fits its algorithm. Throws `Refusal`:
 * `token_key_unknown`, or `token_key_ambiguous` when several fit, because trying them all would let the token choose.
 */
export async function chooseKey(keys: KeySet, alg: SigningAlgorithm, kid: string | null): Promise<CryptoKey> {
  const fitting = keys.filter((key) => fits(key, alg) && (kid === null || key.kid === kid));
  const [key, ...others] = fitting;
  if (key === undefined) throw new Refusal("token_key_unknown");
  if (others.length > 0) throw new Refusal("token_key_ambiguous");
  const { kty, crv, n, e, x, y } = key;
  const parts = Object.entries({ kty, crv, n, e, x, y }).filter(([, value]) => value !== undefined);
  try {
    const imported = await importJWK(Object.fromEntries(parts), alg);
    if (imported instanceof Uint8Array) throw new Refusal("jwks_invalid");
    return imported;
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal("jwks_invalid", { cause });
  }
}
