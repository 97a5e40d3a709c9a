import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createApprovalTokens } from "../../src/secrets/approval-tokens.ts";

const key = randomBytes(32);
const tokens = createApprovalTokens(key);
const subject = { run: "run-1", plan_hash: "a".repeat(64), approval_until: 1_780_000_000_000 };

describe("createApprovalTokens()", () => {
  test("gives 256 bits that say nothing but that they are right", () => {
    const token = tokens.token(subject);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(createApprovalTokens(key).token(subject)).toBe(token);
    expect(tokens.isToken(subject, token)).toBe(true);
  });

  test.each([
    ["another run", { run: "run-2" }],
    ["another plan", { plan_hash: "b".repeat(64) }],
    ["another time", { approval_until: subject.approval_until + 1 }],
  ])("gives %s another token", (_name, change) => {
    expect(tokens.isToken({ ...subject, ...change }, tokens.token(subject))).toBe(false);
  });

  test.each([
    ["nothing", ""],
    ["a longer text", `${tokens.token(subject)}A`],
    ["its padding", `${tokens.token(subject)}=`],
    ["other characters", "é".repeat(43)],
    ["the same bytes spelt otherwise", respelt(tokens.token(subject))],
  ])("takes %s for no token", (_name, text) => {
    expect(tokens.isToken(subject, text)).toBe(false);
  });

  test("ends every link when the session key is another", () => {
    expect(createApprovalTokens(randomBytes(32)).isToken(subject, tokens.token(subject))).toBe(false);
  });
});

/** Base64 of 32 bytes leaves two bits over: another last character decodes to the same. */
function respelt(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(token.at(-1) ?? "");
  return token.slice(0, -1) + (alphabet[last ^ 1] ?? "");
}
