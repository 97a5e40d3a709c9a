import { expect, test } from "bun:test";
import { playHours } from "../hub-by-the-hour.ts";

test("sources that ask for more than their host allows share it: none beyond it, each as often as it bears", async () => {
  const [trackers, limit, hours] = [30, 10, 12];
  const week = await playHours({ trackers, limit, hours });
  expect(week).toMatchObject({
    refused: 0,
    most_in_an_hour: limit,
    checks: hours * limit,
    checked: trackers,
    // Nobody fails for having to wait, and everybody is told until when, and how often it can be.
    failing: 0,
    upstream: {
      host: "api.github.com",
      sources: trackers,
      quota_per_hour: trackers,
      hourly_limit: limit,
      fair_interval_minutes: 180,
    },
  });
  // Fair, but for the jitter of a tenth of the interval that keeps checks apart.
  expect(week.most - week.fewest).toBeLessThanOrEqual(2);
  expect(week.told).toBeGreaterThan(1);
}, 60_000);
