import { describe, expect, test } from "bun:test";
import { after, commitOf, request, standInGitea, tagsOf } from "./stand-in-gitea.ts";

function tagged(...tags: readonly string[]) {
  const stand = standInGitea();
  for (const tag of tags) stand.tags.set(tag, commitOf(tag));
  return stand;
}

describe("listTags()", () => {
  test("costs one request beside the empty list of releases", async () => {
    const stand = tagged("v1.9.0", "v1.10.0", "latest");
    const source = stand.open();
    expect(await source.listReleases(request())).toMatchObject({ releases: [], total: 0 });
    const listing = await source.listTags?.(request());
    expect(stand.take().length).toBe(2);
    expect(listing).toMatchObject({ total: 3, moved_to: null });
    expect(listing?.releases[0]).toEqual({
      version: "v1.10.0",
      tag: "v1.10.0",
      stage: "tag",
      published_at: null,
      revision: commitOf("v1.10.0"),
      url: "https://gitea.example/forge/owner/app/src/tag/v1.10.0",
      notes: null,
    });
    expect(tagsOf(listing)).toEqual(["v1.10.0", "v1.9.0", "latest"]);
  });

  test("gives each channel its places, and the watched ones beside them", async () => {
    const stand = tagged("v3", "v2", "v1", "nightly-2", "nightly-1");
    const accepts = [(tag: string) => tag.startsWith("v"), (tag: string) => tag.startsWith("nightly")];
    const listing = await stand.open().listTags?.(request({ limit: 1, accepts, watch: ["v1", "gone"] }));
    expect(tagsOf(listing).toSorted()).toEqual(["nightly-2", "v1", "v3"]);
  });

  test("shows a patch of an old line although higher tags fill the places", async () => {
    const stand = tagged("v3.0.0", "v2.0.0", "v1.0.0");
    const source = stand.open();
    const first = await source.listTags?.(request({ limit: 2 }));
    if (first === undefined) throw new Error("There is no fallback");
    expect(first.releases.some((release) => "appeared" in release)).toBe(false);
    stand.tags.set("v1.0.1", commitOf("v1.0.1"));
    const second = await stand.open().listTags?.(after(first, { limit: 2 }));
    expect(second?.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v3.0.0", undefined],
      ["v1.0.1", true],
    ]);
    const wider = await stand.open().listTags?.(after(first, { limit: 4 }));
    expect(wider?.releases.find(({ tag }) => tag === "v1.0.0")).toMatchObject({ appeared: false });
  });

  test("a list that came short is no news when it is whole again", async () => {
    const stand = tagged("v2", "v1");
    const first = await stand.open().listTags?.(request());
    stand.tags.delete("v1");
    const second = await stand.open().listTags?.(request({ memo: first?.memo ?? null }));
    stand.tags.set("v1", commitOf("v1"));
    const third = await stand.open().listTags?.(request({ memo: second?.memo ?? null }));
    expect(third?.releases.map(({ appeared }) => appeared)).toEqual([false, false]);
  });

  test("remembers less than 2 MiB of the longest names", async () => {
    const tags = Array.from({ length: 10_500 }, (_, number) => `${"版".repeat(60)}${number}`);
    const listing = await tagged(...tags)
      .open()
      .listTags?.(request());
    expect(Buffer.byteLength(listing?.memo ?? "")).toBeLessThan(2 * 1024 * 1024);
  });
});

describe("listNames()", () => {
  test("gives every tag that can be stored, by one request", async () => {
    const stand = tagged("v1", "v2", "v".repeat(257));
    expect(await stand.open().listNames?.()).toEqual(["v1", "v2"]);
    expect(stand.take()).toEqual(["POST /owner/app.git/git-upload-pack"]);
  });
});

describe("readFile()", () => {
  test("reads a file at a ref and at the default branch", async () => {
    const stand = standInGitea();
    stand.token = "t";
    stand.files.set("release/1.0:docs/Änderungen 1#.md", "old – alt");
    stand.files.set(":docs/Änderungen 1#.md", "new");
    const source = stand.open("t");
    expect(await source.readFile?.("docs/Änderungen 1#.md", "release/1.0")).toBe("old – alt");
    expect(await source.readFile?.("docs/Änderungen 1#.md", null)).toBe("new");
    expect(stand.take()[0]).toBe(
      "GET /api/v1/repos/owner/app/contents/docs/%C3%84nderungen%201%23.md?ref=release%2F1.0",
    );
    expect(await source.readFile?.("missing.md", null)).toBeNull();
    await source.readFile?.("/CHANGELOG.md", null);
    expect(stand.take().at(-1)).toBe("GET /api/v1/repos/owner/app/contents/CHANGELOG.md");
  });

  test.each([["../app.ini"], ["docs/../../x"], ["/../x"], ["docs//x"], ["."], [""]])(
    "refuses %p without asking",
    async (path) => {
      const stand = standInGitea();
      await expect(stand.open().readFile?.(path, null)).rejects.toMatchObject({ code: "rejected" });
      expect(stand.take()).toEqual([]);
    },
  );
});
