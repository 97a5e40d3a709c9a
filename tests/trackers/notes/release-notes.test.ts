import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError, PluginError } from "../../../src/errors.ts";
import { inEnglish, plain } from "../../../src/messages/message.ts";
import { isRetryDue, maxFilesPerCheck } from "../../../src/trackers/notes/release-notes.ts";
import { failureOf, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

let house: TrackerHouse;
beforeEach(async () => {
  house = await trackerHouse();
});
afterEach(() => house.close());

const minute = 60_000;
const git = (image = "code") => source(image, { key: "git", kind: "gitlab" });
const changelog = (change: Record<string, unknown> = {}) => ({ source: "changelog", ...change });

async function create(name: string, notes: Record<string, unknown> = changelog(), sources: unknown[] = [git()]) {
  return await house.create(name, { release_notes: notes }, sources);
}

async function notesOf(tag: string): Promise<{ notes: string | null; error: string | null }> {
  const row = (await house.releaseRows()).find((release) => release.tag === tag);
  return { notes: row?.notes ?? null, error: row?.notes_error ? inEnglish(row.notes_error) : null };
}

async function fieldsOf(work: Promise<unknown>): Promise<unknown> {
  const error = await failureOf(work);
  return error instanceof AppError ? error.fields : error;
}

describe("a tracker's release notes settings", () => {
  test("are the releases' own notes unless said otherwise", async () => {
    expect((await house.create("web")).release_notes).toEqual({ source: "release" });
  });

  test("have defaults for a changelog", async () => {
    expect((await create("web")).release_notes).toEqual({
      source: "changelog",
      changelog_source_key: null,
      path_template: "CHANGELOG.md",
      ref: "default_branch",
      specific_ref: "",
      extraction: "section",
      heading_template: "",
      subheading: "",
    });
  });

  test.each([
    ["an unknown placeholder", { path_template: "{name}.md" }, "path_template"],
    ["a path that leads out", { path_template: "../x" }, "path_template"],
    ["an absolute path", { path_template: "/x" }, "path_template"],
    ["a blank path", { path_template: " " }, "path_template"],
    ["no ref where one is chosen", { ref: "specific" }, "specific_ref"],
    ["a ref that is none", { ref: "specific", specific_ref: "a..b" }, "specific_ref"],
    ["a ref that is an option", { ref: "specific", specific_ref: "-x" }, "specific_ref"],
    ["a ref with a blank", { ref: "specific", specific_ref: "a b" }, "specific_ref"],
    ["no subheading where one is chosen", { extraction: "subheading" }, "subheading"],
    ["a heading template without a version", { heading_template: "## Notes" }, "heading_template"],
    ["a heading template that is no pattern", { heading_template: "({version}" }, "heading_template"],
    ["lookaround in a heading template", { heading_template: "(?<!x){version}" }, "heading_template"],
    ["an unknown source", { changelog_source_key: "other" }, "changelog_source_key"],
    ["an unknown extraction", { extraction: "all" }, "extraction"],
    ["a field that is none", { foo: 1 }, "foo"],
  ])("refuse %s at its field", async (_, change, field) => {
    const fields = await fieldsOf(create("web", changelog(change)));
    expect(Object.keys(Object(fields))).toEqual([`release_notes.${field}`]);
    expect((await house.trackers.list({})).items).toEqual([]);
  });

  test("refuse a changelog where no source is a repository", async () => {
    expect(await fieldsOf(create("web", changelog(), [source("web")]))).toEqual({
      "release_notes.source": "A custom changelog needs a repository among the tracker's sources; add one first",
    });
  });

  test("refuse a source that is no repository, and name those that are", async () => {
    const sources = [source("web"), git()];
    expect(await fieldsOf(create("web", changelog({ changelog_source_key: "main" }), sources))).toEqual({
      "release_notes.changelog_source_key": 'The tracker has no repository source "main"; choose "git"',
    });
  });

  test("ask which of several repositories", async () => {
    const sources = [git(), source("b", { key: "fork", kind: "gitlab" })];
    expect(await fieldsOf(create("web", changelog(), sources))).toEqual({
      "release_notes.changelog_source_key": 'Choose the source that has the changelog: "git", "fork"',
    });
    expect((await create("web", changelog({ changelog_source_key: "fork" }), sources)).release_notes).toMatchObject({
      changelog_source_key: "fork",
    });
  });

  test("refuse an edit that takes the changelog's source away, and change nothing", async () => {
    await create("web", changelog({ changelog_source_key: "git" }), [source("web"), git()]);
    const update = house.trackers.update(house.actor, "web", { sources: [source("web")] });
    expect(Object.keys(Object(await fieldsOf(update)))).toEqual(["release_notes.source"]);
    expect((await house.trackers.get("web")).sources).toHaveLength(2);
    const renamed = house.trackers.update(house.actor, "web", { sources: [source("web"), { ...git(), key: "code" }] });
    expect(Object.keys(Object(await fieldsOf(renamed)))).toEqual(["release_notes.changelog_source_key"]);
  });

  test("stay as they are when an edit leaves them out", async () => {
    await create("web", changelog({ extraction: "entire_file" }));
    await house.trackers.update(house.actor, "web", { description: "x" });
    expect((await house.trackers.get("web")).release_notes).toMatchObject({ extraction: "entire_file" });
  });
});

describe("a check with a custom changelog", () => {
  test("reads the file once for all new releases, and never again", async () => {
    house.files.set("CHANGELOG.md@", "## 1.2.0\ntwo\n## 1.1.0\none\n");
    house.publish("code", { tag: "v1.1.0", notes: "from the forge" }, "v1.2.0");
    await create("web");
    await house.check("web");
    expect(await notesOf("v1.2.0")).toEqual({ notes: "two", error: null });
    expect(await notesOf("v1.1.0")).toEqual({ notes: "one", error: null });
    expect(house.filesRead).toEqual(["CHANGELOG.md@"]);
    expect((await house.trackers.get("web")).sources[0]?.last_request_count).toBe(2);
    await house.check("web");
    await house.check("web");
    expect(house.filesRead).toHaveLength(1);
    expect((await house.trackers.get("web")).sources[0]?.last_request_count).toBe(1);
    expect(await notesOf("v1.1.0")).toEqual({ notes: "one", error: null });
  });

  test("puts the changelog's notes into the event", async () => {
    house.publish("code", "1.0.0");
    house.files.set("CHANGELOG.md@", "## 1.0.0\nold");
    await create("web");
    await house.check("web");
    house.publish("code", "1.1.0");
    house.files.set("CHANGELOG.md@", "## 1.1.0\nnews\n## 1.0.0\nold");
    await house.check("web");
    expect(house.releaseEvents("new_release").map(({ version, notes }) => [version, notes])).toEqual([
      ["1.1.0", "news"],
    ]);
  });

  test("fills in the path and takes the file at the release's tag", async () => {
    house.files.set("notes/1/2.md@v1.2.3", "whole\n# file");
    house.publish("code", "v1.2.3");
    await create(
      "web",
      changelog({ path_template: "notes/{major}/{minor}.md", ref: "release_tag", extraction: "entire_file" }),
    );
    await house.check("web");
    expect(await notesOf("v1.2.3")).toEqual({ notes: "whole\n# file", error: null });
  });

  test("takes the file at a specific ref", async () => {
    house.files.set("CHANGELOG.md@next", "## 1.2.3\nnext");
    house.publish("code", "v1.2.3");
    await create("web", changelog({ ref: "specific", specific_ref: "next" }));
    await house.check("web");
    expect((await notesOf("v1.2.3")).notes).toBe("next");
  });

  test("gives notes to the releases of the tracker's other sources, by the tag of the repository", async () => {
    house.files.set("CHANGELOG.md@v1.2.3", "## 1.2.3\nbuilt");
    house.publish("code", "v1.2.3");
    house.publish("web", "1.2.3");
    await create("web", changelog({ ref: "release_tag" }), [git(), source("web")]);
    await house.check("web");
    await house.check("web");
    const rows = await house.releaseRows();
    expect(rows.map(({ tag, notes }) => [tag, notes]).toSorted()).toEqual([
      ["1.2.3", "built"],
      ["v1.2.3", "built"],
    ]);
  });

  test("takes the version behind a moving tag from its label", async () => {
    house.files.set("CHANGELOG.md@", "## 1.2.3\nlabelled");
    house.publish("web", { tag: "latest", labelled_version: "1.2.3" });
    const image = source("web", { channels: [{ type: "stable" }] });
    await create("web", changelog(), [image, git()]);
    await house.check("web");
    expect((await notesOf("latest")).notes).toBe("labelled");
  });

  test("keeps why there are no notes, and succeeds", async () => {
    house.files.set("CHANGELOG.md@", "## 1.1.0\none");
    house.publish("code", "v1.2.3", "v1.1.0");
    await create("web");
    await house.check("web");
    expect(await notesOf("v1.2.3")).toEqual({ notes: null, error: "The changelog has no section for v1.2.3" });
    expect(await notesOf("v1.1.0")).toEqual({ notes: "one", error: null });
    expect((await house.trackers.get("web")).state).toBe("ok");
  });

  test.each([
    ["a missing file", null, 'There is no file "CHANGELOG.md" on the default branch'],
    [
      "an upstream that does not answer",
      new PluginError("unreachable", plain("It hung up on hunter2hunter2")),
      "The changelog could not be read: It hung up on [redacted]",
    ],
    [
      "a defect",
      new Error("broken"),
      "The changelog could not be read because of an internal error; the log has the details",
    ],
  ])("%s is told with the release, and the check succeeds", async (_, file, error) => {
    if (file !== null) house.files.set("CHANGELOG.md@", file);
    house.publish("code", "1.0.0", "1.1.0");
    await create("web");
    await house.check("web");
    expect(await notesOf("1.0.0")).toEqual({ notes: null, error });
    expect(await notesOf("1.1.0")).toEqual({ notes: null, error });
    expect(house.filesRead).toHaveLength(1);
    expect((await house.trackers.get("web")).state).toBe("ok");
  });

  test("asks no more of an upstream that does not answer, but goes on after a missing file", async () => {
    house.publish("code", "1.0.0", "1.1.0", "1.2.0");
    await create("web", changelog({ path_template: "{tag}.md", extraction: "entire_file" }));
    await house.check("web");
    expect(house.filesRead).toHaveLength(3);
    house.filesRead.length = 0;
    house.files.set("2.2.0.md@", new PluginError("rate_limited", plain("Wait")));
    house.publish("code", "2.0.0", "2.1.0");
    await house.clock.advance(1);
    house.publish("code", "2.2.0");
    await house.check("web");
    expect(house.filesRead).toEqual(["2.2.0.md@"]);
  });

  test("tries again when a retry is due, and not at every check", async () => {
    house.publish("code", "1.0.0");
    await create("web");
    await house.check("web");
    await house.clock.advance(minute);
    await house.check("web");
    expect(house.filesRead).toHaveLength(1);
    house.files.set("CHANGELOG.md@", "## 1.0.0\nlate");
    await house.clock.advance(10 * minute);
    await house.check("web");
    expect(house.filesRead).toHaveLength(2);
    expect(await notesOf("1.0.0")).toEqual({ notes: "late", error: null });
  });

  test("reads no more files than its limit, and the rest in the next checks", async () => {
    const tags = Array.from({ length: maxFilesPerCheck + 3 }, (_, minor) => `1.${minor}.0`);
    for (const tag of tags) house.files.set(`${tag}.md@`, `notes of ${tag}`);
    house.publish("code", ...tags);
    await house.create(
      "web",
      { release_notes: changelog({ path_template: "{tag}.md", extraction: "entire_file" }), fetch_depth: 20 },
      [git()],
    );
    await house.check("web");
    expect(house.filesRead).toHaveLength(maxFilesPerCheck);
    await house.check("web");
    expect(house.filesRead).toHaveLength(tags.length);
    await house.check("web");
    expect(house.filesRead).toHaveLength(tags.length);
    expect((await house.releaseRows()).every(({ tag, notes }) => notes === `notes of ${tag}`)).toBe(true);
  });

  test("keeps at most 256 KiB, without half a character", async () => {
    house.files.set("CHANGELOG.md@", "版".repeat(100_000));
    house.publish("code", "1.0.0");
    await create("web", changelog({ extraction: "entire_file" }));
    await house.check("web");
    expect((await notesOf("1.0.0")).notes).toBe("版".repeat(87_381));
  });

  test("other settings take the notes anew", async () => {
    house.files.set("CHANGELOG.md@", "## 1.0.0\nfile");
    house.publish("code", { tag: "1.0.0", notes: "forge" });
    await house.create("web", {}, [git()]);
    await house.check("web");
    expect((await notesOf("1.0.0")).notes).toBe("forge");
    await house.trackers.update(house.actor, "web", { release_notes: changelog() });
    await house.check("web");
    expect((await notesOf("1.0.0")).notes).toBe("file");
    await house.trackers.update(house.actor, "web", { release_notes: { source: "release" } });
    await house.check("web");
    expect((await notesOf("1.0.0")).notes).toBe("forge");
    expect(house.releaseEvents()).toEqual([]);
  });
});

test("isRetryDue() comes ever less often, and ends", () => {
  let due = 0;
  for (let at = 5 * minute; at < 90 * 24 * 60 * minute; at += 5 * minute) {
    if (isRetryDue(0, at - 5 * minute, at)) due += 1;
  }
  expect(due).toBe(12);
  expect(isRetryDue(0, 0, 9 * minute)).toBe(false);
  expect(isRetryDue(0, 0, 10 * minute)).toBe(true);
  expect(isRetryDue(0, null, 10 * minute)).toBe(true);
});
