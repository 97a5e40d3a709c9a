import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";

// Fernet (github.com/fernet/spec), as Python's `cryptography` writes it:
// base64url( 0x80 | seconds, 64 bits big-endian | IV, 128 bits | AES-128-CBC, PKCS #7 | HMAC-SHA256 of all before it )
const VERSION = 0x80;
const HEADER_BYTES = 1 + 8 + 16;
const BLOCK_BYTES = 16;
const HMAC_BYTES = 32;
const MINIMUM_BYTES = HEADER_BYTES + BLOCK_BYTES + HMAC_BYTES;

/** 16 bytes for signing, then 16 for encryption. */
export interface FernetKey {
  readonly signing: Buffer;
  readonly encryption: Buffer;
}

/** Decodes base64url with exactly Python's padding; null for any other text, including stray bits. */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return encodeBase64Url(bytes) === text ? bytes : null;
}

/** base64url with padding, as Python's `urlsafe_b64encode` writes it. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

/** Parses a 44-character key; null when invalid. */
export function parseFernetKey(text: string): FernetKey | null {
  const bytes = decodeBase64Url(text);
  if (bytes === null || bytes.length !== 32) return null;
  return { signing: bytes.subarray(0, 16), encryption: bytes.subarray(16) };
}

/** A new random key in its text form. */
export function generateFernetKey(): string {
  return encodeBase64Url(randomBytes(32));
}

/**
 * Encrypts to a token. `now` is in milliseconds and readable in the token without the key. `iv` is only for test vectors: reusing one
 * reveals equal beginnings.
 */
export function encryptFernet(key: FernetKey, plaintext: Uint8Array, now: number, iv = randomBytes(16)): string {
  const header = Buffer.alloc(9);
  header.writeUInt8(VERSION, 0);
  header.writeBigUInt64BE(BigInt(Math.floor(now / 1000)), 1);
  const cipher = createCipheriv("aes-128-cbc", key.encryption, iv);
  const signed = Buffer.concat([header, iv, cipher.update(plaintext), cipher.final()]);
  const hmac = createHmac("sha256", key.signing).update(signed).digest();
  return encodeBase64Url(Buffer.concat([signed, hmac]));
}

/** One error for every failure, so that nobody learns from the difference. */
function undecryptable(): AppError {
  return new AppError("undecryptable", 500, say("keys.secret_undecryptable"));
}

/**
 * Decrypts a token, whatever its time: stored secrets do not expire. The signature is compared in constant time, before decryption. Throws
 * `undecryptable`.
 */
export function decryptFernet(key: FernetKey, token: string): Buffer {
  const bytes = decodeBase64Url(token);
  if (bytes === null || bytes.length < MINIMUM_BYTES || bytes[0] !== VERSION) throw undecryptable();
  const signed = bytes.subarray(0, bytes.length - HMAC_BYTES);
  const hmac = createHmac("sha256", key.signing).update(signed).digest();
  if (!timingSafeEqual(hmac, bytes.subarray(bytes.length - HMAC_BYTES))) throw undecryptable();
  try {
    const decipher = createDecipheriv("aes-128-cbc", key.encryption, signed.subarray(9, HEADER_BYTES));
    return Buffer.concat([decipher.update(signed.subarray(HEADER_BYTES)), decipher.final()]);
  } catch {
    // Only a holder of the signing key gets here, so bad padding or a broken block may look like a bad signature.
    throw undecryptable();
  }
}

/** Like `decryptFernet`, with the first key that fits. Throws `undecryptable` when none does. */
export function decryptFernetWithAny(keys: readonly FernetKey[], token: string): Buffer {
  for (const [index, key] of keys.entries()) {
    try {
      return decryptFernet(key, token);
    } catch (error) {
      if (index === keys.length - 1) throw error;
    }
  }
  throw undecryptable();
}
