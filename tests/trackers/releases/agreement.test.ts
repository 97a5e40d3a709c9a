import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { plain } from "../../../src/messages/message.ts";
import { isBuiltFrom } from "../../../src/trackers/releases/agreement.ts";
import { displayVersion } from "../../../src/trackers/releases/display.ts";
import { channel, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const agreed = { ...channel("stable", "^v?\\d"), requires_agreement: true };
const next = () => house.clock.advance(60_000);

/** Two sources, `git` and `image`, whose stable channels lead only with what both show. */
async function createBoth(own = agreed, other = agreed): Promise<void> {
  await house.create("app", {}, [
    source("git", { key: "git", channels: [own] }),
    source("image", { key: "image", channels: [other] }),
  ]);
}

describe("a channel that asks for agreement", () => {
  test("leads only with what every source shows, and is announced once, by the last to show it", async () => {
    house.publish("git", "v1.0.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    await next();
    house.publish("git", "v1.1.0");
    await house.check("app");
    expect(house.releaseEvents()).toEqual([]);
    expect([await house.latest("app", "stable", 0), await house.latest("app", "stable", 1)]).toEqual([
      "v1.0.0",
      "1.0.0",
    ]);
    await next();
    house.publish("image", "1.1.0");
    await house.check("app");
    expect(house.releaseEvents()).toMatchObject([{ channel: "stable", tag: "1.1.0" }]);
    expect(house.releaseEvents()[0]?.sources.toSorted()).toEqual(["git", "image"]);
    expect([await house.latest("app", "stable", 0), await house.latest("app", "stable", 1)]).toEqual([
      "v1.1.0",
      "1.1.0",
    ]);
    await next();
    await house.check("app");
    expect(house.releaseEvents()).toHaveLength(1);
  });

  test("explains what waits for another source, and what leads meanwhile", async () => {
    house.publish("git", "v1.0.0", "v1.1.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    const explained = async (tag: string) =>
      (await house.trackers.explain("app", { tag })).sources.find(({ key }) => key === "git")?.channels;
    expect(await explained("v1.1.0")).toMatchObject([
      { accepted: true, waits_for_agreement: true, rank: null, latest: "v1.0.0" },
    ]);
    expect(await explained("v1.0.0")).toMatchObject([
      { accepted: true, waits_for_agreement: false, rank: 1, latest: "v1.0.0" },
    ]);
  });

  test("tells the notes of whoever has them, and where they are to be read", async () => {
    house.publish("git", "v1.0.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    await next();
    house.publish("git", { tag: "v1.1.0", notes: "What is new" });
    house.publish("image", "1.1.0");
    await house.check("app");
    expect(house.releaseEvents()).toMatchObject([{ notes: "What is new", url: "https://upstream.test/v1.1.0" }]);
  });

  test("is silent about what all showed at the first check", async () => {
    house.publish("git", "v1.0.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    await next();
    await house.check("app");
    expect(house.releaseEvents()).toEqual([]);
  });

  test("lets another channel announce at once", async () => {
    house.publish("git", "v1.0.0");
    house.publish("image", "1.0.0");
    await createBoth({ ...agreed, requires_agreement: false });
    await house.check("app");
    await next();
    house.publish("git", "v1.1.0");
    await house.check("app");
    expect(house.releaseEvents()).toMatchObject([{ tag: "v1.1.0", sources: ["git"] }]);
    await next();
    house.publish("image", "1.1.0");
    await house.check("app");
    expect(house.releaseEvents()).toHaveLength(1);
    expect(await house.latest("app", "stable", 1)).toBe("1.1.0");
  });

  test("wants for executors only what all show", async () => {
    house.publish("git", "v1.0.0", "v1.1.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    const [git] = (await house.trackers.get("app")).sources;
    expect((await house.trackers.desiredRelease(git?.id ?? "", "stable")).release?.tag).toBe("v1.0.0");
  });

  test("judges what is stored anew when the rule is switched", async () => {
    house.publish("git", "v1.0.0", "v1.1.0");
    house.publish("image", "1.0.0");
    await createBoth();
    await house.check("app");
    const open = { ...agreed, requires_agreement: false };
    const sources = [
      source("git", { key: "git", channels: [open] }),
      source("image", { key: "image", channels: [open] }),
    ];
    await house.trackers.update(house.actor, "app", { sources });
    expect(await house.latest("app", "stable", 0)).toBe("v1.1.0");
    expect(house.releaseEvents()).toEqual([]);
  });
});

describe("one version by several names", () => {
  const open = channel("stable", "^v?\\d");

  test("a new chart of an application that was told of is announced by itself", async () => {
    house.publish("git", "v1.4.0");
    house.publish("chart", { tag: "3.4.0", app_version: "1.4.0" });
    await house.create("app", {}, [
      source("git", { key: "git", channels: [open] }),
      source("chart", { key: "chart", channels: [open] }),
    ]);
    await house.check("app");
    await next();
    house.publish("git", "v1.5.0");
    house.publish("chart", { tag: "3.5.0", app_version: "1.5.0" });
    await house.check("app");
    expect(house.releaseEvents()).toHaveLength(1);
    await next();
    house.publish("chart", { tag: "3.5.1", app_version: "1.5.0" });
    await house.check("app");
    await next();
    await house.check("app");
    expect(house.releaseEvents().map(({ tag }) => tag)).toEqual([expect.any(String), "3.5.1"]);
  });

  test("the same version written twice in one registry is announced once", async () => {
    house.publish("image", "v1.0.0");
    await house.create("app", {}, [source("image", { channels: [open] })]);
    await house.check("app");
    for (const tag of ["v1.1.0", "1.1.0"]) {
      await next();
      house.publish("image", tag);
      await house.check("app");
    }
    expect(house.releaseEvents().map(({ tag }) => tag)).toEqual(["v1.1.0"]);
  });
});

describe("versions()", () => {
  test("gives one row for what all sources show, with those that do not", async () => {
    house.publish("git", "v1.0.0", "v1.1.0");
    house.publish("image", "1.0.0");
    await createBoth(channel("stable", "^v?\\d") as typeof agreed, channel("stable", "^v?\\d") as typeof agreed);
    await house.check("app");
    const { items } = await house.trackers.versions("app", {});
    expect(items.map(({ version, missing, releases }) => [version, missing, releases.map(({ tag }) => tag)])).toEqual([
      ["1.1.0", ["image"], ["v1.1.0"]],
      ["1.0.0", [], ["v1.0.0", "1.0.0"]],
    ]);
    const narrowed = await house.trackers.versions("app", { source: "image" });
    expect(narrowed.items.map(({ version }) => version)).toEqual(["1.0.0"]);
  });

  test("counts what each filter leaves, with the other as it is, and a version of two sources once", async () => {
    house.publish("git", "v1.0.0", "v1.1.0", "v2.0.0-beta.1");
    house.publish("image", "1.0.0");
    const beta = channel("beta", "beta");
    const stable = channel("stable", "^v?\\d+\\.\\d+\\.\\d+$");
    await house.create("app", {}, [
      source("git", { key: "git", channels: [stable, beta] }),
      source("image", { key: "image", channels: [stable] }),
    ]);
    await house.check("app");
    const counts = async (query: Record<string, string>) => (await house.trackers.history("app", query)).counts;
    expect(await counts({ limit: "1" })).toEqual({
      channel: { "": 3, stable: 2, beta: 1 },
      source: { "": 3, git: 3, image: 1 },
    });
    expect(await counts({ channel: "stable" })).toEqual({
      channel: { "": 3, stable: 2, beta: 1 },
      source: { "": 2, git: 2, image: 1 },
    });
    expect(await counts({ source: "image", channel: "beta" })).toEqual({
      channel: { "": 1, stable: 1 },
      source: { "": 1, git: 1 },
    });
    expect(Object.keys(await house.trackers.versions("app", {}))).toEqual(["items", "next_cursor"]);
  });

  test("a source that was not read yet is not one that lacks them", async () => {
    house.publish("image", "1.0.0");
    house.repository("git").failure = new PluginError("unreachable", plain("Away"));
    await createBoth(channel("stable", "^v?\\d") as typeof agreed, channel("stable", "^v?\\d") as typeof agreed);
    await house.check("app");
    const { items } = await house.trackers.versions("app", {});
    expect(items.map(({ missing, unread }) => [missing, unread])).toEqual([[[], ["git"]]]);
  });

  test("come page by page", async () => {
    house.publish("git", "1.0.0", "1.1.0", "1.2.0");
    await house.create("app", {}, [source("git", { channels: [channel("stable", "^\\d")] })]);
    await house.check("app");
    const first = await house.trackers.versions("app", { limit: "2" });
    const second = await house.trackers.versions("app", { limit: "2", cursor: first.next_cursor });
    expect([...first.items, ...second.items].map(({ version }) => version)).toEqual(["1.2.0", "1.1.0", "1.0.0"]);
    expect(second.next_cursor).toBeNull();
  });
});

test.each([
  ["v1.2.3", null, true, "1.2.3"],
  ["version/2024.12.3", null, true, "2024.12.3"],
  ["release-1.2.3", null, true, "1.2.3"],
  ["65.1.0", "v0.78.1", true, "0.78.1"],
  ["65.1.0", "0.78.1", false, "65.1.0"],
  ["65.1.0", null, true, "65.1.0"],
  ["latest", null, true, "latest"],
  ["prometheus-adapter-4.1.0", null, true, "prometheus-adapter-4.1.0"],
])("displayVersion(%p with application %p, by application: %p) is %p", (version, app_version, byApplication, shown) => {
  expect(displayVersion({ version, app_version }, byApplication)).toBe(shown);
});

const commit = "1f2e3d4c5b6a79880716253443526170f8e9d0c1";
test.each([
  [commit, commit, true],
  [commit.slice(0, 7), commit, true],
  [commit.toUpperCase(), commit, true],
  ["0".repeat(40), commit, false],
  ["main", commit, null],
  [null, commit, null],
  [commit, null, null],
])("isBuiltFrom(%p, %p) is %p", (image, git, is) => {
  expect(isBuiltFrom(image, git)).toBe(is);
});
