import { expect, test } from "bun:test";
import { lastLinesOf } from "../../src/runs/log-lines.ts";
import { maxLogBytes } from "../../src/runtimes/logs.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";

const esc = "\u001b";
const plain = (text: string) => lastLinesOf(text, (each) => each);
const masked = (text: string, ...secrets: readonly string[]) => {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.register(secret);
  return lastLinesOf(text, redactor.redact);
};

test.each<[what: string, text: string, lines: readonly string[]]>([
  ["nothing", "", []],
  ["blank lines alone", "\n \n\r\n", []],
  ["blank lines around, not between", "\n\none\n\ntwo\n\n", ["one", "", "two"]],
  ["line ends of Windows", "one\r\ntwo\r\n", ["one", "two"]],
  ["a progress bar", "10 %\r50 %\r100 %\ndone", ["100 %", "done"]],
  ["colours", `${esc}[1;31mError:${esc}[0m no ${esc}[38;5;12mport${esc}[K`, ["Error: no port"]],
  ["colours in one byte", "\u009b31mred\u009b0m", ["red"]],
  ["a title", `${esc}]0;title\u0007after`, ["after"]],
  ["a title with the other end", `${esc}]0;title${esc}\\after`, ["after"]],
  ["a title without an end", `${esc}]0;title\nnext line`, ["next line"]],
  ["a link", `${esc}]8;;https://x.test${esc}\\text${esc}]8;;${esc}\\`, ["text"]],
  ["a reset and a character set", `${esc}c${esc}(Btext`, ["text"]],
  ["half a sequence at the end", `text${esc}[3`, ["text"]],
  ["control characters", "a\u0000b\u0008c\u007fd\te", ["abcd\te"]],
  ["a turned direction", "safe\u202etxt.exe", ["safetxt.exe"]],
  ["a lone surrogate", "a\ud800b", ["ab"]],
  ["bytes that are no text", "a\ufffd\ufffd\ufffd\ufffdb", ["a\ufffdb"]],
])("of %s", (_what, text, lines) => {
  expect(plain(text)).toEqual(lines);
});

test("the last twenty lines are left", () => {
  const lines = Array.from({ length: 1_000 }, (_, at) => `line ${at}`);
  expect(plain(`${lines.join("\n")}\n`)).toEqual(lines.slice(-20));
});

test("a long line is cut, and never within a character", () => {
  const [cut = ""] = plain(`${"x".repeat(498)}😀${"y".repeat(1_000)}`);
  expect(cut).toBe(`${"x".repeat(498)}…`);
});

test("of many long lines the first ones are left out", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `${at}${"x".repeat(5_000)}`);
  const shown = plain(lines.join("\n"));
  expect(shown).toHaveLength(16);
  expect(shown.at(-1)?.startsWith("19x")).toBe(true);
});

test.each<[what: string, text: string]>([
  ["one line without an end", "x".repeat(maxLogBytes * 2)],
  ["carriage returns", "\r".repeat(maxLogBytes)],
  ["carriage returns before a letter", `${"\r".repeat(maxLogBytes - 1)}x`],
  ["half sequences", `${esc}[`.repeat(maxLogBytes / 2)],
  ["a sequence that does not end", `${esc}[${"0".repeat(maxLogBytes)}`],
  ["titles that do not end", `${esc}]`.repeat(maxLogBytes / 2)],
  ["line ends", "\n".repeat(maxLogBytes)],
  ["blanks before a letter", `${" ".repeat(maxLogBytes)}x`],
  ["bytes that are no text", "\ufffd".repeat(maxLogBytes)],
  ["ends of keys", "-----END ".repeat(maxLogBytes / 9)],
])("the largest text of %s stays within the bounds", (_what, text) => {
  expect(masked(text, "a-known-secret").join("").length).toBeLessThanOrEqual(8_000);
});

test.each<[what: string, text: string]>([
  ["as it is", "login kelp-otter-lantern failed"],
  ["coloured within", `login kelp-${esc}[31motter${esc}[0m-lantern failed`],
  ["with invisible characters within", "login kelp\u200b-otter\u0000-lantern failed"],
  ["in base64", `login ${Buffer.from("u:kelp-otter-lantern").toString("base64")} failed`],
  ["where a line is cut", `${"x".repeat(490)} kelp-otter-lantern failed`],
  ["beyond what is read of a line", `${"x".repeat(4_085)} kelp-otter-lantern`],
])("a known secret is masked %s", (_what, text) => {
  const shown = masked(text, "kelp-otter-lantern").join("\n");
  expect(shown).not.toMatch(/kelp|otter|lantern|a2VscC1v|b3R0ZXI/);
});

test("a token of a known form is masked, though nobody knows it", () => {
  expect(masked(`GET /?access_token=s3cr3t-value\nghp_${"a".repeat(36)}`)).toEqual([
    "GET /?access_token=[redacted]",
    "[redacted]",
  ]);
});

test("the rest of a private key is masked, though it begins before the last lines", () => {
  const key = Array.from({ length: 30 }, () => "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ");
  const text = ["-----BEGIN PRIVATE KEY-----", ...key, "-----END PRIVATE KEY-----", "cannot read it"].join("\n");
  expect(masked(text)).toEqual(["[redacted]", "cannot read it"]);
});
