import { randomBytes } from "node:crypto";

/** UUIDv7 (RFC 9562, 5.7): 48 bits of milliseconds, then randomness, so that ids sort by creation time. */
export function newId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `bits` of randomness as base64url text, for secrets that people or browsers carry. */
export function randomToken(bits: number): string {
  return randomBytes(Math.ceil(bits / 8)).toString("base64url");
}
