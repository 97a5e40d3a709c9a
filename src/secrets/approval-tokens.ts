import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const LABEL = "tidemark approval link 1";

/** What a token approves; a change in any of the three gives another token. */
export interface ApprovalSubject {
  run: string;
  plan_hash: string;
  /** Milliseconds UTC. */
  approval_until: number;
}

export interface ApprovalTokens {
  /** 256 bits as base64url. The same subject gives the same token, so tokens need not be stored. */
  token(subject: ApprovalSubject): string;
  isToken(subject: ApprovalSubject, text: string): boolean;
  /** Accepts only tokens of this session key from now on: every link already sent is void. */
  useKey(sessionKey: Uint8Array): void;
}

/** Tokens of one-time links, under a key derived from the session key (HKDF, RFC 5869): rotating that voids every link. */
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
    // Compares the texts, not the decoded bytes: several texts decode to the same bytes.
    isToken: (subject, text) => {
      const wanted = Buffer.from(digest(subject).toString("base64url"));
      const given = Buffer.from(text);
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    },
  };
}
