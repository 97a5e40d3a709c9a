import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { logMask } from "../../src/logs/mask.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";

const hidden = "[redacted]";
const body = (count: number) =>
  Array.from({ length: count }, (_, at) => `${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA".slice(0, 43)}${at % 10}`);
const begin = "-----BEGIN RSA PRIVATE KEY-----";
const end = "-----END RSA PRIVATE KEY-----";

function masking(...secrets: readonly string[]) {
  const redactor = createRedactor();
  redactor.register("a-known-credential");
  const mask = logMask(redactor.redact);
  mask.learn(secrets);
  const show = mask.masker();
  return async (texts: readonly string[], hasGap = false) =>
    (
      await show(
        texts.map((text, at) => ({ at: `t${at}`, text })),
        hasGap,
      )
    ).map(({ text }) => text);
}

test("secrets of the target and of the product are masked, in each line", async () => {
  const take = masking("kelp-otter");
  expect(await take(["a kelp-otter", "b", "c a-known-credential", "ghp_abcdefghijklmnop0123"])).toEqual([
    `a ${hidden}`,
    "b",
    `c ${hidden}`,
    hidden,
  ]);
});

test("each line of a secret is masked, and all of it", async () => {
  const secret = "first-part-of-it\nsecond-part-of-it\nlast-part-of-it";
  const take = masking(secret);
  expect(await take(["has second-part-of-it inside", "x"])).toEqual([`has ${hidden} inside`, "x"]);
  const all = (await take(["before", ...secret.split("\n"), "after"])).join("\n");
  expect(all).toMatch(/^before\n\[redacted\](\n\[redacted\])*\nafter$/);
});

test("lines keep their times, also when a secret takes several", async () => {
  const mask = logMask((text) => text);
  mask.learn(["kelp-otter"]);
  const lines = Array.from({ length: 60 }, (_, at) => ({
    at: `t${at}`,
    text: at % 20 === 0 ? "kelp-otter" : `line ${at}`,
  }));
  const shown = await mask.masker()(lines, false);
  expect(shown.map(({ at }) => at)).toEqual(lines.map(({ at }) => at));
  expect(shown[20]).toEqual({ at: "t20", text: hidden });
  expect(await mask.masker()([{ at: "", text: "x" }], false)).toEqual([{ at: null, text: "x" }]);
});

test("what steers a terminal is removed before secrets are searched, and a long line is cut after", async () => {
  const take = masking("kelp-otter");
  expect(await take(["\u001b[31mkelp-\u001b[0motter", `${"x".repeat(495)}kelp-otter`])).toEqual([
    hidden,
    `${"x".repeat(495)}[red…`,
  ]);
});

test("what was cut of a long line shows no part of a secret, however often it was written", async () => {
  const [key = "", config = ""] = [1_500, 6_000].map((length) => {
    const parts = Array.from({ length }, (_, at) => createHash("sha256").update(`${length} ${at}`).digest("hex"));
    return parts.join("").slice(0, length);
  });
  const take = masking(key, config);
  expect(await take([`k=${key} ${key} ${key}`, `loading ${config}`, config])).toEqual([
    `k=${hidden} ${hidden} ${hidden}…`,
    `loading ${hidden}…`,
    `${hidden}…`,
  ]);
});

describe("a private key", () => {
  test("is hidden over lines, with what is before and behind it", async () => {
    const take = masking();
    expect(await take(["one", `key: ${begin}`, ...body(3), `${end} ok`, "two"])).toEqual([
      "one",
      `key: ${hidden}`,
      " ok",
      "two",
    ]);
  });

  test("is hidden over takes", async () => {
    const take = masking();
    expect(await take(["one", begin, ...body(1)])).toEqual(["one", hidden]);
    expect(await take(body(2))).toEqual([]);
    expect(await take([...body(2), end, "two"])).toEqual(["two"]);
  });

  test("whose beginning is not among the lines is hidden up to its end", async () => {
    expect(await masking()([...body(3), end, "two"])).toEqual([hidden, "two"]);
    expect(await masking()(["a note", ...body(3), end, "two"])).toEqual([hidden, "two"]);
  });

  test("is hidden behind a gap, whether its end was left out or its beginning", async () => {
    const take = masking();
    expect(await take(["one"])).toEqual(["one"]);
    expect(await take([...body(3), "two"], true)).toEqual([hidden, "two"]);
    expect(await take([begin, ...body(1)])).toEqual([hidden]);
    expect(await take(["three", "four"], true)).toEqual(["three", "four"]);
    expect(await take(body(2), true)).toEqual([hidden]);
    expect(await take([...body(1), "five"])).toEqual([hidden, "five"]);
    // Known to be no key: the lines before were shown.
    expect(await take(body(1))).toEqual(body(1));
  });

  test("that never ends hides no more than the longest one has", async () => {
    const take = masking();
    const rest = Array.from({ length: 400 }, (_, at) => `line ${at}`);
    const shown = await take([begin, ...rest]);
    expect([shown[0], shown.length, shown.at(-1)]).toEqual([hidden, 101, "line 399"]);
  });

  test("in one line leaves the next ones alone", async () => {
    expect(await masking()([`${begin}\\n${body(1)[0]}\\n${end}`, "two"])).toEqual([hidden, "two"]);
  });
});
