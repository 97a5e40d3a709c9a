import { expect, test } from "bun:test";
import { believable, isUsableTag, linkOf } from "../../../src/sources/forge/believable.ts";

test.each([
  ["v1.2.3", true],
  ["release/1.2.3", true],
  ["版本-1", true],
  ["x".repeat(256), true],
  ["x".repeat(257), false],
  ["", false],
  ["a b", false],
  ["a\nb", false],
  ["a:b", false],
  ["a[b", false],
  ["a\\b", false],
  ["a\uFFFDb", false],
  ["a\uD800b", false],
])("isUsableTag(%j) is %p", (tag, usable) => {
  expect(isUsableTag(tag)).toBe(usable);
});

test.each([
  [null, null],
  [0, null],
  [946_684_799_999, null],
  [946_684_800_000, 946_684_800_000],
])("believable(%p) is %p", (instant, believed) => {
  expect(believable(instant)).toBe(believed);
});

test.each([
  ["https://forge.example/a", "https://forge.example/a"],
  ["http://forge.example/a", "http://forge.example/a"],
  ["javascript:alert(1)", null],
  ["/a", null],
  [`https://forge.example/${"a".repeat(2_048)}`, null],
  [null, null],
  [undefined, null],
])("linkOf(%p) is %p", (text, link) => {
  expect(linkOf(text)).toBe(link);
});
