import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { source_memos, tracker_channels } from "../../../src/db/tables.ts";
import { PluginError } from "../../../src/errors.ts";
import { plain as quoted, say, told } from "../../../src/messages/message.ts";
import { until } from "../../support/fake-clock.ts";
import { channel, plain, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const minute = 60_000;
const day = 86_400_000;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const next = async () => {
  await house.clock.advance(minute);
};

describe("a first check", () => {
  test("is a silent baseline", async () => {
    house.publish("web", "1.0.0", "1.1.0");
    await house.create("web");
    await house.tick();
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0"]);
    expect(await house.latest("web")).toBe("1.1.0");
    expect(house.events).toEqual([]);
  });

  test("of a repository without tags is a baseline too, so that the first tag is announced", async () => {
    await house.create("web");
    await house.tick();
    expect((await house.trackers.get("web")).sources[0]).toMatchObject({ state: "ok", upstream_total: 0 });
    await next();
    house.publish("web", "1.0.0");
    await house.check("web");
    expect(house.releaseEvents("new_release")).toMatchObject([{ version: "1.0.0", previous_version: null }]);
  });

  test("gives a rare channel its place beside a busy one", async () => {
    house.publish("web", "1.0.0", ...Array.from({ length: 30 }, (_, n) => `2.0.0-beta.${n}`));
    await house.create("web", {}, [source("web", { channels: [channel("stable", plain), channel("beta", "beta")] })]);
    await house.tick();
    expect(await house.latest("web", "stable")).toBe("1.0.0");
    expect(await house.latest("web", "beta")).toBe("2.0.0-beta.29");
    await next();
    await house.check("web");
    expect(house.repository("web").asked).toHaveLength(2);
  });
});

describe("the size of an image", () => {
  const arm = (bytes: number) => ({ bytes, platform: "linux/arm64" });
  const sizes = async () =>
    (await house.trackers.releases("web", {})).items.map(({ tag, size_bytes, size_platform }) => [
      tag,
      size_bytes,
      size_platform,
    ]);

  test("stays with its build, and goes with the next one until that is read", async () => {
    house.publish("web", { tag: "1.0.0", size: arm(70) }, { tag: "1.1.0", revision: "sha256:a", size: arm(90) });
    await house.create("web");
    await house.tick();
    expect(await sizes()).toEqual([
      ["1.1.0", 90, "linux/arm64"],
      ["1.0.0", 70, "linux/arm64"],
    ]);
    await next();
    // Its digest alone was read.
    house.publish("web", { tag: "1.1.0", revision: "sha256:a" });
    await house.check("web");
    expect((await sizes())[0]).toEqual(["1.1.0", 90, "linux/arm64"]);
    await next();
    house.publish("web", { tag: "1.1.0", revision: "sha256:b" });
    await house.check("web");
    expect((await sizes())[0]).toEqual(["1.1.0", null, null]);
    await next();
    house.publish("web", { tag: "1.1.0", revision: "sha256:b", size: arm(95) });
    await house.check("web");
    expect((await sizes())[0]).toEqual(["1.1.0", 95, "linux/arm64"]);
  });

  test("is asked for on the platform that an executor runs", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.check("web");
    expect(house.repository("web").asked.map(({ platform }) => platform)).toEqual([null]);
    const { id: tracker_id, sources } = await house.trackers.get("web");
    const binding = { tracker_id, source_id: sources[0]?.id ?? "", channel: "stable" };
    await house.bind("web", binding, { image: "registry.test/web:1.0.0", digest: null, platform: "linux/arm64/v8" });
    await next();
    await house.check("web");
    expect(house.repository("web").asked.at(-1)?.platform).toBe("linux/arm64/v8");
  });

  test("is part of a comparison", async () => {
    house.publish("web", { tag: "1.0.0", size: arm(70) }, { tag: "1.1.0", size: arm(90) });
    await house.create("web");
    await house.tick();
    const view = await house.trackers.comparison("web", { from: "1.0.0", to: "1.1.0" });
    expect([view.from_version?.size_bytes, view.to_version?.size_bytes]).toEqual([70, 90]);
    expect(view.to_version?.size_platform).toBe("linux/arm64");
  });
});

describe("a later check", () => {
  test("announces a known pre-release in the stable channel once upstream calls it a release", async () => {
    const own = await trackerHouse({ has_release_types: true });
    const types = [
      { ...channel("stable"), release_type: "release" },
      { ...channel("prerelease"), release_type: "prerelease" },
    ];
    own.publish("web", { tag: "1.0.0", stage: "release" });
    await own.create("web", {}, [source("web", { channels: types })]);
    await own.tick();
    await own.clock.advance(minute);
    own.publish("web", { tag: "1.1.0", stage: "prerelease" });
    await own.check("web");
    await own.clock.advance(minute);
    own.publish("web", { tag: "1.1.0", stage: "release" });
    await own.check("web");
    await own.clock.advance(minute);
    await own.check("web");
    expect(own.releaseEvents().map(({ channel, tag }) => [channel, tag])).toEqual([
      ["prerelease", "1.1.0"],
      ["stable", "1.1.0"],
    ]);
    await own.close();
  });

  test("announces a new version with what was latest before, and names the others that appeared", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    await next();
    house.publish("web", "1.1.0", "1.2.0");
    await house.check("web");
    await house.check("web");
    expect(house.releaseEvents()).toMatchObject([
      {
        tracker: "web",
        channel: "stable",
        version: "1.2.0",
        previous_version: "1.0.0",
        also: ["1.1.0"],
        sources: ["main"],
      },
    ]);
  });

  test("announces a stable version while a newer pre-release leads", async () => {
    house.publish("web", "1.0.0", "2.0.0-rc.1");
    const channels = [channel("stable", plain), channel("prerelease", "rc")];
    await house.create("web", {}, [source("web", { channels })]);
    await house.tick();
    await next();
    house.publish("web", "1.0.1");
    await house.check("web");
    expect(house.releaseEvents()).toMatchObject([{ channel: "stable", version: "1.0.1" }]);
    await next();
    house.publish("web", "2.0.0-rc.2");
    await house.check("web");
    expect(house.releaseEvents().map((facts) => facts.channel)).toEqual(["stable", "prerelease"]);
  });

  test("announces a version in each channel that takes it", async () => {
    house.publish("web", "1.0.0");
    await house.create("web", {}, [source("web", { channels: [channel("stable", plain), channel("canary")] })]);
    await house.tick();
    await next();
    house.publish("web", "1.1.0");
    await house.check("web");
    expect(house.releaseEvents("new_release").map((facts) => facts.channel)).toEqual(["stable", "canary"]);
  });

  test("passes over a patch of an older line in semantic order, and takes it by publish time", async () => {
    house.publish("semantic", "1.0.0", "2.0.0");
    house.publish("timed", "1.0.0", "2.0.0");
    await house.create("semantic", { sorting: "semantic" });
    await house.create("timed");
    await house.tick();
    await next();
    house.publish("semantic", "1.0.1");
    house.publish("timed", "1.0.1");
    await house.check("semantic");
    await house.check("timed");
    expect(house.releaseEvents()).toMatchObject([{ tracker: "timed", version: "1.0.1" }]);
    expect(await house.latest("semantic")).toBe("2.0.0");
    expect(await house.latest("timed")).toBe("1.0.1");
  });

  describe("by publish time", () => {
    const remark = { code: "older_line", params: { newest: "18.1" } };
    const begin = async () => {
      house.publish("db", "16.11", "17.6", "18.0", "18.1");
      await house.create("db", { sorting: "publish_time" });
      await house.tick();
      await next();
    };

    test("says of a patch to an older line what it is, and what the newest is, counted from its own line", async () => {
      await begin();
      house.publish("db", "16.12");
      await house.check("db");
      await next();
      house.publish("db", "15.16");
      await house.check("db");
      await next();
      house.publish("db", "18.2");
      await house.check("db");
      expect(house.releaseEvents()).toMatchObject([
        { version: "16.12", previous_version: "16.11", remark },
        { version: "15.16", previous_version: null, remark },
        { version: "18.2", previous_version: "18.1", remark: null },
      ]);
    });

    const latestView = async () => (await house.trackers.get("db")).sources[0]?.channels[0]?.latest;
    const leading = async () =>
      (await house.trackers.releases("db", {})).items.filter(({ remark }) => remark !== null).map(({ tag }) => tag);

    test("shows the same of the channel's latest, and of the release in the history", async () => {
      await begin();
      expect(await latestView()).toMatchObject({ tag: "18.1", remark: null });
      house.publish("db", "16.12");
      await house.check("db");
      expect(await latestView()).toMatchObject({ tag: "16.12", remark });
      expect(await leading()).toEqual(["16.12"]);
      await house.trackers.update(house.actor, "db", { sorting: "semantic" });
      expect(await latestView()).toMatchObject({ tag: "18.1", remark: null });
      await house.trackers.update(house.actor, "db", { sorting: "publish_time" });
      expect(await latestView()).toMatchObject({ tag: "16.12", remark });
      await next();
      house.publish("db", "18.2");
      await house.check("db");
      expect(await latestView()).toMatchObject({ tag: "18.2", remark: null });
      expect(await leading()).toEqual([]);
    });

    test("keeps the newest version however many patches to older lines follow, and finds it after an upgrade", async () => {
      await begin();
      house.parts.keep = 1;
      await house.trackers.update(house.actor, "db", { fetch_depth: 1 });
      for (const tag of ["16.12", "16.13"]) {
        await next();
        house.publish("db", tag);
        await house.check("db");
      }
      expect(await house.storedTags()).toEqual(["16.13", "18.1"]);
      await house.db.write((tx) => tx.update(tracker_channels).set({ newest: null }));
      expect(await latestView()).toMatchObject({ tag: "16.13", remark: null });
      await next();
      await house.check("db");
      expect(await latestView()).toMatchObject({ tag: "16.13", remark });
    });

    test("leads with the highest of what appeared together, though an older line was patched after it", async () => {
      await begin();
      await house.clock.advance(10 * minute);
      const at = house.clock.now();
      const published = (tag: string, minutes: number) => ({ tag, published_at: at - minutes * minute });
      house.publish("db", published("18.2", 2), published("16.12", 1));
      await house.check("db");
      await next();
      house.publish("db", published("18.3", 3));
      await house.check("db");
      expect(house.releaseEvents()).toMatchObject([
        { version: "18.2", previous_version: "18.1", remark: null, also: ["16.12"] },
        { version: "18.3", previous_version: "18.2", remark: null },
      ]);
      expect(await house.latest("db")).toBe("16.12");
    });

    test("calls nothing older than a number that was left more than a year ago", async () => {
      const year = 366 * 24 * 60 * minute;
      house.publish("db", { tag: "4.0.0", published_at: house.clock.now() - 2 * year }, "1.8.4");
      await house.create("db", { sorting: "publish_time" });
      await house.tick();
      await next();
      house.publish("db", "1.8.5");
      await house.check("db");
      expect(house.releaseEvents()).toMatchObject([{ version: "1.8.5", previous_version: "1.8.4", remark: null }]);
    });

    test("says of a version that came after a higher one of its line that it is not the newest", async () => {
      house.publish("db", "18.1");
      await house.create("db", { sorting: "publish_time" });
      await house.tick();
      await next();
      house.publish("db", "18.0");
      await house.check("db");
      expect(house.releaseEvents()).toMatchObject([
        { version: "18.0", remark: { code: "older_version", params: { newest: "18.1" } } },
      ]);
    });
  });

  test("announces once what two sources show, and adds the second to the first", async () => {
    house.publish("hub", "1.0.0");
    house.publish("mirror", "v1.0.0");
    await house.create("web", {}, [source("hub", { key: "hub" }), source("mirror", { key: "mirror" })]);
    await house.tick();
    await next();
    house.publish("hub", "1.1.0");
    await house.check("web");
    await next();
    house.publish("mirror", "v1.1.0");
    await house.check("web");
    expect(house.releaseEvents()).toMatchObject([{ version: "1.1.0", sources: ["hub"] }]);
    expect(await house.storedEvents()).toMatchObject([{ facts: { version: "1.1.0", sources: ["hub", "mirror"] } }]);
  });

  test("republishes when the revision of the current tag changed, in each channel that has it", async () => {
    house.publish("web", "1.0.0");
    await house.create("web", {}, [source("web", { channels: [channel("stable", plain), channel("canary")] })]);
    await house.tick();
    await next();
    house.publish("web", { tag: "1.0.0", revision: "sha256:other" });
    await house.check("web");
    await house.check("web");
    expect(house.releaseEvents()).toMatchObject([
      { channel: "stable", tag: "1.0.0", previous_revision: "sha256:1.0.0", revision: "sha256:other" },
      { channel: "canary", tag: "1.0.0" },
    ]);
    expect(house.events.every((event) => event.kind === "republish")).toBe(true);
    expect(await house.releaseRows()).toMatchObject([{ previous_revision: "sha256:1.0.0", revision: "sha256:other" }]);
  });

  test("fills in a revision that could not be read before, without an event", async () => {
    house.publish("web", { tag: "1.0.0", revision: null });
    await house.create("web");
    await house.tick();
    expect((await house.releaseRows())[0]?.revision).toBeNull();
    await next();
    house.publish("web", { tag: "1.0.0", revision: "sha256:found" });
    await house.check("web");
    expect(await house.releaseRows()).toMatchObject([{ revision: "sha256:found", republished_at: null }]);
    expect(house.events).toEqual([]);
  });

  test("keeps a known revision and makes no second row when a lookup fails", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    await next();
    house.publish("web", { tag: "1.0.0", revision: null });
    await house.check("web");
    expect(await house.releaseRows()).toMatchObject([{ tag: "1.0.0", revision: "sha256:1.0.0" }]);
    expect(house.events).toEqual([]);
  });

  test("never moves a first observation, and believes no publish time of the far future", async () => {
    const startedAt = house.clock.now();
    house.publish("web", { tag: "1.0.0", published_at: startedAt + 400 * day });
    await house.create("web");
    await house.tick();
    await next();
    house.publish("web", { tag: "1.0.0", revision: "sha256:other" });
    await house.check("web");
    expect(await house.releaseRows()).toMatchObject([{ first_observed_at: startedAt, published_at: null }]);
  });

  test("loses no publish time under a clock that goes twenty years back", async () => {
    const publishedAt = house.clock.now() - day;
    house.publish("web", { tag: "1.0.0", published_at: publishedAt });
    await house.create("web");
    await house.tick();
    house.clock.set(house.clock.now() - 20 * 365 * day);
    house.publish("web", { tag: "1.1.0", published_at: publishedAt + 1 });
    const bothTimes = async () => (await house.releaseRows()).map(({ published_at }) => published_at).toSorted();
    for (let hours = 0; hours < 2; hours++) {
      await house.check("web");
      expect(await bothTimes()).toEqual([publishedAt, publishedAt + 1]);
      await house.clock.advance(60 * minute);
    }
    // So long that counted time has followed it for days.
    await house.clock.advance(day);
    await house.check("web");
    expect((await house.releaseRows()).find(({ tag }) => tag === "1.0.0")?.published_at).toBe(publishedAt);
  });

  test("does not believe under a clock years ahead what it did not believe before", async () => {
    const at = house.clock.now() + 400 * day;
    house.publish("web", { tag: "1.0.0", published_at: at });
    await house.create("web");
    await house.tick();
    house.clock.set(house.clock.now() + 10 * 365 * day);
    await house.check("web");
    house.clock.set(house.clock.now() - 10 * 365 * day);
    await house.check("web");
    expect(await house.releaseRows()).toMatchObject([{ published_at: null }]);
  });

  test("announces nothing that upstream had before, though it is seen for the first time", async () => {
    house.publish("web", "1.0.0", "1.1.0");
    await house.create("web", { fetch_depth: 1 });
    await house.tick();
    await next();
    const repository = house.repository("web");
    repository.tags = [{ tag: "1.0.0", revision: "sha256:1.0.0", published_at: null, appeared: false }];
    await house.check("web");
    expect(house.events).toEqual([]);
    expect((await house.releaseRows()).find((row) => row.tag === "1.0.0")?.first_observed_at).toBe(
      house.clock.now() - minute,
    );
  });
});

describe("what a check asks for", () => {
  const watched = () => house.repository("web").asked.at(-1)?.watch.toSorted();

  test("is the channels' current tags, and now and then one older", async () => {
    house.publish("web", "1.0.0", "1.1.0", "1.2.0");
    await house.create("web");
    await house.tick();
    const seen: string[] = [];
    for (let check = 0; check < 8; check++) {
      await house.check("web");
      seen.push((watched() ?? []).join(" "));
    }
    expect(seen.filter((watch) => watch === "1.2.0")).toHaveLength(6);
    expect(seen.filter((watch) => watch !== "1.2.0").toSorted()).toEqual(["1.0.0 1.2.0", "1.1.0 1.2.0"]);
  });

  test("includes the tags that executors run", async () => {
    house.publish("web", "1.0.0", "1.1.0", "1.2.0");
    const tracker = await house.create("web");
    await house.tick();
    const binding = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "stable" as const };
    await house.bind("by-tag", binding, { image: "registry.test/web:1.0.0", digest: null });
    await house.bind("by-digest", binding, { image: "registry.test/web", digest: "sha256:1.1.0" });
    await house.check("web");
    expect(watched()).toEqual(["1.0.0", "1.1.0", "1.2.0"]);
  });

  test("carries what is known, the memory of the check before, and no more than is kept", async () => {
    house.parts.keep = 5;
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    await house.check("web");
    const [first, second] = house.repository("web").asked;
    expect(first).toMatchObject({ limit: 5, memo: null });
    expect(second?.memo).toBe("memo 1");
    expect([...(second?.known ?? [])]).toMatchObject([["1.0.0", { revision: "sha256:1.0.0" }]]);
  });

  test("replaces a memory that has changed, leaves an equal one alone, and removes what is forgotten", async () => {
    const repository = house.repository("web");
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    expect(await house.memos()).toEqual(["memo 1"]);
    house.publish("web", "1.1.0");
    await house.check("web");
    expect(await house.memos()).toEqual(["memo 2"]);
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const equal = house.check("web");
    await until(() => repository.asked.length === 3);
    await house.db.write((tx) => tx.update(source_memos).set({ memo: "not written" }));
    gate.resolve();
    await equal;
    expect(await house.memos()).toEqual(["not written"]);
    repository.remembers = false;
    await house.check("web");
    expect(await house.memos()).toEqual([]);
    await house.check("web");
    expect(repository.asked.at(-1)?.memo).toBeNull();
  });
});

describe("a failing check", () => {
  test.each([
    ["unauthorized", true],
    ["not_found", false],
  ] as const)("(%s) names the difference of the clocks if that may explain it", async (code, isNamed) => {
    await house.create("web");
    await house.tick();
    const { host } = (await house.trackers.upstreams()).items[0] ?? { host: "" };
    const theirs = new Date(house.clock.now() - 3 * 3_600_000).toUTCString();
    house.differences.observe(host, new Headers({ date: theirs }));
    house.repository("web").failure = new PluginError(code, quoted("The token is not valid yet"));
    await house.check("web");
    const { error } = (await house.trackers.get("web")).sources[0] ?? {};
    expect(JSON.stringify(error?.message_data).includes('"net.clock_differs"')).toBe(isNamed);
    expect((await house.trackers.upstreams()).clock_differences).toMatchObject([{ host, ms: 3 * 3_600_000 }]);
  });

  test("keeps the data, says since when, and is over with the next success", async () => {
    house.publish("web", "1.0.0");
    await house.create("web");
    await house.tick();
    const succeededAt = house.clock.now();
    await next();
    house.repository("web").failure = new PluginError(
      "unauthorized",
      quoted("The registry says hunter2hunter2 is wrong"),
    );
    await house.check("web");
    const failedAt = house.clock.now();
    await next();
    await house.check("web");
    expect((await house.trackers.get("web")).sources[0]).toMatchObject({
      state: "failing",
      error: { code: "unauthorized", message: "The registry says [redacted] is wrong" },
      failing_since: failedAt,
      last_success_at: succeededAt,
      last_checked_at: failedAt + minute,
    });
    expect(await house.latest("web")).toBe("1.0.0");
    house.repository("web").failure = null;
    house.publish("web", "1.1.0");
    await house.check("web");
    expect((await house.trackers.get("web")).sources[0]).toMatchObject({
      state: "ok",
      error: null,
      failing_since: null,
    });
    expect(house.releaseEvents()).toMatchObject([{ version: "1.1.0" }]);
  });

  test("does not harm the other sources", async () => {
    house.publish("good", "1.0.0");
    house.repository("bad").failure = new PluginError("unreachable", quoted("No answer"));
    await house.create("web", {}, [source("bad", { key: "bad" }), source("good", { key: "good" })]);
    await house.tick();
    const tracker = await house.trackers.get("web");
    expect(tracker.sources.map((view) => view.state)).toEqual(["failing", "ok"]);
    expect(tracker.state).toBe("failing");
  });

  test("is what an emptied list is, and it changes nothing", async () => {
    house.publish("web", "1.0.0", "1.1.0");
    await house.create("web");
    await house.tick();
    await next();
    house.repository("web").tags = [];
    await house.check("web");
    expect((await house.trackers.get("web")).sources[0]?.error).toEqual({
      code: "emptied",
      ...told(say("checks.emptied", { known: 2 })),
    });
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0"]);
    expect(house.events).toEqual([]);
  });

  test("is due again after its interval and not before", async () => {
    house.repository("web").failure = new Error("a bug");
    await house.create("web", { check_interval_minutes: 10 });
    await house.tick();
    for (let second = 0; second < 60; second++) {
      await house.clock.advance(1_000);
      await house.tick();
    }
    expect(house.repository("web").asked).toHaveLength(1);
    expect((await house.trackers.get("web")).sources[0]?.error?.code).toBe("internal");
    await house.clock.advance(10 * minute);
    await house.tick();
    expect(house.repository("web").asked).toHaveLength(2);
  });

  test.each([
    ["as long as upstream asked for", 1, 2 * 3_600_000, 2 * 3_600_000],
    ["no longer, though the interval is", 360, 24 * minute, 24 * minute],
    ["a day at most", 1, 30 * day, day],
    ["a minute at least", 360, 1_000, minute],
  ])("for the rate waits %s", async (_name, interval, asked, waited) => {
    house.repository("web").failure = new PluginError("rate_limited", quoted("Slow down"), { retry_after_ms: asked });
    await house.create("web", { check_interval_minutes: interval });
    await house.tick();
    expect((await house.sourceRows())[0]?.next_check_at).toBe(house.clock.now() + waited);
  });

  test("is one that takes longer than ten minutes", async () => {
    house.repository("web").gate = new Promise(() => undefined);
    await house.create("web");
    await house.scheduler.tick(house.clock.now());
    await until(() => house.repository("web").asked.length === 1);
    await house.clock.advance(10 * minute);
    await house.scheduler.idle();
    expect((await house.trackers.get("web")).sources[0]?.error).toEqual({
      code: "unreachable",
      ...told(say("checks.took_too_long", { minutes: 10 })),
    });
  });
});

describe("executors", () => {
  test("are evaluated when their channel changed, and only they", async () => {
    house.publish("web", "1.0.0", "2.0.0-rc.1");
    const channels = [channel("stable", plain), channel("prerelease", "rc")];
    const tracker = await house.create("web", {}, [source("web", { channels })]);
    await house.tick();
    const at = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "" };
    const stable = await house.bind("stable", { ...at, channel: "stable" });
    const other = await house.bind("other", { ...at, channel: "prerelease" });
    await next();
    await house.check("web");
    expect((await house.executorRow(stable))?.next_evaluation_at).toBeNull();
    house.publish("web", "1.0.1");
    await house.check("web");
    expect((await house.executorRow(stable))?.next_evaluation_at).toBe(house.clock.now());
    expect((await house.executorRow(other))?.next_evaluation_at).toBeNull();
  });

  test("are evaluated after a republish and when a missing revision was found", async () => {
    house.publish("web", { tag: "1.0.0", revision: null });
    const tracker = await house.create("web");
    await house.tick();
    const id = await house.bind("one", {
      tracker_id: tracker.id,
      source_id: tracker.sources[0]?.id ?? "",
      channel: "stable",
    });
    for (const revision of ["sha256:a", "sha256:b"]) {
      await next();
      house.publish("web", { tag: "1.0.0", revision });
      await house.check("web");
      expect((await house.executorRow(id))?.next_evaluation_at).toBe(house.clock.now());
    }
  });
});

describe("retention", () => {
  const publishAndCheck = async (...tags: string[]) => {
    for (const tag of tags) {
      await next();
      house.publish("web", tag);
      await house.check("web");
    }
  };

  test("keeps as many versions of each channel as the settings say, at discovery", async () => {
    house.parts.keep = 2;
    await house.create("web", { fetch_depth: 1 }, [
      source("web", { channels: [channel("stable", plain), channel("beta", "beta")] }),
    ]);
    await publishAndCheck("1.0.0", "1.1.0-beta", "1.1.0", "1.2.0-beta", "1.2.0", "1.3.0-beta", "1.3.0");
    expect(await house.storedTags()).toEqual(["1.2.0", "1.2.0-beta", "1.3.0", "1.3.0-beta"]);
  });

  test("keeps what an executor runs, whatever its age", async () => {
    house.parts.keep = 1;
    const tracker = await house.create("web", { fetch_depth: 1 });
    await publishAndCheck("1.0.0", "1.1.0");
    const binding = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "stable" as const };
    await house.bind("old", binding, { image: "registry.test/web:1.1.0", digest: null });
    await publishAndCheck("1.2.0", "1.3.0", "1.4.0");
    expect(await house.storedTags()).toEqual(["1.1.0", "1.4.0"]);
  });

  test("keeps the release of a forge or a chart under whatever tag its image runs", async () => {
    const tracker = await house.create("web", { fetch_depth: 1 }, [
      source("web", { kind: "gitlab", channels: [channel("stable")] }),
    ]);
    await publishAndCheck("v0.9.0", "v1.0.0", "v1.1.0", "v1.2.0");
    const binding = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "stable" as const };
    await house.bind("plain", binding, { image: "registry.test/web:1.0.0", digest: null });
    const other = await house.bind("variant", binding, { image: "registry.test/web:1.1.0-alpine", digest: null });
    await house.snapshot(other, "registry.test/web:0.9.0-alpine", null);
    house.parts.keep = 1;
    await publishAndCheck("v1.3.0", "v1.4.0");
    expect(await house.storedTags()).toEqual(["v0.9.0", "v1.0.0", "v1.1.0", "v1.4.0"]);
  });

  test("keeps what a snapshot names, by its digest and by its tag", async () => {
    house.parts.keep = 1;
    const tracker = await house.create("web", { fetch_depth: 1 });
    await publishAndCheck("1.0.0");
    const binding = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "stable" as const };
    const executor = await house.bind("one", binding);
    await house.snapshot(executor, "registry.test/web", "sha256:1.0.0");
    await publishAndCheck("1.1.0");
    await house.snapshot(executor, "registry.test/web:1.1.0", null);
    await publishAndCheck("1.2.0", "1.3.0");
    expect(await house.storedTags()).toEqual(["1.0.0", "1.1.0", "1.3.0"]);
  });

  test("keeps the newest of what a narrowed pattern hides, so that it can come back", async () => {
    house.parts.keep = 2;
    await house.create("web", { fetch_depth: 1 });
    await publishAndCheck("1.0.0", "2.0.0", "2.1.0");
    await house.trackers.update(house.actor, "web", {
      sources: [source("web", { channels: [channel("stable", "^3")] })],
    });
    await publishAndCheck("3.0.0");
    expect(await house.storedTags()).toEqual(["2.0.0", "2.1.0", "3.0.0"]);
  });

  test("does not touch a source in which nothing was discovered", async () => {
    await house.create("web");
    await publishAndCheck("1.0.0", "1.1.0", "1.2.0");
    house.parts.keep = 1;
    await house.check("web");
    expect(await house.storedTags()).toHaveLength(3);
  });
});

test("an unchanged check writes no release and no channel", async () => {
  house.publish("web", "1.0.0", "1.1.0");
  await house.create("web");
  await house.tick();
  const before = [await house.releaseRows(), await house.channelRows()];
  await next();
  await house.check("web");
  expect([await house.releaseRows(), await house.channelRows()]).toEqual(before);
  expect((await house.sourceRows())[0]).toMatchObject({ last_request_count: 1, last_byte_count: 10 });
});
