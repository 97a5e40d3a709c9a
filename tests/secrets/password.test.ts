import { describe, expect, test } from "bun:test";
import { say } from "../../src/messages/message.ts";
import { createPasswords, passwordProblem } from "../../src/secrets/password.ts";

describe("passwordProblem()", () => {
  test.each([
    ["11 characters", "kürbis-teig", say("auth.password_too_short", { characters: 11, limit: 12 })],
    [
      "11 code points of two units each",
      "🌊🐚🦀🐙🦑🐠🐟🐬🐳🦈🐡",
      say("auth.password_too_short", { characters: 11, limit: 12 }),
    ],
    [
      "257 characters",
      "qwerty-hörnchen-7".repeat(16).slice(0, 257),
      say("auth.password_too_long", { characters: 257, limit: 256 }),
    ],
    ["1,025 bytes", `${"🌊".repeat(256)}x`, say("auth.password_too_many_bytes", { limit: 1024 })],
    ["a million characters", "x".repeat(1_000_000), say("auth.password_too_many_bytes", { limit: 1024 })],
    ["a lone surrogate", "gezeiten-tafel-\ud800", say("auth.password_broken")],
    ["what a decoder writes for bytes that are no text", "caf\ufffd lantern river", say("auth.password_broken")],
    ["a byte order mark before it", "\ufeffcafé lantern river", say("auth.password_byte_order_mark")],
    ["a byte order mark within it", "café lantern\ufeff river", say("auth.password_byte_order_mark")],
  ])("refuses %s", (_name, password, problem) => {
    expect(passwordProblem(password)).toEqual(problem);
  });

  test.each([
    "password1234",
    "PASSWORD1234",
    "Password123!",
    "P4ssw0rd2026",
    "passwordpassword",
    "123456789012",
    "098765432109",
    "abcdefghijkl",
    "qwertyuiopas",
    "lkjhgfdsapoi",
    "1qaz2wsx3edc4rfv",
    "aaaaaaaaaaaa",
    "abcabcabcabc",
    "ababababbaba",
    "administrator",
    "Administrator1!",
    "iloveyou1234",
    "tidemark-2026",
    "tidemark-admin-password",
    "T1demark!T1demark?",
    "bootstrap password",
    "changeme-changeme!",
    // By the list alone.
    "alexander123",
    "Barcelona123",
  ])("refuses the common %s", (password) => {
    expect(passwordProblem(password)).toEqual(say("auth.password_guessable"));
  });

  test("refuses the installation's own words", () => {
    expect(passwordProblem("harbourmaster-1")).toBeNull();
    expect(passwordProblem("Harbourmaster-1", ["harbourmaster"])).toEqual(say("auth.password_guessable"));
  });

  test.each([
    "correct horse battery staple",
    "kelp-otter-lantern",
    "            x1y2",
    "only lower case",
    "潮汐潮間帶生物觀察筆記本",
    "ke\u0301lp-otter-nap",
    "new-password-123",
    "839204718365",
    `${"x".repeat(100)}${"yzabq".repeat(31)}`,
  ])("takes %s as it is", (password) => {
    expect(passwordProblem(password)).toBeNull();
  });
});

describe("createPasswords()", () => {
  test("hash() writes Argon2id with at least 19 MiB and two passes", async () => {
    const passwords = await createPasswords();
    const hash = await passwords.hash("kelp-otter-lantern");
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash("kelp-otter-lantern")).not.toBe(hash);
  });

  test("verify() takes the very same text and nothing else", async () => {
    const passwords = await createPasswords();
    const hash = await passwords.hash(" Kélp-otter-lantern ");
    expect(await passwords.verify(hash, " Kélp-otter-lantern ")).toBe(true);
    for (const other of [
      "Kélp-otter-lantern",
      " kélp-otter-lantern ",
      " Ke\u0301lp-otter-lantern ",
      "",
      " Kélp-otter-lantern \0",
    ]) {
      expect(await passwords.verify(hash, other)).toBe(false);
    }
  });

  test("verify() counts every character of a long password", async () => {
    const passwords = await createPasswords();
    const long = "潮".repeat(255);
    const hash = await passwords.hash(`${long}a`);
    expect(await passwords.verify(hash, `${long}b`)).toBe(false);
    expect(await passwords.verify(hash, `${long}a`)).toBe(true);
  });

  test("verify() without a stored hash is false, and does the same work", async () => {
    const passwords = await createPasswords();
    expect(await passwords.verify(null, "kelp-otter-lantern")).toBe(false);
    // The same gate: 36 at once fill it for unknown names as for known ones.
    const results = await Promise.allSettled(
      Array.from({ length: 37 }, () => passwords.verify(null, "kelp-otter-lantern")),
    );
    expect(results.filter((result) => result.status === "rejected").length).toBe(1);
  });

  test("lets 4 run and 32 wait, and answers the rest with 429", async () => {
    const passwords = await createPasswords({ memory_kib: 64, passes: 1 });
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.hash("kelp-otter-lantern")));
    const refused = results.filter((result) => result.status === "rejected");
    expect(results.length - refused.length).toBe(36);
    for (const result of refused) expect(result.reason).toMatchObject({ status: 429, retry_after_seconds: 2 });
    // Every place was given back.
    const again = await Promise.allSettled(Array.from({ length: 36 }, () => passwords.hash("kelp-otter-lantern")));
    expect(again.every((result) => result.status === "fulfilled")).toBe(true);
  });

  test("needsRehash() is true for weaker parameters alone", async () => {
    const weak = await createPasswords({ memory_kib: 8192, passes: 1 });
    const today = await createPasswords();
    expect(today.needsRehash(await weak.hash("kelp-otter-lantern"))).toBe(true);
    expect(today.needsRehash(await today.hash("kelp-otter-lantern"))).toBe(false);
    expect(weak.needsRehash(await today.hash("kelp-otter-lantern"))).toBe(false);
    expect(await today.verify(await weak.hash("kelp-otter-lantern"), "kelp-otter-lantern")).toBe(true);
  });
});
