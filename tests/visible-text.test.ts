import { expect, test } from "bun:test";
import { visibleText } from "../src/visible-text.ts";

test.each([
  ["plain, 中文 and 🦀", "plain, 中文 and 🦀"],
  ["a\nb", "a\\u000ab"],
  ["\u001b[31m", "\\u001b[31m"],
  ["a\u202eb", "a\\u202eb"],
  ["\u200b\u00ad", "\\u200b\\u00ad"],
  ["\u{e0001}", "\\udb40\\udc01"],
  ["\ud800", "\\ud800"],
  ["\u2028\u2029", "\\u2028\\u2029"],
])("visibleText() of %j is %j", (text, expected) => {
  expect(visibleText(text)).toBe(expected);
});
