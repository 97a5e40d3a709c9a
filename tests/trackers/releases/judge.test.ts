import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { acceptsOf, choicesOf, latestOfChannel, membersOf } from "../../../src/trackers/releases/judge.ts";
import type { ChannelType } from "../../../src/trackers/schema.ts";
import type { Stage } from "../../../src/versions/channel.ts";
import { channel, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const aimed = (type: ChannelType, include = "", release_type: "release" | "prerelease" | null = null) => ({
  type,
  include_pattern: include,
  exclude_pattern: "",
  release_type,
});

/** One release a day, in the order given; `!` before a tag is upstream's mark of a pre-release. */
const releasesOf = (...tags: string[]) =>
  tags.map((tag, day) => ({
    tag: tag.replace(/^!/, ""),
    stage: (tag.startsWith("!") ? "prerelease" : "release") as Stage,
    published_at: day * 86_400_000,
    first_observed_at: 0,
  }));

const types = ["stable", "prerelease", "beta", "canary"] as const;

describe("latestOfChannel() without a pattern", () => {
  test.each([
    [
      "every stage",
      ["1.9.0", "2.0.0-beta.1", "2.0.0-rc.1", "2.0.0-nightly.20240601"],
      ["1.9.0", "2.0.0-rc.1", "2.0.0-beta.1", "2.0.0-nightly.20240601"],
    ],
    ["releases alone", ["1.8.0", "1.9.0"], ["1.9.0", "1.9.0", "1.9.0", "1.9.0"]],
    ["candidates alone", ["1.0.0-rc.1", "1.0.0-rc.2"], ["1.0.0-rc.2", "1.0.0-rc.2", "1.0.0-rc.2", "1.0.0-rc.2"]],
    ["a line of its own", ["4.0.0-ls1", "develop-4.1.0-ls9"], ["4.0.0-ls1", ...Array(3).fill("develop-4.1.0-ls9")]],
    ["moving names", ["latest", "beta", "nightly"], ["latest", "beta", "beta", "nightly"]],
    ["moving names beside releases", ["1.2.0", "latest", "edge"], ["1.2.0", "edge", "edge", "edge"]],
    ["latest beside nightly dates", ["latest", "nightly-20240601"], ["latest", ...Array(3).fill("nightly-20240601")]],
    ["upstream's mark alone", ["6.0.0", "!6.1.0"], ["6.0.0", "6.1.0", "6.1.0", "6.1.0"]],
    ["a candidate that upstream calls a release", ["1.0.0", "2.0.0-rc1"], ["1.0.0", ...Array(3).fill("2.0.0-rc1")]],
    [
      "a patch of an old line, the last published",
      ["2.0.0", "2.1.0-rc1", "1.9.1"],
      ["1.9.1", ...Array(3).fill("2.1.0-rc1")],
    ],
  ])("of %s", (_, tags, expected) => {
    for (const [place, type] of types.entries()) {
      expect([type, latestOfChannel(releasesOf(...tags), aimed(type), "publish_time")?.tag]).toEqual([
        type,
        expected[place],
      ]);
    }
  });

  test("lets the rules decide first: a type takes what they leave", () => {
    const releases = releasesOf("1.9.0", "!2.0.0-rc.1");
    expect(latestOfChannel(releases, aimed("stable", "rc"), "semantic")?.tag).toBe("2.0.0-rc.1");
    expect(latestOfChannel(releases, aimed("stable", "", "prerelease"), "semantic")?.tag).toBe("2.0.0-rc.1");
    expect(latestOfChannel(releases, aimed("canary", "", "release"), "semantic")?.tag).toBe("1.9.0");
    expect(latestOfChannel(releases, aimed("canary", "^3"), "semantic")).toBeNull();
  });
});

test("membersOf() are all that the rules take, whatever the type", () => {
  const releases = releasesOf("1.9.0", "2.0.0-rc.1", "nightly", "1.9.0-alpine", "sha-1234abc");
  for (const type of types) {
    expect(
      membersOf(releases, aimed(type), "semantic")
        .map(({ tag }) => tag)
        .toSorted(),
    ).toEqual(releases.map(({ tag }) => tag).toSorted());
  }
});

test("choicesOf() leads from a release neither to a candidate nor to another variant", () => {
  const releases = releasesOf("1.8.0", "1.9.0", "2.0.0-rc.1", "1.9.0-alpine", "latest");
  expect(choicesOf(releases, aimed("stable"), "publish_time").map(({ tag }) => tag)).toEqual(["1.9.0", "1.8.0"]);
  expect(choicesOf(releases, aimed("prerelease"), "publish_time").map(({ tag }) => tag)).toEqual(["2.0.0-rc.1"]);
});

test.each([
  ["stable", [["1.9.0", "latest"]]],
  [
    "prerelease",
    [
      ["2.0.0-rc.1", "beta"],
      ["2.0.0-rc.1", "nightly", "beta"],
    ],
  ],
  ["beta", [["beta"], ["2.0.0-rc.1", "nightly", "beta"]]],
  ["canary", [["nightly"], ["2.0.0-rc.1", "nightly", "beta"]]],
] as const)("acceptsOf() gives what a %s channel prefers places of its own", (type, preferred) => {
  const tags = ["1.9.0", "2.0.0-rc.1", "nightly", "beta", "latest"];
  const taken = acceptsOf(aimed(type)).map((accept) => tags.filter((tag) => accept(tag, "tag")));
  expect(taken).toEqual([...preferred.map((own) => [...own]), tags]);
});

describe("a tracker without patterns", () => {
  let house: TrackerHouse;
  beforeEach(async () => {
    house = await trackerHouse();
  });
  afterEach(() => house.close());

  test("announces a stable release while a newer candidate leads the other channel", async () => {
    house.publish("web", "1.0.0", "2.0.0-rc.1");
    await house.create("web", {}, [source("web", { channels: [channel("stable"), channel("prerelease")] })]);
    await house.tick();
    await house.clock.advance(60_000);
    house.publish("web", "1.0.1");
    await house.check("web");
    expect(house.releaseEvents()).toMatchObject([{ channel: "stable", version: "1.0.1" }]);
    const found = (await house.trackers.get("web")).sources[0]?.channels.map(({ type, latest }) => [type, latest?.tag]);
    expect(found).toEqual([
      ["stable", "1.0.1"],
      ["prerelease", "2.0.0-rc.1"],
    ]);
  });

  test("waits for a release's age, and does not take a candidate meanwhile", async () => {
    house.publish("web", "2.0.0-rc.1");
    await house.create("web", {}, [source("web", { channels: [channel("stable")] })]);
    await house.tick();
    await house.clock.advance(3_600_000);
    house.publish("web", "1.0.1");
    await house.check("web");
    const sourceId = (await house.trackers.get("web")).sources[0]?.id ?? "";
    const choice = await house.trackers.desiredRelease(sourceId, "stable", { minimum_age_ms: 1_800_000 });
    expect(choice.release).toBeNull();
    expect(choice.ready_at).toBe(house.clock.now() + 1_800_000);
  });
});
