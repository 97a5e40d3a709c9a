import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { releases } from "../../../src/db/tables.ts";
import { PluginError } from "../../../src/errors.ts";
import { plain as words } from "../../../src/messages/message.ts";
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

  test("marks security fixes, and links each version to its sources", async () => {
    house.publish("web", { tag: "v2.0.0", notes: "- fix CVE-2026-1234" });
    house.publish("image", "2.0.0");
    const image = source("image", { key: "image" });
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    const view = await house.trackers.notesBetween("web", {});
    expect(view.versions).toMatchObject([
      {
        security_fixes: [{ line: 1, text: "fix CVE-2026-1234", ids: ["CVE-2026-1234"] }],
        links: [
          { source_key: "image", url: "https://web.test/image/2.0.0" },
          { source_key: "git", url: "https://web.test/web/v2.0.0" },
        ],
      },
    ]);
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

describe("what is known of notes", () => {
  const image = source("image", { key: "image" });
  const away = () => {
    house.repository("web").failure = new PluginError("unreachable", words("Away"));
  };
  const states = async (query: Record<string, string> = { from: "1.0.0", to: "1.1.0" }) => {
    const { versions } = await house.trackers.notesBetween("web", { ...query, source: "image" });
    return versions.map(({ version, notes_state }) => [version, notes_state]);
  };
  const breaking = async (to = "1.1.0") => {
    const steps = await house.trackers.breakingIn([
      { tracker: "web", source: "image", channel: "stable", from: "1.0.0", to },
    ]);
    return steps.map(({ versions, notes }) => [versions.length, notes]);
  };

  test("without a source that has notes, nothing announces what breaks", async () => {
    house.publish("image", "1.0.0", "1.1.0");
    await house.create("web", {}, [image]);
    await house.check("web");
    expect(await states()).toEqual([["1.1.0", "no_source"]]);
    expect(await breaking()).toEqual([[0, "no_source"]]);
  });

  test("a source that was never read may have some", async () => {
    house.publish("image", "1.0.0", "1.1.0");
    away();
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    expect(await states()).toEqual([["1.1.0", "unknown"]]);
    expect(await breaking()).toEqual([[0, "unread"]]);
  });

  test("a source that was read has some, or none", async () => {
    house.publish("image", "1.0.0", "1.1.0", "1.2.0");
    house.publish("web", "v1.0.0", "v1.1.0", { tag: "v1.2.0", notes: "BREAKING CHANGE: port 80" });
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    expect(await states({ from: "1.0.0", to: "1.2.0" })).toEqual([
      ["1.2.0", "published"],
      ["1.1.0", "none"],
    ]);
    expect(await breaking()).toEqual([]);
    expect(await breaking("1.2.0")).toEqual([[1, "read"]]);
  });

  test("a source that was not read since the version came out may have some by now", async () => {
    house.publish("image", "1.0.0", "1.1.0");
    house.publish("web", "v1.0.0", "v1.1.0");
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    await house.clock.advance(86_400_000);
    house.publish("image", "1.2.0");
    away();
    await house.check("web");
    expect(await states({ from: "1.0.0", to: "1.2.0" })).toEqual([
      ["1.2.0", "unknown"],
      ["1.1.0", "none"],
    ]);
    expect(await breaking("1.2.0")).toEqual([[0, "unread"]]);
  });

  test("a source says nothing of versions before its oldest", async () => {
    house.publish("image", "1.0.0", "1.1.0", "1.2.0");
    house.publish("web", "v1.2.0");
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    expect(await states({ from: "1.0.0", to: "1.2.0" })).toEqual([
      ["1.2.0", "none"],
      ["1.1.0", "unknown"],
    ]);
  });

  test("a changelog that could not be read may announce something", async () => {
    house.publish("web", "1.0.0", "1.1.0");
    await house.create("web", { release_notes: { source: "changelog" } }, [source("web", git)]);
    await house.check("web");
    const steps = [{ tracker: "web", source: "git", channel: "stable", from: "1.0.0", to: "1.1.0" }];
    expect(await house.trackers.breakingIn(steps)).toMatchObject([{ versions: [], notes: "unread" }]);
  });
});

describe("comparison()", () => {
  test("counts the steps between two versions, and names both", async () => {
    house.publish("web", { tag: "v1.0.0", published_at: house.clock.now() - 10 * 86_400_000 });
    house.publish("web", { tag: "v1.0.1", published_at: house.clock.now() - 9 * 86_400_000 });
    house.publish("web", { tag: "v1.1.0", published_at: house.clock.now() - 3 * 86_400_000 });
    await house.create("web", {}, [source("web", git)]);
    await house.check("web");
    const view = await house.trackers.comparison("web", { from: "1.0.0", to: "1.1.0" });
    expect(names(view)).toEqual(["1.1.0", "1.0.1"]);
    expect(view).toMatchObject({
      direction: "up",
      from_version: { version: "1.0.0", links: [{ source_key: "git", url: "https://web.test/web/v1.0.0" }] },
      to_version: { version: "1.1.0", links: [{ source_key: "git", url: "https://web.test/web/v1.1.0" }] },
      distance: { releases: 2, steps: { major: 0, minor: 1, patch: 1 }, days: 7 },
      comparison_pages: [{ source_key: "git", url: "https://web.test/web/v1.0.0...v1.1.0" }],
    });
    const back = await house.trackers.comparison("web", { from: "1.1.0", to: "1.0.0" });
    expect(back).toMatchObject({
      direction: "down",
      from_version: { version: "1.1.0" },
      distance: view.distance,
      comparison_pages: view.comparison_pages,
    });
    expect(names(back)).toEqual(["1.1.0", "1.0.1"]);
  });

  test("begins with the version before the newer one, unless another is asked for", async () => {
    await repository("v1.0.0", "v1.1.0", "v1.2.0");
    expect(await house.trackers.comparison("web", {})).toMatchObject({ from: "1.1.0", to: "v1.2.0" });
    expect(await house.trackers.comparison("web", { to: "1.1.0" })).toMatchObject({ from: "1.0.0", to: "1.1.0" });
    expect(await house.trackers.comparison("web", { to: "1.0.0" })).toMatchObject({ from: null, comparison_pages: [] });
  });

  test("compares an image's variants by their repository", async () => {
    house.publish("web", { tag: "v1.0.0", notes: "one" }, { tag: "v1.1.0", notes: "two" });
    house.publish("image", "1.0.0-alpine", "1.1.0-alpine");
    const image = source("image", { key: "image", channels: [channel("stable", "-alpine$")] });
    await house.create("web", {}, [image, source("web", git)]);
    await house.check("web");
    const query = { from: "1.0.0-alpine", to: "1.1.0-alpine", source: "image" };
    const view = await house.trackers.comparison("web", query);
    expect(view.versions).toMatchObject([{ version: "1.1.0-alpine", notes: "two" }]);
    expect(view.distance).toMatchObject({ releases: 1, steps: { major: 0, minor: 1, patch: 0 } });
    expect(view.comparison_pages).toEqual([
      { source_key: "image", url: "https://web.test/image/1.0.0-alpine...1.1.0-alpine" },
      { source_key: "git", url: "https://web.test/web/v1.0.0...v1.1.0" },
    ]);
  });

  test("of a version with itself, and with one that nobody knows, has no distance", async () => {
    await repository("v1.0.0", "v1.1.0");
    const same = await house.trackers.comparison("web", { from: "1.1.0", to: "v1.1.0" });
    expect(same).toMatchObject({ direction: "same", distance: null, comparison_pages: [] });
    const unknown = await house.trackers.comparison("web", { from: "latest", to: "1.1.0" });
    expect(unknown).toMatchObject({ direction: "unknown", from_version: null, distance: null, comparison_pages: [] });
    const older = await house.trackers.comparison("web", { from: "0.9.0", to: "1.1.0" });
    expect(older).toMatchObject({ direction: "up", from_version: null, distance: { is_at_least: true } });
  });

  test("of a tracker without versions is empty", async () => {
    await house.create("web", {}, [source("web", git)]);
    expect(await house.trackers.comparison("web", {})).toMatchObject({ from: null, to: null, versions: [] });
    expect(await house.trackers.comparableVersions("web", {}, 10)).toEqual([]);
  });
});

describe("comparableVersions()", () => {
  test("are named once, the newest first, at most as many as asked for", async () => {
    await repository("v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0-beta.1");
    expect(await house.trackers.comparableVersions("web", { channel: "stable" }, 2)).toEqual(["1.2.0", "1.1.0"]);
    expect(await house.trackers.comparableVersions("web", {}, 10)).toHaveLength(4);
  });
});

describe("notesMarks()", () => {
  test("count what the notes announce, and again after they were edited", async () => {
    house.publish(
      "web",
      { tag: "1.0.0", notes: "fixes" },
      { tag: "2.0.0", notes: "- feat!: a\n- fix!: b CVE-2026-1234" },
    );
    await house.create("web", {}, [source("web", git)]);
    await house.check("web");
    const { items } = await house.trackers.releases("web", {});
    const ids = items.map(({ id }) => id);
    const second = items.find(({ tag }) => tag === "2.0.0")?.id ?? "";
    expect([...(await house.trackers.notesMarks([...ids, "nothing"]))]).toEqual([
      [second, { breaking: 2, security: 1 }],
    ]);
    await house.db.write((tx) =>
      tx.update(releases).set({ notes: "calm", notes_digest: "other" }).where(eq(releases.id, second)),
    );
    expect(await house.trackers.notesMarks(ids)).toEqual(new Map());
  });
});
