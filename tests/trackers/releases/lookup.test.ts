import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { channel, failureOf, plain, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const hour = 3_600_000;
let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const sourceId = async (name = "web") => (await house.trackers.get(name)).sources[0]?.id ?? "";

/** Publishes and checks, an hour apart. */
async function hourly(...tags: Parameters<TrackerHouse["publish"]>[1][]) {
  for (const tag of tags) {
    house.publish("web", tag);
    await house.check("web");
    await house.clock.advance(hour);
  }
}

describe("desiredRelease()", () => {
  test("is the channel's latest", async () => {
    await house.create("web");
    await hourly("1.0.0", "1.1.0");
    const { release, ready_at } = await house.trackers.desiredRelease(await sourceId(), "stable");
    expect(release).toMatchObject({ tag: "1.1.0", revision: "sha256:1.1.0", digest: "sha256:1.1.0" });
    expect(ready_at).toBeNull();
  });

  test.each([
    [0, "1.2.0", null],
    [2, "1.1.0", 1],
    [3, "1.0.0", 1],
    [9, null, 6],
  ])("with a minimum age of %d hours is %p, and says when the next is ready", async (hours, tag, readyIn) => {
    await house.create("web");
    await hourly("1.0.0", "1.1.0", "1.2.0");
    const choice = await house.trackers.desiredRelease(await sourceId(), "stable", { minimum_age_ms: hours * hour });
    expect(choice.release?.tag ?? null).toBe(tag);
    expect(choice.ready_at).toBe(readyIn === null ? null : house.clock.now() + readyIn * hour);
  });

  test("counts the age of a republished tag from its republishing", async () => {
    await house.create("web");
    await hourly("1.0.0", "1.1.0", { tag: "1.1.0", revision: "sha256:again" });
    const choice = await house.trackers.desiredRelease(await sourceId(), "stable", { minimum_age_ms: 2 * hour });
    expect(choice.release?.tag).toBe("1.0.0");
    expect(choice.ready_at).toBe(house.clock.now() + hour);
  });

  test("is nothing in a channel that the source has not, and not_found for no source", async () => {
    await house.create("web");
    await hourly("1.0.0");
    expect(await house.trackers.desiredRelease(await sourceId(), "beta")).toEqual({ release: null, ready_at: null });
    expect(await failureOf(house.trackers.desiredRelease("nobody", "beta"))).toMatchObject({ code: "not_found" });
  });
});

test("knownVersions() gives what is stored of a channel, the latest first, and how much that can be", async () => {
  await house.create("web");
  await hourly("1.0.0", "1.1.0");
  const { versions, ...limits } = await house.trackers.knownVersions(await sourceId(), "stable");
  expect(versions.map(({ tag, digest, is_prerelease }) => [tag, digest, is_prerelease])).toEqual([
    ["1.1.0", "sha256:1.1.0", false],
    ["1.0.0", "sha256:1.0.0", false],
  ]);
  expect(limits).toEqual({ depth: 10, keep: 20 });
  expect((await house.trackers.knownVersions(await sourceId(), "beta")).versions).toEqual([]);
});

test("imageFor() says where images come from, without asking anybody", async () => {
  await house.create("web");
  expect(await house.trackers.imageFor(await sourceId())).toBe("registry.test/web");
  expect(house.repository("web").asked).toEqual([]);
});

describe("releases()", () => {
  beforeEach(async () => {
    await house.create("web", {}, [
      source("web", { channels: [channel("stable", plain), channel("beta", "beta")] }),
      source("mirror", { key: "mirror" }),
    ]);
    house.publish("mirror", { tag: "1.0.0", published_at: house.clock.now() - 1 });
    await hourly("1.0.0", "1.1.0-beta", "1.1.0");
  });
  const list = async (query: Record<string, string>) =>
    (await house.trackers.releases("web", query)).items.map((release) => `${release.source_key} ${release.tag}`);

  test("are the whole history, the last published first, with channels", async () => {
    expect(await list({})).toEqual(["main 1.1.0", "main 1.1.0-beta", "main 1.0.0", "mirror 1.0.0"]);
    const [first] = (await house.trackers.releases("web", {})).items;
    expect(first).toMatchObject({
      tracker: "web",
      channels: ["stable"],
      latest_in: ["stable"],
      has_notes: false,
      url: "https://upstream.test/1.1.0",
    });
    expect(Object.keys(first ?? {})).not.toContain("notes");
  });

  test("can be asked for by channel and source, and page by page", async () => {
    expect(await list({ channel: "beta" })).toEqual(["main 1.1.0-beta"]);
    expect(await list({ source: "mirror" })).toEqual(["mirror 1.0.0"]);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await house.trackers.releases("web", { limit: "1", ...(cursor === null ? {} : { cursor }) });
      seen.push(...page.items.map((release) => `${release.source_key} ${release.tag}`));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(await list({}));
  });

  test("of all trackers come the last observed first, without what no channel takes", async () => {
    await house.create("other");
    house.publish("other", "3.0.0");
    await house.check("other");
    await house.trackers.update(house.actor, "web", {
      sources: [
        source("web", { channels: [channel("stable", "^1\\.0"), channel("beta", "beta")] }),
        source("mirror", { key: "mirror" }),
      ],
    });
    const first = await house.trackers.recentReleases({ limit: "2" });
    const second = await house.trackers.recentReleases({ limit: "2", cursor: first.next_cursor });
    const tags = [...first.items, ...second.items].map((release) => `${release.tracker} ${release.tag}`);
    expect(tags).toEqual(["other 3.0.0", "web 1.1.0-beta", "web 1.0.0", "web 1.0.0"]);
    expect(second.next_cursor).toBeNull();
  });

  test("are read one by one with their notes, and only in their own tracker", async () => {
    const [first] = (await house.trackers.releases("web", {})).items;
    expect(await house.trackers.getRelease("web", first?.id ?? "")).toMatchObject({ tag: "1.1.0", notes: null });
    await house.create("other");
    expect(await failureOf(house.trackers.getRelease("other", first?.id ?? ""))).toMatchObject({ status: 404 });
  });
});

describe("explain()", () => {
  test("gives each rule's verdict and the place in the channel", async () => {
    await house.create("web", {}, [
      source("web", { channels: [channel("stable", plain), channel("beta", "", "^1\\.0")] }),
    ]);
    await hourly("1.0.0", "1.1.0");
    expect(await house.trackers.explain("web", { tag: "1.0.0" })).toMatchObject({
      tracker: "web",
      tag: "1.0.0",
      sources: [
        {
          key: "main",
          release: { tag: "1.0.0" },
          channels: [
            { type: "stable", accepted: true, rule: "included", rank: 2, latest: "1.1.0", range: { start: 0, end: 5 } },
            {
              type: "beta",
              accepted: false,
              rule: "excluded",
              rank: null,
              latest: "1.1.0",
              range: { start: 0, end: 3 },
            },
          ],
        },
      ],
    });
  });

  test("judges a tag that was never seen", async () => {
    await house.create("web");
    const { sources } = await house.trackers.explain("web", { tag: "nightly" });
    expect(sources).toMatchObject([
      { release: null, channels: [{ accepted: false, rule: "not_included", rank: null }] },
    ]);
  });
});
