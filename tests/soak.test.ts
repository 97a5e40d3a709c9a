import { expect, test } from "bun:test";
import { soakDay } from "../bench/soak/day.ts";

// Memory is measured by `bench/soak.ts` with many more sources; what must not be left at all is told here.

test("a day of checks, failures and deliveries leaves no file open and no rejection behind", async () => {
  const day = await soakDay(6);
  expect(day.samples.map(({ hour }) => hour)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  // Each source was checked each hour, met every mood of its upstream, and told what was new.
  expect([day.requests > 6 * 24, day.failures > 6, day.deliveries > 24]).toEqual([true, true, true]);
  expect(day.unhandled).toBe(0);
  const [settled, ...later] = day.samples.slice(5).map(({ file_descriptors }) => file_descriptors);
  for (const count of later) expect(count).toBeLessThanOrEqual(settled ?? 0);
}, 600_000);
