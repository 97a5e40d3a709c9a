import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NotesView } from "../../../src/trackers/notes/schema.ts";
import { channel, failureOf, plain, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse({ keep: 100 });
});
afterEach(() => house.close());

const git = { key: "git", kind: "gitlab", channels: [channel("stable", plain), channel("beta", "-beta")] };

/** A repository with notes for each of its tags. */
async function repository(...tags: string[]) {
  for (const tag of tags) house.publish("web", { tag, notes: `notes of ${tag}` });
  await house.create("web", { fetch_depth: 100 }, [source("web", git)]);
  await house.check("web");
}

const names = (view: NotesView) => view.versions.map(({ version }) => version);

describe("notesBetween()", () => {
  test.each([
    [{ from: "1.0.0", to: "1.3.0" }, ["1.3.0", "1.2.0", "1.1.0"], "up"],
    [{ from: "v1.0.0", to: "v1.2.0" }, ["1.2.0", "1.1.0"], "up"],
    [{ from: "1.0.5", to: "1.2.0" }, ["1.2.0", "1.1.0"], "up"],
    [{ from: "1.0.0-alpine", to: "1.2.0-alpine" }, ["1.2.0", "1.1.0"], "up"],
    [{ from: "1.2.0", to: "1.0.0" }, ["1.2.0", "1.1.0"], "down"],
    [{ from: "1.2.0", to: "1.2.0" }, ["1.2.0"], "same"],
    [{ from: "latest", to: "1.2.0" }, ["1.2.0"], "unknown"],
    [{ to: "1.2.0" }, ["1.2.0"], "unknown"],
    [{ from: "1.1.0" }, ["1.3.0", "1.2.0"], "up"],
    [{}, ["1.3.0"], "unknown"],
    [{ from: "0.1.0", channel: "beta" }, ["1.4.0-beta.1"], "up"],
    [{ from: "1.2.0", to: "1.4.0-beta.1" }, ["1.4.0-beta.1", "1.3.0"], "up"],
    [{ from: "2.0.0", to: "3.0.0" }, [], "up"],
    [{ from: "1.0.0", source: "other" }, [], "unknown"],
  ] as const)("of %j are those of %j", async (query, expected, direction) => {
    await repository("v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0-beta.1");
    const view = await house.trackers.notesBetween("web", query);
    expect(names(view)).toEqual([...expected]);
    expect(view.direction).toBe(direction);
    expect(view.versions.every(({ notes, tag }) => notes === `notes of ${tag}`)).toBe(true);
  });

  test("marks breaking changes", async () => {
    house.publish("web", { tag: "1.0.0", notes: "old" }, { tag: "2.0.0", notes: "# 2\n\nBREAKING CHANGE: port 80" });
    await house.create("web", {}, [source("web", git)]);
    await house.check("web");
    const view = await house.trackers.notesBetween("web", { from: "1.0.0" });
    expect(view.versions[0]?.breaking_changes).toEqual([{ line: 3, text: "BREAKING CHANGE: port 80" }]);
  });

  test("gives an image the notes of its version in the repository", async () => {
    house.publish("web", { tag: "v1.2.0", notes: "from git" });
    house.publish("image", "1.2.0-alpine");
    const image = source("image", { key: "image", channels: [channel("stable", "-alpine$")] });
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    const view = await house.trackers.notesBetween("web", { to: "1.2.0-alpine", source: "image" });
    expect(view.versions).toMatchObject([{ version: "1.2.0-alpine", notes: "from git", source_key: "git" }]);
  });

  test("says why a changelog gave none", async () => {
    house.publish("web", "1.2.0");
    await house.create("web", { release_notes: { source: "changelog" } }, [source("web", git)]);
    await house.check("web");
    const view = await house.trackers.notesBetween("web", {});
    expect(view.versions).toMatchObject([
      { notes: null, notes_error: 'There is no file "CHANGELOG.md" on the default branch', breaking_changes: [] },
    ]);
  });

  test("leaves out the oldest of many versions, and counts them", async () => {
    await repository(...Array.from({ length: 60 }, (_, minor) => `1.${minor}.0`));
    const view = await house.trackers.notesBetween("web", { from: "1.0.0" });
    expect(names(view)).toHaveLength(50);
    expect(names(view)[0]).toBe("1.59.0");
    expect(view.omitted_count).toBe(9);
  });

  test("leaves out what is over 1 MiB of notes", async () => {
    for (const minor of [0, 1, 2, 3, 4, 5]) house.publish("web", { tag: `1.${minor}.0`, notes: "x".repeat(250_000) });
    await house.create("web", {}, [source("web", git)]);
    await house.check("web");
    const view = await house.trackers.notesBetween("web", { from: "0.1.0" });
    expect([view.versions.length, view.omitted_count]).toEqual([4, 2]);
  });

  test.each([
    ["nobody", {}, "not_found"],
    ["web", { channel: "X" }, "invalid_input"],
    ["web", { to: "x".repeat(257) }, "invalid_input"],
  ])("of %s with %j is refused", async (name, query, code) => {
    await house.create("web");
    expect(await failureOf(house.trackers.notesBetween(name, query))).toMatchObject({ code });
  });
});
