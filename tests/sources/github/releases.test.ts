import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ReleaseStage } from "../../../src/sources/source.ts";
import { meaningOf } from "../../support/meaning.ts";
import { type GithubWorld, githubWorld, listRequest, type Mode, nextRequest, tagsOf } from "./github-world.ts";
import { addRelease, addReleases, addTag, oid } from "./hub-content.ts";

let world: GithubWorld;

beforeEach(async () => {
  world = await githubWorld();
});
afterEach(async () => {
  const { violations } = world.hub;
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

const modes: Mode[] = ["rest", "graphql"];
const onlyReleases = (_tag: string, stage: ReleaseStage) => stage === "release";
const onlyPrereleases = (_tag: string, stage: ReleaseStage) => stage === "prerelease";

describe.each(modes)("%s: what a release is", (mode) => {
  test("gives version, stage, publish time, commit, page and notes", async () => {
    const repository = world.repository("acme", "app");
    const commit = addRelease(repository, "v1.0.0", "2026-02-03T04:05:06Z", { notes: "First\n\nand **bold**" });
    addRelease(repository, "v1.1.0-rc.1", "2026-02-04T00:00:00Z", { is_prerelease: true, notes: null });
    const listing = await world.open("acme/app", mode).listReleases(listRequest());
    expect(listing.total).toBe(2);
    expect(listing.releases).toEqual([
      {
        version: "v1.1.0-rc.1",
        tag: "v1.1.0-rc.1",
        stage: "prerelease",
        published_at: Date.UTC(2026, 1, 4),
        revision: oid("commit v1.1.0-rc.1"),
        url: `${world.hub.url}/acme/app/releases/tag/v1.1.0-rc.1`,
        notes: null,
      },
      {
        version: "v1.0.0",
        tag: "v1.0.0",
        stage: "release",
        published_at: Date.UTC(2026, 1, 3, 4, 5, 6),
        revision: commit,
        url: `${world.hub.url}/acme/app/releases/tag/v1.0.0`,
        notes: "First\n\nand **bold**",
      },
    ]);
  });

  test.each([0, 1, 2, 3])("identifies a release by the commit behind %d tag objects", async (depth) => {
    const repository = world.repository("acme", "app");
    addRelease(repository, "v1.0.0", "2026-02-03T00:00:00Z");
    const commit = addTag(repository, "v1.0.0", "2026-02-03T00:00:00Z", depth);
    const listing = await world.open("acme/app", mode).listReleases(listRequest());
    expect(listing.releases.map(({ revision }) => revision)).toEqual([commit]);
  });

  test("skips drafts and releases without a publish time", async () => {
    const repository = world.repository("acme", "app");
    addRelease(repository, "v1.0.0", "2026-02-03T00:00:00Z");
    repository.releases.push({ tag: "v2.0.0", is_draft: true, created_at: "2026-03-01T00:00:00Z", published_at: null });
    repository.releases.push({ tag: "v1.9.0", created_at: "2026-03-02T00:00:00Z", published_at: null });
    const listing = await world.open("acme/app", mode).listReleases(listRequest());
    expect(tagsOf(listing)).toEqual(["v1.0.0"]);
  });

  test("keeps a release whose tag is gone without a revision, and gives it once the tag is back", async () => {
    const repository = world.repository("acme", "app");
    const commit = addRelease(repository, "v1.0.0", "2026-02-03T00:00:00Z");
    const tag = repository.tags.get("v1.0.0");
    repository.tags.delete("v1.0.0");
    const first = listRequest();
    const gone = await world.open("acme/app", mode).listReleases(first);
    expect(gone.releases.map(({ revision }) => revision)).toEqual([null]);
    if (tag !== undefined) repository.tags.set("v1.0.0", tag);
    const back = await world.open("acme/app", mode).listReleases(nextRequest(gone, first));
    expect(back.releases.map(({ revision, appeared }) => [revision, appeared])).toEqual([[commit, undefined]]);
  });

  test("sorts by publish time, whatever the age of the commit", async () => {
    const repository = world.repository("acme", "app");
    addRelease(repository, "v2.0.0", "2026-05-01T00:00:00Z");
    addRelease(repository, "v1.9.1", "2026-06-01T00:00:00Z", { created_at: "2026-01-01T00:00:00Z" });
    addRelease(repository, "v2.1.0", "2026-05-20T00:00:00Z");
    const listing = await world.open("acme/app", mode).listReleases(listRequest({ limit: 2 }));
    expect(tagsOf(listing)).toEqual(["v1.9.1", "v2.1.0"]);
  });

  test("follows an archived repository like any other", async () => {
    addReleases(world.repository("acme", "app", { is_archived: true }), 2);
    expect(tagsOf(await world.open("acme/app", mode).listReleases(listRequest()))).toEqual(["v1.1.0", "v1.0.0"]);
  });

  test("shows where a renamed repository is now, and goes on", async () => {
    addReleases(world.repository("acme-group", "application", { former: ["acme/app"] }), 2);
    const listing = await world.open("acme/app", mode).listReleases(listRequest());
    expect(listing.moved_to).toBe("acme-group/application");
    expect(listing.releases.map(({ revision }) => revision)).toEqual([oid("commit v1.1.0"), oid("commit v1.0.0")]);
  });

  test("does not take another spelling of the name for a move", async () => {
    addReleases(world.repository("Acme", "App"), 1);
    const listing = await world.open("acme/app", mode).listReleases(listRequest());
    expect([listing.moved_to, listing.total]).toEqual([null, 1]);
  });

  test("leaves out names that git could not have or that are too long", async () => {
    const repository = world.repository("acme", "app");
    for (const tag of ["v1 0", `v${"1".repeat(10_000)}`, "v\u0007", "v1\ufffd"]) {
      addRelease(repository, tag, "2026-02-03T00:00:00Z");
    }
    addRelease(repository, "v1.0.0", "2026-02-03T00:00:00Z");
    expect(tagsOf(await world.open("acme/app", mode).listReleases(listRequest()))).toEqual(["v1.0.0"]);
  });

  test("answers for a private repository with the token, and says that it is not found without", async () => {
    addReleases(world.repository("acme", "app", { is_private: true }), 1);
    expect((await world.open("acme/app", mode).listReleases(listRequest())).total).toBe(1);
    const other = world.open("acme/other", mode);
    expect(await meaningOf(other.listReleases(listRequest()))).toEqual(["not_found", "sources.github_unreadable"]);
    expect((await meaningOf(other.listNames?.()))[1]).toBe("sources.github_unreadable");
    if (mode === "graphql") return;
    const anonymous = world.open("acme/app", mode, null);
    expect(await meaningOf(anonymous.listReleases(listRequest()))).toEqual(["not_found", "sources.private_or_missing"]);
    expect((await meaningOf(anonymous.listNames?.()))[1]).toBe("sources.private_or_missing");
  });
});

describe.each(modes)("%s: depth and channels", (mode) => {
  test("fills a depth of 100 for a channel, over pages of refused ones", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 250);
    for (const [index, release] of repository.releases.entries()) release.is_prerelease = index % 2 === 1;
    const listing = await world
      .open("acme/app", mode)
      .listReleases(listRequest({ limit: 100, accepts: [onlyReleases] }));
    expect(listing.releases.length).toBe(100);
    expect(listing.releases.every(({ stage }) => stage === "release")).toBe(true);
    expect(tagsOf(listing).slice(0, 2)).toEqual(["v1.248.0", "v1.246.0"]);
  });

  test("leaves a rare channel its places beside a busy one", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 130, { is_prerelease: true });
    for (const index of [0, 1, 2]) (repository.releases[index] ?? { is_prerelease: true }).is_prerelease = false;
    const listing = await world
      .open("acme/app", mode)
      .listReleases(listRequest({ limit: 2, accepts: [onlyReleases, onlyPrereleases] }));
    expect(tagsOf(listing)).toEqual(["v1.129.0", "v1.128.0", "v1.2.0", "v1.1.0"]);
  });

  test("stops after ten pages when nothing is accepted, and does not try again", async () => {
    addReleases(world.repository("acme", "app"), 1_100);
    const request = listRequest({ accepts: [(tag) => tag === "nothing"] });
    const first = await world.open("acme/app", mode).listReleases(request);
    const api = (line: string) => !line.startsWith("git");
    expect(world.hub.take().filter(api).length).toBe(10);
    expect([first.releases, first.total]).toEqual([[], 1_000]);
    await world.open("acme/app", mode).listReleases(nextRequest(first, request));
    expect(world.hub.take().filter(api).length).toBe(1);
  });

  test("reads on once when a widened pattern lets older ones in", async () => {
    addReleases(world.repository("acme", "app"), 200);
    const narrow = listRequest({ accepts: [(tag) => tag.endsWith("9.0")] });
    const first = await world.open("acme/app", mode).listReleases(narrow);
    expect(tagsOf(first).slice(0, 2)).toEqual(["v1.199.0", "v1.189.0"]);
    const wide = { accepts: [(tag: string) => tag.endsWith("0.0")] };
    const second = await world.open("acme/app", mode).listReleases(nextRequest(first, narrow, wide));
    expect(tagsOf(second)).toContain("v1.100.0");
    // They were there before, so nobody is told of them.
    expect(second.releases.filter(({ appeared }) => appeared === true)).toEqual([]);
    world.hub.take();
    await world.open("acme/app", mode).listReleases(nextRequest(second, { ...narrow, ...wide }));
    expect(world.hub.take().length).toBe(mode === "rest" ? 2 : 1);
  });
});

describe.each(modes)("%s: from check to check", (mode) => {
  test("says which releases upstream did not have before", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 3);
    const request = listRequest();
    const first = await world.open("acme/app", mode).listReleases(request);
    expect(first.releases.map(({ appeared }) => appeared)).toEqual([undefined, undefined, undefined]);
    addRelease(repository, "v1.3.0", "2026-07-01T00:00:00Z");
    const second = await world.open("acme/app", mode).listReleases(nextRequest(first, request));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v1.3.0", true],
      ["v1.2.0", undefined],
      ["v1.1.0", undefined],
      ["v1.0.0", undefined],
    ]);
  });

  test("takes a pre-release that became a release for a new one of the stable channel", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 2);
    addRelease(repository, "v2.0.0", "2026-07-01T00:00:00Z", { is_prerelease: true });
    const request = listRequest({ accepts: [onlyReleases] });
    const first = await world.open("acme/app", mode).listReleases(request);
    expect(tagsOf(first)).toEqual(["v1.1.0", "v1.0.0"]);
    const promoted = repository.releases.at(-1);
    if (promoted !== undefined) promoted.is_prerelease = false;
    const second = await world.open("acme/app", mode).listReleases(nextRequest(first, request));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])[0]).toEqual(["v2.0.0", true]);
  });

  test("gives the new commit of a tag that was moved", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 2);
    const request = listRequest();
    const first = await world.open("acme/app", mode).listReleases(request);
    addTag(repository, "v1.1.0", "2026-03-01T00:00:00Z", 1, oid("another commit"));
    const second = await world.open("acme/app", mode).listReleases(nextRequest(first, request));
    expect(second.releases.map(({ revision }) => revision)).toEqual([oid("another commit"), oid("commit v1.0.0")]);
  });

  test("gives the new commit of a watched tag that is far down the list", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 150);
    const request = listRequest({ limit: 100 });
    const first = await world.open("acme/app", mode).listReleases(request);
    expect(tagsOf(first)).toContain("v1.60.0");
    addTag(repository, "v1.60.0", "2026-03-01T00:00:00Z", 0, oid("another commit"));
    const watch = nextRequest(first, request, { limit: 10, watch: ["v1.149.0", "v1.60.0", "v1.61.0"] });
    const second = await world.open("acme/app", mode).listReleases(watch);
    const moved = second.releases.find(({ tag }) => tag === "v1.60.0");
    expect([moved?.revision, moved?.notes]).toEqual([oid("another commit"), "Notes of v1.60.0"]);
  });

  test("costs what was promised while nothing changes", async () => {
    addReleases(world.repository("acme", "app"), 300);
    let request = listRequest({ limit: 20, accepts: [(tag) => tag.endsWith("0.0")] });
    request = nextRequest(await world.open("acme/app", mode).listReleases(request), request);
    // A first check reads long pages; the second leaves the validator of the short one.
    request = nextRequest(await world.open("acme/app", mode).listReleases(request), request);
    for (let check = 0; check < 3; check += 1) {
      world.hub.take();
      const listing = await world.open("acme/app", mode).listReleases(request);
      expect(world.hub.take().map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual(
        mode === "rest" ? ["rest 304", "git 200"] : ["graphql 200"],
      );
      // Unchanged, it is not written again either.
      expect(listing.memo).toBe(request.memo);
      request = nextRequest(listing, request);
    }
  });

  test("lists nothing, and nothing is made up, when upstream empties its list", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 3);
    const request = listRequest();
    const first = await world.open("acme/app", mode).listReleases(request);
    repository.releases.splice(0);
    const next = nextRequest(first, request);
    const source = world.open("acme/app", mode);
    const emptied = await source.listReleases(next);
    expect([emptied.releases, emptied.total]).toEqual([[], 0]);
    // Tags do not stand in for releases that there were.
    const tags = await source.listTags?.(next);
    expect([tags?.releases, tags?.total]).toEqual([[], 0]);
  });
});
