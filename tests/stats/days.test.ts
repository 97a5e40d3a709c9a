import { expect, test } from "bun:test";
import { toIso } from "../../src/clock.ts";
import { dayStarts } from "../../src/stats/days.ts";

const starts = (zone: string, now: string, count: number) => dayStarts(zone, Date.parse(now), count).map(toIso);

test.each([
  ["UTC", "2026-11-21T00:00:00.000Z", ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"]],
  ["Asia/Shanghai", "2026-11-20T16:00:00.000Z", ["2026-11-19T16:00:00.000Z", "2026-11-20T16:00:00.000Z"]],
  ["Asia/Kathmandu", "2026-11-21T12:00:00.000Z", ["2026-11-19T18:15:00.000Z", "2026-11-20T18:15:00.000Z"]],
  // The clocks went back on 25 October: that day had 25 hours.
  ["Europe/Berlin", "2026-10-26T08:00:00.000Z", ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]],
  // Cairo goes forward at midnight: 24 April 2026 begins at 01:00.
  ["Africa/Cairo", "2026-04-24T10:00:00.000Z", ["2026-04-22T22:00:00.000Z", "2026-04-23T22:00:00.000Z"]],
])("dayStarts() of %s finds the first instants of the days until %s", (zone, now, expected) => {
  expect(starts(zone, now, 2)).toEqual(expected);
});

test("dayStarts() gives as many days as asked for, ascending, across both changes of a year", () => {
  const found = dayStarts("America/New_York", Date.parse("2026-12-01T12:00:00Z"), 300);
  expect(found).toHaveLength(300);
  const hours = found.slice(1).map((start, index) => (start - (found[index] ?? 0)) / 3_600_000);
  expect(new Set(hours)).toEqual(new Set([23, 24, 25]));
});
