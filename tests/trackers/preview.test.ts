import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { channel, failureOf, type TrackerHouse, trackerHouse } from "./tracker-house.ts";

let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const input = (change: Record<string, unknown> = {}) => ({
  kind: "oci",
  config: { image: "web" },
  channels: [channel("stable", "^1\\.", "beta"), channel("beta", "beta")],
  ...change,
});

describe("preview()", () => {
  test("judges each name by each channel's rules, with the place of the match, and stores nothing", async () => {
    house.publish("web", "1.0.0", "1.1.0-beta", "1.1.0", "edge");
    const preview = await house.trackers.preview(input());
    expect(preview.total).toBe(4);
    expect(preview.channels).toEqual([
      { type: "stable", accepted_count: 2, refused_count: 2, latest: "1.1.0" },
      { type: "beta", accepted_count: 1, refused_count: 3, latest: "1.1.0-beta" },
    ]);
    expect(preview.tags.find(({ tag }) => tag === "1.1.0-beta")?.verdicts).toEqual([
      { type: "stable", accepted: false, rule: "excluded", pattern: "beta", range: { start: 6, end: 10 } },
      { type: "beta", accepted: true, rule: "included", pattern: "beta", range: { start: 6, end: 10 } },
    ]);
    expect(preview.tags.find(({ tag }) => tag === "edge")?.verdicts[0]).toMatchObject({ rule: "not_included" });
    expect((await house.trackers.list({})).items).toEqual([]);
  });

  test("asks upstream once for many patterns, and again after ten minutes", async () => {
    house.publish("web", "1.0.0");
    await Promise.all([house.trackers.preview(input()), house.trackers.preview(input())]);
    await house.trackers.preview(input({ channels: [channel("stable", "^2")] }));
    expect(house.namesListed()).toBe(1);
    await house.clock.advance(10 * 60_000);
    await house.trackers.preview(input());
    expect(house.namesListed()).toBe(2);
  });

  test("shows 500 names at most and counts all", async () => {
    house.publish("web", ...Array.from({ length: 1_200 }, (_, n) => `1.0.${n}`));
    const preview = await house.trackers.preview(input());
    expect(preview.tags).toHaveLength(500);
    expect(preview.tags[0]?.tag).toBe("1.0.1199");
    expect(preview).toMatchObject({ total: 1_200, channels: [{ accepted_count: 1_200 }, { refused_count: 1_200 }] });
  });

  test("refuses a bad pattern at its field without asking upstream", async () => {
    const channels = [channel("stable"), channel("beta", "", "(?!x)")];
    expect(await failureOf(house.trackers.preview(input({ channels })))).toMatchObject({
      status: 422,
      fields: { "channels.1.exclude_pattern": expect.stringContaining("lookaround") },
    });
    expect(house.namesListed()).toBe(0);
  });

  test("refuses an unknown credential at its field", async () => {
    expect(await failureOf(house.trackers.preview(input({ credential_id: "nobody" })))).toMatchObject({
      status: 422,
      fields: { credential_id: 'There is no credential "nobody"' },
    });
  });

  test("tells upstream's refusal in its own words, without secrets, and does not repeat it at each keystroke", async () => {
    house.repository("web").failure = new PluginError("unauthorized", "hunter2hunter2 is wrong");
    for (let keystroke = 0; keystroke < 3; keystroke++) {
      expect(await failureOf(house.trackers.preview(input()))).toMatchObject({
        status: 502,
        code: "upstream_failed",
        message: "[redacted] is wrong",
      });
    }
    expect(house.namesListed()).toBe(1);
    house.repository("web").failure = null;
    await house.clock.advance(30_000);
    await house.trackers.preview(input());
    expect(house.namesListed()).toBe(2);
  });

  test("remembers twenty listings at most", async () => {
    for (let image = 0; image < 21; image++) await house.trackers.preview(input({ config: { image: `web-${image}` } }));
    await house.trackers.preview(input({ config: { image: "web-20" } }));
    expect(house.namesListed()).toBe(21);
    await house.trackers.preview(input({ config: { image: "web-0" } }));
    expect(house.namesListed()).toBe(22);
  });
});
