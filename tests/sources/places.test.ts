import { expect, test } from "bun:test";
import { sharePlaces } from "../../src/sources/places.ts";

const groups = (text: string) => text.split("|").map((group) => group.split("").filter((member) => member !== " "));

test.each([
  ["abcdef", 3, "abc"],
  ["abcdef|uvwxyz", 4, "aubv"],
  ["abcdef|x", 4, "axbc"],
  ["abc|abcdef", 4, "abcd"],
  ["a|u|x", 1, "aux"],
  ["abc|", 2, "ab"],
  ["", 5, ""],
])("sharePlaces(%p, %p) takes %p", (text, limit, taken) => {
  expect(sharePlaces(groups(text), limit).join("")).toBe(taken);
});

test.each([
  ["abcdef|x", 4, 2, "axb"],
  ["abcdef|uvw", 9, 2, "aubv"],
  ["abc|uvw", 9, 0, "au"],
])("sharePlaces(%p, %p, %p) takes %p", (text, limit, mostEach, taken) => {
  expect(sharePlaces(groups(text), limit, mostEach).join("")).toBe(taken);
});
