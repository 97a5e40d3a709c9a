import { constants, createHash, createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";

export interface TestKey {
  alg: string;
  kid: string;
  private_key: KeyObject;
  /** As it would be published. */
  jwk: Readonly<Record<string, unknown>>;
}

/** Of a provider, which may give its keys no names. */
export type PublishedKey = Omit<TestKey, "kid"> & { kid: string | undefined };

const curves: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

function pairFor(alg: string, bits: number) {
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  const namedCurve = curves[alg];
  if (namedCurve !== undefined) return generateKeyPairSync("ec", { namedCurve });
  return generateKeyPairSync("rsa", { modulusLength: bits });
}

/** A fresh key with its public JWK; RSA of 2048 bits unless told otherwise. */
export function makeKey(alg: string, kid: string, bits = 2048): TestKey {
  const { privateKey, publicKey } = pairFor(alg, bits);
  const jwk: Readonly<Record<string, unknown>> = { ...publicKey.export({ format: "jwk" }) };
  return { alg, kid, private_key: privateKey, jwk: { ...jwk, kid, alg, use: "sig" } };
}

export function base64url(text: string | Uint8Array): string {
  return Buffer.from(text).toString("base64url");
}

/** Signs any header and payload, also those that no library would write. */
export function signRaw(header: string, payload: string | Uint8Array, alg: string, key: KeyObject): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${base64url(signatureOf(input, alg, key))}`;
}

function signatureOf(input: string, alg: string, key: KeyObject): Uint8Array {
  const data = Buffer.from(input);
  if (alg === "EdDSA") return signBytes(null, data, key);
  const hash = `sha${alg.slice(-3)}`;
  if (alg.startsWith("ES")) return signBytes(hash, data, { key, dsaEncoding: "ieee-p1363" });
  if (!alg.startsWith("PS")) return signBytes(hash, data, key);
  return signBytes(hash, data, {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
}

export function signHmac(header: string, payload: string, secret: string | Uint8Array, bits = 256): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${base64url(createHmac(`sha${bits}`, secret).update(input).digest())}`;
}

/** The left half of a hash, as `at_hash` and `c_hash` are made. */
export function halfHash(text: string, bits = 256): string {
  const whole = createHash(`sha${bits}`).update(text).digest();
  return base64url(whole.subarray(0, whole.length / 2));
}
