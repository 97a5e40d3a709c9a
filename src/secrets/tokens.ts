import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { compactVerify, errors, SignJWT } from "jose";
import * as v from "valibot";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";

const ALGORITHM = "HS256";
const TYPE = "tidemark-session+jwt";
const ISSUER = "tidemark";
const AUDIENCE = "tidemark-administrator";
const MINIMUM_KEY_BYTES = 32;
const MAXIMUM_TOKEN_CHARACTERS = 4096;

const Header = v.strictObject({ alg: v.literal(ALGORITHM), typ: v.literal(TYPE) });

const seconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const identifier = v.pipe(v.string(), v.minLength(1), v.maxLength(64));
const Payload = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    iss: v.literal(ISSUER),
    aud: v.literal(AUDIENCE),
    sub: identifier,
    jti: identifier,
    iat: seconds,
    exp: seconds,
    epoch: seconds,
  }),
);

/** The content of a session token. It proves nothing alone: the session's row and the account's epoch decide at each request. */
export interface SessionClaims {
  /** The administrator's stable id. */
  readonly administrator_id: string;
  /** The session's row. Revocation uses this and never the token's text, which is not unique. */
  readonly session_id: string;
  readonly epoch: number;
  /** Milliseconds, a whole second. */
  readonly issued_at: number;
  readonly expires_at: number;
}

export interface SessionTokens {
  sign(claims: SessionClaims): Promise<string>;
  /** Null for anything but a valid, unexpired token of ours. */
  verify(token: string): Promise<SessionClaims | null>;
  /**
   * What the forms of a session must send back: needs no storage, ends with the session, and reveals nothing of its token. Each call masks
   * it differently, so that the sizes of compressed pages reveal nothing about it.
   */
  formToken(sessionId: string): string;
  isFormToken(sessionId: string, text: string): boolean;
  /** From now on signs with this key and accepts no other. Throws for a key of less than 256 bits. */
  useKey(key: Uint8Array): void;
}

// Base64 ignores trailing bits, so several texts decode to one signature; only the one we wrote is accepted.
function isCanonical(token: string): boolean {
  return token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
}

function requireLength(key: Uint8Array): Uint8Array {
  if (key.length >= MINIMUM_KEY_BYTES) return key;
  throw new AppError(
    "invalid_keys",
    500,
    say("keys.session_key_short", { bits: key.length * 8, limit: MINIMUM_KEY_BYTES * 8 }),
  );
}

const xor = (a: Uint8Array, b: Uint8Array) => Uint8Array.from(a, (byte, index) => byte ^ (b[index] ?? 0));

/** A fresh one-time pad, and the secret under it. */
function mask(secret: Uint8Array): string {
  const pad = randomBytes(secret.length);
  return Buffer.concat([pad, xor(secret, pad)]).toString("base64url");
}

/**
 * The secret of `length` bytes; null for any other text. A bare secret passes: pages from before masking carry it, and no page that is
 * compressed does.
 */
function unmask(text: string, length: number): Uint8Array | null {
  const bytes = Buffer.from(text.slice(0, length * 4), "base64url");
  if (bytes.toString("base64url") !== text) return null;
  if (bytes.length === length) return bytes;
  return bytes.length === length * 2 ? xor(bytes.subarray(0, length), bytes.subarray(length)) : null;
}

/** Signs and verifies session tokens: JWT, HS256 only (RFC 7519, RFC 8725). Throws for a key of less than 256 bits. */
export function createSessionTokens(firstKey: Uint8Array, clock: Clock): SessionTokens {
  let key = requireLength(firstKey);
  const verifySignature = async (token: string) => {
    try {
      return await compactVerify(token, key, { algorithms: [ALGORITHM] });
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };
  const formToken = (sessionId: string) => createHmac("sha256", key).update(`form token ${sessionId}`).digest();
  return {
    useKey: (next) => {
      key = requireLength(next);
    },
    formToken: (sessionId) => mask(formToken(sessionId)),
    isFormToken: (sessionId, text) => {
      const wanted = formToken(sessionId);
      const given = unmask(text, wanted.length);
      return given !== null && timingSafeEqual(wanted, given);
    },
    sign: (claims) =>
      new SignJWT({ epoch: claims.epoch })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(claims.administrator_id)
        .setJti(claims.session_id)
        .setIssuedAt(Math.floor(claims.issued_at / 1000))
        .setExpirationTime(Math.floor(claims.expires_at / 1000))
        .sign(key),
    verify: async (token) => {
      if (token.length > MAXIMUM_TOKEN_CHARACTERS || !isCanonical(token)) return null;
      const verified = await verifySignature(token);
      if (verified === null || !v.is(Header, verified.protectedHeader)) return null;
      const payload = v.safeParse(Payload, Buffer.from(verified.payload).toString("utf8"));
      if (!payload.success) return null;
      const { iat, exp, sub, jti, epoch } = payload.output;
      // An issue time in the future means that the clock was set back since; the session's row decides whether it was issued then.
      if (exp <= clock.now() / 1000 || exp <= iat) return null;
      return { administrator_id: sub, session_id: jti, epoch, issued_at: iat * 1000, expires_at: exp * 1000 };
    },
  };
}
