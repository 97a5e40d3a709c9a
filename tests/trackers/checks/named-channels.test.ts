import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import { channel, failureOf, plain, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const named = (name: string, include: string, change = {}) => ({ ...channel("stable", include), name, ...change });
const lines = [named("16", "^16\\."), named("17", "^17\\.")];
const next = () => house.clock.advance(60_000);
const edit = (channels: unknown[]) =>
  house.trackers.update(house.actor, "db", { sources: [source("db", { channels })] });
const shown = async () =>
  (await house.trackers.get("db")).sources[0]?.channels.map(({ name, type, latest }) => [
    name,
    type,
    latest?.tag ?? null,
  ]);

describe("the name of a channel", () => {
  test("is its type's where none is given", async () => {
    const { sources } = await house.create("db", {}, [source("db", { channels: [channel("beta"), ...lines] })]);
    expect(sources[0]?.channels.map(({ name, type }) => [name, type])).toEqual([
      ["beta", "beta"],
      ["16", "stable"],
      ["17", "stable"],
    ]);
  });

  const refusals: [what: string, channels: unknown[], field: string, message: string][] = [
    ["one name twice", [named("16", ""), named("16", "")], "channels.1.name", "choose another name"],
    ["a type's name twice", [channel("stable"), named("stable", "")], "channels.1.name", "choose another name"],
    ["another type's word", [named("canary", "")], "channels.0.name", 'Only channels of type canary can be named "'],
    ["capital letters", [named("LTS", "")], "channels.0.name", "Use lowercase letters"],
    ["51 characters", [named("a".repeat(51), "")], "channels.0.name", "Use at most 50 characters"],
    ["eleven channels", Array.from({ length: 11 }, (_, n) => named(`l${n}`, "")), "channels", "At most 10 are allowed"],
  ];
  test.each(refusals)("is refused for %s", async (_what, channels, field, message) => {
    const error = await failureOf(house.create("db", {}, [source("db", { channels })]));
    const fields = error instanceof AppError ? error.fields : {};
    expect(Object.keys(fields ?? {})).toEqual([`sources.0.${field}`]);
    expect(Object.values(fields ?? {})[0]).toContain(message);
  });

  test("may have digits, dots and dashes, 50 in all, ten of them in a source", async () => {
    const names = ["16", "pg-16", "v1.2", "a".repeat(50), ...Array.from({ length: 6 }, (_, n) => `l${n}`)];
    const channels = names.map((name) => named(name, ""));
    const { sources } = await house.create("db", {}, [source("db", { channels })]);
    expect(sources[0]?.channels.map(({ name }) => name)).toEqual(names);
  });
});

describe("two lines in one source", () => {
  test("lead, are announced and wake their executors each by itself, at one request for each check", async () => {
    house.publish("db", "16.1", "17.1");
    const tracker = await house.create("db", {}, [source("db", { channels: lines })]);
    await house.tick();
    const at = { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "" };
    const old = await house.bind("old", { ...at, channel: "16" });
    const young = await house.bind("young", { ...at, channel: "17" });
    await next();
    house.publish("db", "16.2");
    await house.check("db");
    expect((await house.executorRow(old))?.next_evaluation_at).toBe(house.clock.now());
    expect((await house.executorRow(young))?.next_evaluation_at).toBeNull();
    expect(house.releaseEvents()).toMatchObject([
      { channel: "16", channel_type: "stable", version: "16.2", previous_version: "16.1", also: [], remark: null },
    ]);
    await next();
    house.publish("db", "16.3", "17.2");
    await house.check("db");
    expect(house.releaseEvents().map(({ channel, version }) => [channel, version])).toEqual([
      ["16", "16.2"],
      ["16", "16.3"],
      ["17", "17.2"],
    ]);
    expect(house.repository("db").asked).toHaveLength(3);
    const wanted = async (name: string) => (await house.trackers.desiredRelease(at.source_id, name)).release?.tag;
    expect([await wanted("16"), await wanted("17"), await wanted("stable")]).toEqual(["16.3", "17.2", undefined]);
  });

  test("are told apart in releases, versions, explanations and previews", async () => {
    house.publish("db", "16.1", "17.1");
    await house.create("db", {}, [source("db", { channels: lines })]);
    await house.tick();
    const { items } = await house.trackers.releases("db", { channel: "16" });
    expect(items).toMatchObject([{ tag: "16.1", channels: ["16"], latest_in: ["16"] }]);
    expect((await house.trackers.versions("db", { channel: "stable" })).items).toEqual([]);
    const explained = await house.trackers.explain("db", { tag: "17.1" });
    expect(explained.sources[0]?.channels).toMatchObject([
      { name: "16", type: "stable", accepted: false, latest: "16.1" },
      { name: "17", type: "stable", accepted: true, rank: 1 },
    ]);
    const { kind, config } = source("db");
    const preview = await house.trackers.preview({ kind, config, channels: lines });
    expect(preview.channels).toMatchObject([
      { name: "16", type: "stable", accepted_count: 1, latest: "16.1" },
      { name: "17", type: "stable", accepted_count: 1, latest: "17.1" },
    ]);
  });
});

describe("an edit", () => {
  test("keeps a channel by its name: order and rules change, latest and baseline do not", async () => {
    house.publish("db", "16.1", "17.1");
    await house.create("db", {}, [source("db", { channels: lines })]);
    await house.tick();
    const before = await house.channelRows();
    await edit([channel("beta", "-beta"), ...lines.toReversed()]);
    expect(await shown()).toEqual([
      ["beta", "beta", null],
      ["17", "stable", "17.1"],
      ["16", "stable", "16.1"],
    ]);
    const kept = (await house.channelRows()).filter(({ name }) => name !== "beta");
    expect(kept.map(({ id, baseline_at }) => [id, baseline_at])).toEqual(
      before.map(({ id, baseline_at }) => [id, baseline_at]),
    );
  });

  test("of a channel's type is one of its rules: under its name it stays bound, and is silent once", async () => {
    house.publish("db", "16.1", "16.2-beta1");
    const tracker = await house.create("db", {}, [source("db", { channels: [named("16", "^16\\.")] })]);
    await house.tick();
    await house.bind("app", { tracker_id: tracker.id, source_id: tracker.sources[0]?.id ?? "", channel: "16" });
    await edit([named("16", "^16\\.", { type: "beta" })]);
    expect(await shown()).toEqual([["16", "beta", "16.2-beta1"]]);
    expect((await house.channelRows())[0]?.baseline_at).toBeNull();
    await next();
    await house.check("db");
    expect(house.releaseEvents()).toEqual([]);
    const refused = await failureOf(edit([named("17", "^17\\.")]));
    expect(refused).toMatchObject({
      code: "in_use",
      message: 'The release channel "16" of source "main" is used by executor "app"',
    });
  });
});

test("sources agree by the names of their channels", async () => {
  const agreed = (name: string) => named(name, `^v?${name}\\.`, { requires_agreement: true });
  const both = [agreed("16"), agreed("17")];
  house.publish("git", "v16.1", "v17.1");
  house.publish("image", "16.1");
  await house.create("db", {}, [
    source("git", { key: "git", channels: both }),
    source("image", { key: "image", channels: [agreed("16"), channel("stable", plain)] }),
  ]);
  await house.check("db");
  // The image has no channel 17 that could have a say.
  const latest = (await house.trackers.get("db")).sources[0]?.channels.map((own) => own.latest?.tag ?? null);
  expect(latest).toEqual(["v16.1", "v17.1"]);
  await next();
  house.publish("git", "v16.2");
  await house.check("db");
  expect(house.releaseEvents()).toEqual([]);
  await next();
  house.publish("image", "16.2");
  await house.check("db");
  expect(
    house
      .releaseEvents()
      .find(({ channel }) => channel === "16")
      ?.sources.toSorted(),
  ).toEqual(["git", "image"]);
});

test("a version is announced once for each name, and a second source adds itself to the event of its own channel", async () => {
  const both = [named("16", "^v?16\\."), named("all", "^v?\\d")];
  await house.create("db", {}, [
    source("git", { key: "git", channels: both }),
    source("image", { key: "image", channels: both.slice(0, 1) }),
  ]);
  await house.check("db");
  await next();
  house.publish("git", "16.2");
  await house.check("db");
  await next();
  house.publish("image", "16.2");
  await house.check("db");
  const told = (await house.storedEvents()).map(({ facts }) => [facts.channel, facts.version, facts.sources]);
  expect(told).toEqual([
    ["16", "16.2", ["git", "image"]],
    ["all", "16.2", ["git"]],
  ]);
  await next();
  house.publish("git", "17.1");
  await house.check("db");
  await house.trackers.update(house.actor, "db", {
    sources: [
      source("git", { key: "git", channels: both }),
      source("image", { key: "image", channels: [...both.slice(0, 1), named("17", "^17\\.")] }),
    ],
  });
  await house.check("db");
  await next();
  // In git it was news of another channel.
  house.publish("image", { tag: "17.1", appeared: true });
  await house.check("db");
  expect(house.releaseEvents().map(({ channel, version }) => [channel, version])).toEqual([
    ["16", "16.2"],
    ["all", "16.2"],
    ["all", "17.1"],
    ["17", "17.1"],
  ]);
});
