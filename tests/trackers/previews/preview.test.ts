import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { plain as quoted } from "../../../src/messages/message.ts";
import { channel, failureOf, plain, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

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
    expect(preview.channels).toMatchObject([
      { type: "stable", accepted_count: 2, refused_count: 2, latest: "1.1.0" },
      { type: "beta", accepted_count: 1, refused_count: 3, latest: "1.1.0-beta" },
    ]);
    expect(preview.tags.find(({ tag }) => tag === "1.1.0-beta")?.verdicts).toEqual([
      {
        name: "stable",
        type: "stable",
        accepted: false,
        rule: "excluded",
        pattern: "beta",
        range: { start: 6, end: 10 },
      },
      { name: "beta", type: "beta", accepted: true, rule: "included", pattern: "beta", range: { start: 6, end: 10 } },
    ]);
    expect(preview.tags.find(({ tag }) => tag === "edge")?.verdicts[0]).toMatchObject({ rule: "not_included" });
    expect((await house.trackers.list({})).items).toEqual([]);
  });

  test("plays what is tracked already day by day, with what an automatic run would have done", async () => {
    const day = 86_400_000;
    const start = house.clock.now();
    house.publish("web", "1.0.0");
    await house.create("web", {}, [source("web", { channels: [channel("stable", "^1\\.")] })]);
    await house.tick();
    for (const tag of ["1.2.0", "1.1.5", "1.3.0"]) {
      await house.clock.advance(day);
      house.publish("web", tag);
      await house.check("web");
    }
    const preview = await house.trackers.preview(input({ config: { image: "web" } }));
    expect([preview.total, preview.dated_count]).toEqual([4, 4]);
    const [stable] = preview.channels;
    expect(stable?.steps).toMatchObject([
      { tag: "1.3.0", previous: "1.1.5", jump: "none", installed_from: "1.2.0", is_installed: true },
      { tag: "1.1.5", previous: "1.2.0", jump: "downgrade", is_installed: false },
      { tag: "1.2.0", previous: "1.0.0", jump: "none", is_installed: true },
      { tag: "1.0.0", previous: null, jump: "first", is_installed: true },
    ]);
    expect(stable?.steps.map(({ at }) => Math.round((at - start) / day))).toEqual([3, 2, 1, 0]);
    expect(stable?.jump_counts).toMatchObject({ first: 1, none: 2, downgrade: 1 });
  });

  test.each([
    ["", undefined, "16.12"],
    [", as what was there before is not in the depth", 1, "16.12"],
  ])("names the same latest as the tracker where upstream tells no times%s", async (_what, fetch_depth, latest) => {
    const untimed = (tag: string) => ({ tag, published_at: null });
    house.publish("db", untimed("16.10"), untimed("16.11"), untimed("18.0"), untimed("18.1"));
    const depth = fetch_depth === undefined ? {} : { fetch_depth };
    await house.create("db", { ...depth, sorting: "publish_time" });
    await house.tick();
    const same = async () => {
      await house.clock.advance(15 * 60_000);
      const change = { config: { image: "db" }, channels: [channel("stable", plain)] };
      const { channels } = await house.trackers.preview(input(change));
      const led = await house.latest("db");
      expect(channels[0]?.latest ?? null).toBe(led);
      return led;
    };
    expect(await same()).toBe("18.1");
    house.publish("db", untimed("16.12"));
    await house.check("db");
    expect(await same()).toBe(latest);
    house.publish("db", untimed("18.2"));
    await house.check("db");
    expect(await same()).toBe("18.2");
  });

  test("says by publish time alone what shows that older lines are patched", async () => {
    house.publish("db", "18.1", "18.0", "16.12", "16.11", "18.0-alpine3.22", "16.12-alpine3.23");
    const ask = async (change: Record<string, unknown> = {}) => {
      const { channels } = await house.trackers.preview(input({ config: { image: "db" }, ...change }));
      return channels[0]?.older_lines;
    };
    const channels = [channel("stable")];
    expect(await ask({ channels })).toMatchObject({
      proof: "built",
      examples: [{ tag: "16.12-alpine3.23", after: "18.0-alpine3.22" }],
      lines: ["18.1", "16.12"],
    });
    expect(await ask({ channels: [channel("stable", "^\\d+\\.\\d+$")] })).toMatchObject({ proof: "listed" });
    expect(await ask({ channels, sorting: "semantic" })).toBeNull();
    expect(await ask({ channels: [channel("stable", "^18\\.")] })).toBeNull();
  });

  test("reads of a list of long names as much as it can order at once", async () => {
    const names = Array.from({ length: 9_000 }, (_, index) => `${"a".repeat(244)}.${index + 10_000}`);
    house.publish("web", ...names);
    const preview = await house.trackers.preview(input());
    expect(preview.total).toBe(8_000);
  });

  test("says what checks would cost, beside what is asked there already", async () => {
    house.publish("web", "1.0.0");
    await house.create("web", { check_interval_minutes: 30 });
    const { cost } = await house.trackers.preview(input({ check_interval_minutes: 15 }));
    expect(cost).toMatchObject({ requests_per_hour: 4, quota_per_hour: 0 });
    expect(cost.upstream).toMatchObject({ sources: 2, requests_per_hour: 6, hourly_limit: null });
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

  test("refuses GraphQL-first without a credential at its field, as saving does", async () => {
    const change = { kind: "github", config: { repository: "a/b", fetch_mode: "graphql" } };
    expect(await failureOf(house.trackers.preview(input(change)))).toMatchObject({
      status: 422,
      fields: { credential_id: expect.stringContaining("GraphQL-first needs a credential") },
    });
  });

  test("refuses a bad pattern at its field without asking upstream", async () => {
    const channels = [channel("stable"), channel("beta", "", "(?!x)")];
    expect(await failureOf(house.trackers.preview(input({ channels })))).toMatchObject({
      status: 422,
      fields: { "channels.1.exclude_pattern": expect.stringContaining("Lookaround") },
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
    house.repository("web").failure = new PluginError("unauthorized", quoted("hunter2hunter2 is wrong"));
    for (let keystroke = 0; keystroke < 3; keystroke++) {
      expect(await failureOf(house.trackers.preview(input()))).toMatchObject({
        status: 424,
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
