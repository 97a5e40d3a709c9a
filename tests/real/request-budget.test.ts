import { expect, test } from "bun:test";
import { playHours } from "../trackers/hub-by-the-hour.ts";

// No peer is needed; it stands here because a week takes longer than a fast test may.
test("a week of 200 trackers without a token, at 60 requests an hour, sends none beyond them", async () => {
  const week = await playHours({ trackers: 200, limit: 60, hours: 7 * 24 });
  console.log("A week in figures", week);
  expect(week).toMatchObject({ refused: 0, most_in_an_hour: 60, checks: 60 * 7 * 24, checked: 200, failing: 0 });
  expect(week.most / week.fewest).toBeLessThan(1.15);
}, 600_000);
