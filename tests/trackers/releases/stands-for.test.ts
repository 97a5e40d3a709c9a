import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { standsFor, twinsAmong } from "../../../src/trackers/releases/stands-for.ts";
import { channel, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

describe("standsFor()", () => {
  test.each<[string, string[], string | null, string | null]>([
    ["latest", ["1", "1.27", "1.27.4", "1.27.4-bookworm"], null, "1.27.4"],
    ["1", ["1.27", "latest", "1.27.4"], null, "1.27.4"],
    ["1.27", ["1", "1.27.4", "latest"], null, "1.27.4"],
    ["17", ["17.4", "latest"], null, "17.4"],
    ["alpine", ["1.27.4-alpine", "1.27.4-alpine3.21", "1-alpine"], null, "1.27.4-alpine"],
    ["v1", ["v1.2.3"], null, "v1.2.3"],
    ["stable", ["2025.1.3", "2025.1"], "2024.9.9", "2025.1.3"],
    ["latest", ["edge", "main"], "1.2.3", "1.2.3"],
    ["lts", [], "2.479.1", "2.479.1"],
    ["edge", [], "edge", null],
    ["latest", [], null, null],
    ["1.27.4", ["1.27.4-bookworm", "latest"], "1.27.4-1", null],
    ["1.5", [], "24.04", null],
    ["1.5", [], "1.5.2", "1.5.2"],
    ["1.5", ["2.5.1"], null, null],
    ["sha-0c1d2e3f", ["1.2.3"], "1.2.3", null],
  ])("%p beside %p with the label %p is %p", (tag, others, labelled_version, expected) => {
    const build = (name: string) => ({ source_id: "s", tag: name, revision: "sha256:a" });
    const twins = twinsAmong([tag, ...others].map(build));
    expect(standsFor({ ...build(tag), labelled_version }, twins)).toBe(expected);
  });

  test("looks at neither other builds nor other sources, nor at what has no build", () => {
    const twins = twinsAmong([
      { source_id: "s", tag: "1.2.3", revision: "sha256:b" },
      { source_id: "t", tag: "1.2.4", revision: "sha256:a" },
      { source_id: "s", tag: "1.2.5", revision: null },
    ]);
    for (const revision of ["sha256:a", null]) {
      expect(standsFor({ source_id: "s", tag: "latest", revision, labelled_version: null }, twins)).toBeNull();
    }
  });
});

describe("a floating tag", () => {
  let house: TrackerHouse;
  beforeEach(async () => {
    house = await trackerHouse();
  });
  afterEach(() => house.close());

  test("shows the version behind it wherever releases are shown, and another one after it moved", async () => {
    await house.create("web", {}, [
      source("web", { channels: [channel("stable", "^\\d"), channel("canary", "^latest$")] }),
    ]);
    house.publish("web", "1.0.0", { tag: "latest", revision: "sha256:1.0.0" });
    await house.check("web");
    const shown = async () => {
      const views = (await house.trackers.releases("web", {})).items;
      const recent = (await house.trackers.recentReleases({})).items;
      const versions = (await house.trackers.versions("web", {})).items.flatMap((version) => version.releases);
      const explained = (await house.trackers.explain("web", { tag: "latest" })).sources.flatMap(
        ({ release }) => release ?? [],
      );
      const all = [views, recent, versions, explained].map(
        (list) => list.find((release) => release.tag === "latest")?.stands_for,
      );
      const [main] = (await house.trackers.get("web")).sources;
      const latest = main?.channels.find(({ type }) => type === "canary")?.latest;
      return new Set([...all, latest?.stands_for]);
    };
    expect(await shown()).toEqual(new Set(["1.0.0"]));
    house.publish("web", "1.1.0", { tag: "latest", revision: "sha256:1.1.0" });
    await house.check("web");
    expect(await shown()).toEqual(new Set(["1.1.0"]));
  });

  test("forgets the label of a build that it no longer names", async () => {
    await house.create("web", {}, [source("web", { channels: [channel("stable", "^latest$")] })]);
    house.publish("web", { tag: "latest", labelled_version: "1.0.0" });
    await house.check("web");
    const stands = async () => (await house.trackers.releases("web", {})).items.map(({ stands_for }) => stands_for);
    expect(await stands()).toEqual(["1.0.0"]);
    house.repository("web").tags = [{ tag: "latest", revision: "sha256:next", published_at: null }];
    await house.check("web");
    expect(await stands()).toEqual([null]);
  });
});
