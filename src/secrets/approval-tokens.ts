import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const LABEL = "tidemark approval link 1";

/** What a token gives consent to; with any other of the three it is another token. */
export interface ApprovalSubject {
  run: string;
  plan_hash: string;
  /** Milliseconds UTC. */
  approval_until: number;
}

export interface ApprovalTokens {
  /** 256 bits as base64url. The same subject has the same token, so that it need not be stored to be known again. */
  token(subject: ApprovalSubject): string;
  isToken(subject: ApprovalSubject, text: string): boolean;
  /** From now on knows the tokens of this session key alone: every link that is out has ended. */
  useKey(sessionKey: Uint8Array): void;
}

/**
 * Tokens of one-time links, from a key of their own that is derived from the session key (HKDF, RFC 5869): whoever rotates that
 * ends every link that is out.
 */
export function createApprovalTokens(firstSessionKey: Uint8Array): ApprovalTokens {
  const derive = (sessionKey: Uint8Array) =>
    new Uint8Array(hkdfSync("sha256", sessionKey, new Uint8Array(0), LABEL, 32));
  let key = derive(firstSessionKey);
  const digest = ({ run, plan_hash, approval_until }: ApprovalSubject) =>
    createHmac("sha256", key)
      .update(JSON.stringify([run, plan_hash, approval_until]))
      .digest();
  return {
    useKey: (sessionKey) => {
      key = derive(sessionKey);
    },
    token: (subject) => digest(subject).toString("base64url"),
    // The texts are compared, not what they decode to: several texts decode to the same bytes.
    isToken: (subject, text) => {
      const wanted = Buffer.from(digest(subject).toString("base64url"));
      const given = Buffer.from(text);
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    },
  };
}
