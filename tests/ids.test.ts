import { expect, test } from "bun:test";
import { newId } from "../src/ids.ts";

test("newId() gives ids that sort in the order in which they were made", () => {
  const ids = Array.from({ length: 20_000 }, () => newId(1_767_614_400_000));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("newId() keeps the order when the clock is put back a little", () => {
  const first = newId(1_767_614_500_000);
  expect([newId(1_767_614_499_990), newId(1_767_614_500_000), newId(1_767_614_500_001)].every((id) => id > first)).toBe(
    true,
  );
  expect(newId(1_767_614_400_000) < first).toBe(true);
});

test("newId() is a UUID of version 7 with its time in front", () => {
  expect(newId(0x0123_4567_89ab)).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
