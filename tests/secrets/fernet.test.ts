import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  decodeBase64Url,
  decryptFernet,
  decryptFernetWithAny,
  encodeBase64Url,
  encryptFernet,
  generateFernetKey,
  parseFernetKey,
} from "../../src/secrets/fernet.ts";

// Made with Python's cryptography 50.0.2: Fernet(key)._encrypt_from_parts(data, seconds, iv).
const pythonKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const vectors = [
  {
    now: 499_162_800_000,
    iv: "000102030405060708090a0b0c0d0e0f",
    text: "hello",
    token: "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0OD4_9EBVfNSDZ7XtRxaHNdkW99QsUAt9pmRctkSzQxwX8ezo1JYkB0XAhlhuGaD6Beg==",
  },
  {
    now: 0,
    iv: "000102030405060708090a0b0c0d0e0f",
    text: "",
    token: "gAAAAAAAAAAAAAECAwQFBgcICQoLDA0OD7eteCFsVWnW2hqrh_bbxWHLKJrzxA20ewEBMzw7nDvsEBq9eFlezg07tiHgpCCA2w==",
  },
  {
    now: 1_732_147_200_000,
    iv: "6465666768696a6b6c6d6e6f70717273",
    text: "Gezeiten 潮汐 🌊 café",
    token:
      "gAAAAABnPngAZGVmZ2hpamtsbW5vcHFyc0chTynEelr8L75v7SadX4IwR3xLt_LkutwyllGpLFHHwaqV065R1BdfLG3EV3H1qgFawqAIoCwe0_8RqbSEdA8=",
  },
  {
    now: 1_732_147_200_000,
    iv: "ffffffffffffffffffffffffffffffff",
    text: "0123456789abcdef",
    token:
      "gAAAAABnPngA_____________________7rdbFfrd4l0gLKqz2fuxbp8zQYClc1qfFk6izn9jYUtTTmrTtX5o7UtEOrH6Z8g3MRPhvPaeYCaYP1iJ__khZs=",
  },
];

function key(text: string) {
  const parsed = parseFernetKey(text);
  if (parsed === null) throw new Error(`not a key: ${text}`);
  return parsed;
}

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

const whole = vectors[0]?.token ?? "";

/** The token with one byte changed, encoded again, so that only the content is wrong. */
function withByte(position: number): string {
  const bytes = decodeBase64Url(whole) ?? Buffer.alloc(0);
  const at = position < 0 ? bytes.length + position : position;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return encodeBase64Url(bytes);
}

describe("encryptFernet()", () => {
  test.each(vectors)("writes what Python writes for $text", ({ now, iv, text, token }) => {
    expect(encryptFernet(key(pythonKey), Buffer.from(text), now, Buffer.from(iv, "hex"))).toBe(token);
  });

  test("uses a new initialisation vector each time", () => {
    const one = encryptFernet(key(pythonKey), Buffer.from("same"), 0);
    expect(encryptFernet(key(pythonKey), Buffer.from("same"), 0)).not.toBe(one);
  });
});

describe("decryptFernet()", () => {
  test.each(vectors)("reads what Python wrote for $text", ({ text, token }) => {
    expect(decryptFernet(key(pythonKey), token).toString("utf8")).toBe(text);
  });

  test("gives back one mebibyte", () => {
    const data = randomBytes(1024 * 1024);
    const own = key(generateFernetKey());
    expect(decryptFernet(own, encryptFernet(own, data, 1)).equals(data)).toBe(true);
  });

  test.each([
    ["an empty text", ""],
    ["plain text", "ghp_0123456789abcdefghij"],
    ["another version", withByte(0)],
    ["another time", withByte(8)],
    ["another vector", withByte(9)],
    ["another block", withByte(25)],
    ["another signature", withByte(-1)],
    ["a missing padding", whole.replace(/=+$/, "")],
    ["too much padding", `${whole}=`],
    ["a space before", ` ${whole}`],
    ["a line end after", `${whole}\n`],
    ["the standard alphabet", whole.replaceAll("_", "/").replaceAll("-", "+")],
    ["stray bits before the padding", whole.replace("eg==", "eh==")],
    ["a foreign character inside", `${whole.slice(0, 40)}!${whole.slice(40)}`],
    ["a cut end", whole.slice(0, 96)],
    ["a cut that is too short", whole.slice(0, 40)],
  ])("refuses %s with the one error", (_name, token) => {
    expect(token).not.toBe(whole);
    const failure = failureOf(() => decryptFernet(key(pythonKey), token));
    const other = failureOf(() => decryptFernet(key(generateFernetKey()), whole));
    expect(failure).toEqual(other);
    expect(failure).toMatchObject({ code: "undecryptable" });
  });

  test("refuses a rightly signed token whose padding is wrong with the same error", () => {
    const own = key(pythonKey);
    // The same signing key with another encryption key: the signature fits, the padding does not (IV and key are fixed).
    const other = { signing: own.signing, encryption: Buffer.alloc(16, 7) };
    const token = encryptFernet(other, Buffer.from("hello"), 0, Buffer.alloc(16, 1));
    expect(failureOf(() => decryptFernet(own, token))).toMatchObject({ code: "undecryptable" });
  });
});

describe("parseFernetKey()", () => {
  test.each([
    ["an unpadded key", pythonKey.slice(0, -1)],
    ["31 bytes", encodeBase64Url(Buffer.alloc(31))],
    ["33 bytes", encodeBase64Url(Buffer.alloc(33))],
    ["stray bits", pythonKey.replace("h8=", "h9=")],
    ["the standard alphabet", Buffer.alloc(32, 0xff).toString("base64")],
  ])("refuses %s", (_name, text) => {
    expect(parseFernetKey(text)).toBeNull();
  });

  test("takes the base64url alphabet", () => {
    expect(parseFernetKey(encodeBase64Url(Buffer.alloc(32, 0xff)))).not.toBeNull();
  });
});

test("decryptFernetWithAny() takes the first key that fits", () => {
  const [older, newer] = [key(generateFernetKey()), key(generateFernetKey())];
  const token = encryptFernet(older, Buffer.from("kept"), 0);
  expect(decryptFernetWithAny([newer, older], token).toString()).toBe("kept");
  expect(() => decryptFernetWithAny([newer], token)).toThrow("belongs to another key");
  expect(() => decryptFernetWithAny([], token)).toThrow("belongs to another key");
});
