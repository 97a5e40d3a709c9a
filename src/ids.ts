import { randomBytes } from "node:crypto";

/** How far ids may run ahead of the clock, or the clock be set back, without losing their order. */
const maxAheadMs = 1_000;

let lastInstant = 0;
let counter = 0;

/**
 * UUIDv7 (RFC 9562, 5.7 and 6.2): 48 bits of milliseconds, a counter of 12 bits within the millisecond, then randomness. Ids of one process
 * sort in order of creation, so a page key is also the order of events; when the counter is used up, the next millisecond begins early.
 */
export function newId(now: number): string {
  const bytes = randomBytes(16);
  const isBehind = now <= lastInstant && lastInstant - now < maxAheadMs;
  if (isBehind && counter < 0xfff) counter += 1;
  else {
    lastInstant = isBehind ? lastInstant + 1 : now;
    counter = bytes.readUInt16BE(6) & 0x3ff;
  }
  bytes.writeUIntBE(lastInstant, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `bits` of randomness as base64url text, for secrets that people or browsers carry. */
export function randomToken(bits: number): string {
  return randomBytes(Math.ceil(bits / 8)).toString("base64url");
}
