import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { CompactSign, SignJWT, UnsecuredJWT } from "jose";
import { createSessionTokens, type SessionClaims } from "../../src/secrets/tokens.ts";

const key = randomBytes(32);
const issuedAt = 1_700_000_000_000;
const claims: SessionClaims = {
  administrator_id: "018bcfe5-6800-7000-8000-000000000001",
  session_id: "018bcfe5-6800-7000-8000-000000000002",
  epoch: 3,
  issued_at: issuedAt,
  expires_at: issuedAt + 3_600_000,
};
const payload = {
  iss: "tidemark",
  aud: "tidemark-administrator",
  sub: claims.administrator_id,
  jti: claims.session_id,
  iat: issuedAt / 1000,
  exp: issuedAt / 1000 + 3600,
  epoch: 3,
};
const header = { alg: "HS256", typ: "tidemark-session+jwt" };

let now = issuedAt;
const tokens = createSessionTokens(key, { now: () => now, elapsed: () => 0, sleep: () => Promise.resolve() });

const signed = (changes: Record<string, unknown>, protectedHeader = header, secret: Uint8Array = key) => {
  const content = Object.fromEntries(
    Object.entries({ ...payload, ...changes }).filter(([, value]) => value !== undefined),
  );
  return new CompactSign(Buffer.from(JSON.stringify(content))).setProtectedHeader(protectedHeader).sign(secret);
};

describe("createSessionTokens()", () => {
  test("verify() gives back what sign() took", async () => {
    expect(await tokens.verify(await tokens.sign(claims))).toEqual(claims);
    expect(await tokens.verify(await signed({}))).toEqual(claims);
  });

  test.each([
    ["the end has come", 3_600_000, null],
    ["one second is left", 3_599_000, claims],
    // Whether it holds is said by its row.
    ["our clock went back by a day", -86_400_000, claims],
  ])("verify() when %s", async (_name, offset, expected) => {
    const token = await tokens.sign(claims);
    now = issuedAt + offset;
    expect(await tokens.verify(token)).toEqual(expected);
    now = issuedAt;
  });

  const hostile: [string, () => string | Promise<string>][] = [
    ["an empty text", () => ""],
    ["no token", () => "a.b.c"],
    ["5,000 characters", async () => `${await signed({ extra: "x".repeat(5000) })}`],
    ["no signature", () => new UnsecuredJWT(payload).encode()],
    ["an empty signature", async () => (await signed({})).replace(/[^.]+$/, "")],
    ["HS512", () => signed({}, { ...header, alg: "HS512" }, randomBytes(64))],
    ["HS512 with our key", () => signed({}, { ...header, alg: "HS512" }, Buffer.concat([key, key]))],
    ["another key", () => signed({}, header, randomBytes(32))],
    ["no type", () => new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(key)],
    ["the type of an ID token", () => signed({}, { ...header, typ: "JWT" })],
    [
      "a further header",
      () => new SignJWT(payload).setProtectedHeader({ ...header, kid: "../../etc/passwd" }).sign(key),
    ],
    ["another issuer", () => signed({ iss: "https://idp.example" })],
    ["another audience", () => signed({ aud: "other" })],
    ["several audiences", () => signed({ aud: ["tidemark-administrator", "other"] })],
    ["a further claim", () => signed({ admin: true })],
    ["an end in text", () => signed({ exp: "9999999999" })],
    ["an end in fractions", () => signed({ exp: payload.exp + 0.5 })],
    ["an end before its begin", () => signed({ iat: payload.exp, exp: payload.iat })],
    ["a blank subject", () => signed({ sub: "" })],
    ["a payload that is no JSON", () => new CompactSign(Buffer.from("{")).setProtectedHeader(header).sign(key)],
    ...["iss", "aud", "sub", "jti", "iat", "exp", "epoch"].map((name): [string, () => Promise<string>] => [
      `no ${name}`,
      () => signed({ [name]: undefined }),
    ]),
  ];
  test.each(hostile)("verify() refuses a token with %s", async (_name, make) => {
    expect(await tokens.verify(await make())).toBeNull();
  });

  test("verify() refuses each token whose last character was changed, whatever base64 makes of it", async () => {
    const token = await tokens.sign(claims);
    const others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=".split("");
    for (const last of others.filter((char) => char !== token.at(-1))) {
      expect(await tokens.verify(token.slice(0, -1) + last)).toBeNull();
    }
  });

  describe("formToken()", () => {
    const [id, other] = ["018bcfe5-6800-7000-8000-000000000002", "018bcfe5-6800-7000-8000-000000000003"];
    const halves = (text: string) => {
      const bytes = Buffer.from(text, "base64url");
      return [bytes.subarray(0, 32), bytes.subarray(32)] as const;
    };

    test("shares no half between two calls, and each is the session's", () => {
      const texts = Array.from({ length: 50 }, () => tokens.formToken(id));
      const parts = texts.flatMap((text) => halves(text).map((half) => half.toString("hex")));
      expect(new Set(parts).size).toBe(100);
      for (const text of texts)
        expect([tokens.isFormToken(id, text), tokens.isFormToken(other, text)]).toEqual([true, false]);
    });

    test("hides one secret under every pad, which pages from before masking carry bare", () => {
      const bare = () => {
        const [pad, hidden] = halves(tokens.formToken(id));
        return Buffer.from(pad.map((byte, index) => byte ^ (hidden[index] ?? 0))).toString("base64url");
      };
      expect(bare()).toBe(bare());
      expect(tokens.isFormToken(id, bare())).toBe(true);
      expect(tokens.isFormToken(other, bare())).toBe(false);
    });

    test.each([
      ["nothing", () => ""],
      ["zeros in both halves", () => Buffer.alloc(64).toString("base64url")],
      ["a half", () => tokens.formToken(id).slice(0, 43)],
      ["more", () => `${tokens.formToken(id)}A`],
      ["another last character", () => tokens.formToken(id).replace(/.$/, "-")],
      ["one bit changed", () => tokens.formToken(id).replace(/^./, (char) => (char === "A" ? "B" : "A"))],
      ["a hundred thousand characters", () => tokens.formToken(id).repeat(1200)],
    ])("refuses %s", (_name, make) => {
      expect(tokens.isFormToken(id, make())).toBe(false);
    });
  });

  test("refuses a key of less than 256 bits", () => {
    expect(() =>
      createSessionTokens(randomBytes(31), { now: () => 0, elapsed: () => 0, sleep: () => Promise.resolve() }),
    ).toThrow("248 bits; it must have at least 256");
  });
});
