import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { gitea } from "../../../src/sources/gitea/gitea.ts";
import type { Accept, Listing } from "../../../src/sources/source.ts";
import { after, commitOf, instant, request, standInGitea, tagsOf } from "./stand-in-gitea.ts";

const fixtures = join(import.meta.dir, "../../fixtures/gitea");
const newest = "GET /api/v1/repos/owner/app/releases?draft=false&page=1&limit=40";
const commits = "POST /owner/app.git/git-upload-pack";
const page = (number: number, limit = 50) =>
  `GET /api/v1/repos/owner/app/releases?draft=false&page=${number}&limit=${limit}`;
const isRelease: Accept = (_tag, stage) => stage === "release";

/** A stand-in with `count` releases, `v1` the oldest. */
function filled(count: number, more: (number: number) => object = () => ({})) {
  const stand = standInGitea();
  for (let number = 1; number <= count; number += 1) stand.add(`v${number}`, number, more(number));
  return stand;
}

describe("listReleases()", () => {
  test("reads what a real Gitea answers", async () => {
    const fetch = async (url: URL) =>
      new Response(readFileSync(join(fixtures, url.pathname.startsWith("/api/") ? "releases.json" : "ls-refs.txt")));
    const context = { fetch, signal: new AbortController().signal, clock: systemClock };
    const source = gitea.open({ repository: "acme/app", instance_url: "https://gitea.example" }, null, context);
    const { releases } = await source.listReleases(request());
    const revision = "7a33335df2d3bac681817f5da86d73049f32fc1f";
    const url = "https://gitea.example/acme/app/releases/tag";
    const published_at = Date.parse("2026-11-21T04:46:59Z");
    const tag = (name: string) => ({ version: name, tag: name, url: `${url}/${name}`, revision });
    expect(releases).toEqual([
      { ...tag("v1.1.0-rc1"), stage: "prerelease", notes: null, published_at: expect.any(Number) },
      { ...tag("v1.0.0"), stage: "release", notes: "# First\n\nNotes", published_at: expect.any(Number) },
    ]);
    for (const release of releases) expect(Math.abs((release.published_at ?? 0) - published_at)).toBeLessThan(60_000);
  });

  test("gives the commits of tags, and none to a release whose tag is gone", async () => {
    const stand = filled(2);
    stand.tags.delete("v1");
    const { releases, total } = await stand.open().listReleases(request());
    expect(releases.map(({ tag, revision }) => [tag, revision])).toEqual([
      ["v2", commitOf("v2")],
      ["v1", null],
    ]);
    expect([total, stand.take()]).toEqual([2, [page(1), commits]]);
  });

  test("skips drafts, null publish times and names that are none, and tolerates placeholders", async () => {
    const stand = standInGitea();
    stand.token = "t";
    stand.add("v1", 1);
    stand.add("draft", 2, { draft: true });
    stand.add("two words", 3);
    stand.add("v".repeat(257), 4);
    stand.add("old", Number.NEGATIVE_INFINITY);
    stand.releases.pop();
    stand.releases.push({ tag: "old", minute: -60 * 24 * 366 * 40 });
    const { releases, total } = await stand.open("t").listReleases(request());
    expect(releases.map(({ tag, published_at }) => [tag, published_at])).toEqual([
      ["v1", instant(1)],
      ["old", null],
    ]);
    expect(total).toBe(4);
  });

  test("pages until each channel has its places, and what is refused takes none", async () => {
    const stand = filled(240, (number) => ({ prerelease: number % 4 !== 0 }));
    const accepts: Accept[] = [isRelease, (tag, stage) => stage === "prerelease" && tag.endsWith("1")];
    const listing = await stand.open().listReleases(request({ limit: 48, accepts }));
    expect(stand.take()).toEqual([page(1), page(2), page(3), page(4), page(5), commits]);
    expect(listing.releases.filter(({ stage }) => stage === "release").length).toBe(48);
    expect(listing.releases.filter(({ tag }) => tag.endsWith("1")).length).toBe(24);
    expect(tagsOf(listing)[0]).toBe("v240");
  });

  test("reads a depth of 100 where the administrator allows pages of 20", async () => {
    const stand = filled(130);
    stand.largest_page = 20;
    const listing = await stand.open().listReleases(request({ limit: 100 }));
    expect([tagsOf(listing).length, tagsOf(listing).at(-1), stand.take().length]).toEqual([100, "v31", 6]);
  });

  test("stops at 20 pages", async () => {
    const stand = filled(1_100, () => ({ prerelease: true }));
    const listing = await stand.open().listReleases(request({ accepts: [isRelease] }));
    expect([listing.releases.length, listing.total, stand.take().length]).toEqual([0, 1_100, 21]);
    await stand.open().listReleases(after(listing, { accepts: [isRelease] }));
    // It does not look for what is not there at each check.
    expect(stand.take()).toEqual([newest, commits]);
  });

  test("asks for no commits where there are no releases", async () => {
    const stand = standInGitea();
    expect(await stand.open().listReleases(request())).toMatchObject({ releases: [], total: 0 });
    expect(stand.take()).toEqual([page(1)]);
  });

  test("ends where the forge does not count, too", async () => {
    const stand = filled(60);
    stand.hides_total = true;
    const listing = await stand.open().listReleases(request({ limit: 100 }));
    expect([listing.releases.length, listing.total, stand.take().length]).toEqual([60, 60, 4]);
  });

  test.each([["t"], [null]])("passes on a refusal with upstream's words (token %p)", async (token) => {
    const stand = filled(1);
    stand.token = "other";
    const words =
      token === null
        ? "404: not found; the repository is private or does not exist; add a credential that can read it, or check the name"
        : "401: invalid username, password or token; the credential is wrong, was revoked or has expired; replace it under Credentials";
    await expect(stand.open(token).listReleases(request())).rejects.toMatchObject({
      code: token === null ? "not_found" : "unauthorized",
      message: `Could not list the releases of "gitea.example/forge/owner/app": the response was ${words}`,
    });
  });
});

describe("listReleases() after an earlier check", () => {
  /** A first check of 100 releases and what it left. */
  async function begun(limit = 20, accepts: readonly Accept[] = [() => true]) {
    const stand = filled(100, (number) => ({ prerelease: number % 10 !== 0 }));
    const first = await stand.open().listReleases(request({ limit, accepts }));
    stand.take();
    return { stand, first };
  }

  test("costs two requests when nothing has changed, and remembers the same", async () => {
    const accepts = [isRelease, () => true];
    const { stand, first } = await begun(20, accepts);
    const second = await stand.open().listReleases(after(first, { accepts }));
    expect(stand.take()).toEqual([newest, commits]);
    expect(second.releases.every((release) => release.appeared === undefined)).toBe(true);
    const third = await stand.open().listReleases(after(second, { accepts }, after(first).known));
    expect([stand.take(), third.memo]).toEqual([[newest, commits], second.memo]);
  });

  test("tells what is new from what was there", async () => {
    const { stand, first } = await begun();
    stand.add("v101", 101);
    stand.add("v102-rc1", 102, { prerelease: true });
    const { releases } = await stand.open().listReleases(after(first));
    expect(stand.take()).toEqual([newest, commits]);
    const fresh = releases.filter(({ appeared }) => appeared === true).map(({ tag }) => tag);
    expect(fresh).toEqual(["v102-rc1", "v101"]);
  });

  test("a tag that moved has its new commit, and one that could not be resolved its first", async () => {
    const { stand, first } = await begun();
    stand.tags.set("v100", commitOf("moved"));
    const known = new Map(after(first).known);
    known.set("v99", { revision: null, published_at: instant(99) });
    const listing = await stand.open().listReleases(after(first, { known }));
    const revision = (tag: string) => listing.releases.find((one) => one.tag === tag)?.revision;
    expect([revision("v100"), revision("v99")]).toEqual([commitOf("moved"), commitOf("v99")]);
  });

  test("a watched release beyond the page is asked for only when its tag moved", async () => {
    const { stand, first } = await begun(100);
    const short = (more: object) => after(first, { limit: 100, watch: ["v100", "v5"], ...more });
    await stand.open().listReleases(short({}));
    expect(stand.take()).toEqual([page(1), commits]);
    stand.tags.set("v5", commitOf("moved"));
    const listing = await stand.open().listReleases(short({}));
    expect(stand.take()).toEqual([page(1), commits, "GET /api/v1/repos/owner/app/releases/tags/v5"]);
    expect(listing.releases.find(({ tag }) => tag === "v5")).toMatchObject({ revision: commitOf("moved") });
  });

  test("known releases without a commit are looked up, five in a check", async () => {
    const { stand, first } = await begun(100);
    const known = new Map(after(first).known);
    for (let number = 1; number <= 8; number += 1) known.set(`v${number}`, { revision: null, published_at: null });
    stand.tags.delete("v1");
    const listing = await stand.open().listReleases(after(first, { limit: 100, known }));
    expect(stand.take().length).toBe(2 + 5);
    expect(listing.releases.filter(({ tag, revision }) => /^v\d$/.test(tag) && revision !== null).length).toBe(5);
  });

  test("a promoted pre-release is new to a channel that had refused it", async () => {
    const { stand, first } = await begun(20, [isRelease]);
    for (const release of stand.releases) if (release.tag === "v99") release.prerelease = false;
    const { releases } = await stand.open().listReleases(after(first, { accepts: [isRelease] }));
    expect(releases.find(({ tag }) => tag === "v99")).toMatchObject({ appeared: true, stage: "release" });
  });

  test("an old release that a wider rule lets in is not new", async () => {
    const { stand, first } = await begun(20, [isRelease]);
    const { releases } = await stand.open().listReleases(after(first));
    expect(releases.find(({ tag }) => tag === "v99")).toMatchObject({ appeared: false });
  });

  test("reads on for a greater depth, and what it finds there is not new", async () => {
    const { stand, first } = await begun(20);
    const { releases } = await stand.open().listReleases(after(first, { limit: 90 }));
    expect(stand.take()).toEqual([page(1), page(2), commits]);
    expect([releases.length, releases.some(({ appeared }) => appeared === true)]).toEqual([90, false]);
  });

  test("a release that was put into the past is found and new, one that was deleted is no news", async () => {
    const { stand, first } = await begun(100);
    stand.add("v50.1", 50.5);
    const second = await stand.open().listReleases(after(first, { limit: 100 }));
    expect(second.releases.filter(({ appeared }) => appeared === true).map(({ tag }) => tag)).toEqual(["v50.1"]);
    stand.take();
    stand.releases = stand.releases.filter(({ tag }) => tag !== "v60");
    const third = await stand.open().listReleases(after(second, { limit: 100 }));
    expect([tagsOf(third).includes("v60"), third.total]).toEqual([false, 100]);
    expect(third.releases.some(({ appeared }) => appeared === true)).toBe(false);
    stand.take();
    const fourth = await stand.open().listReleases(after(third, { limit: 100 }, after(second).known));
    expect([stand.take().length, fourth.total]).toEqual([2, 100]);
  });

  test("what was handed over and is no longer stored is not fetched again", async () => {
    const { stand, first } = await begun(100);
    const few = new Map([...after(first).known].slice(0, 10));
    await stand.open().listReleases(after(first, { limit: 100, known: few }));
    expect(stand.take()).toEqual([page(1), commits]);
  });

  test.each([["nonsense"], ["{}"], ['{"form":"gitea-releases-1"}'], ['{"form":"gitea-tags-1","names":["v1"]}']])(
    "starts anew with the memory %p",
    async (memo) => {
      const { stand, first } = await begun();
      const { releases } = await stand.open().listReleases({ ...after(first), memo });
      expect([releases.length, releases.some((one) => "appeared" in one)]).toEqual([20, false]);
    },
  );

  test("remembers less than 2 MiB of the longest names", async () => {
    const stand = standInGitea();
    for (let number = 1; number <= 1_200; number += 1) stand.add(`${"版".repeat(250)}${number}`, number);
    const { memo } = await stand.open().listReleases(request({ accepts: [() => false] }));
    expect(Buffer.byteLength(memo ?? "")).toBeLessThan(2 * 1024 * 1024);
  });
});

describe("a repository that has moved", () => {
  test("is followed, and its place is said", async () => {
    const stand = filled(60);
    stand.path = "new/name";
    const listing: Listing = await stand.open().listReleases(request({ limit: 60 }));
    expect([listing.moved_to, listing.releases.length]).toEqual(["new/name", 60]);
    expect(stand.take()).toEqual([
      page(1),
      page(1).replace("owner/app", "new/name"),
      page(2).replace("owner/app", "new/name"),
      commits.replace("owner/app", "new/name"),
    ]);
  });

  test("is nowhere else when only its letters differ", async () => {
    const stand = filled(1);
    stand.path = "Owner/App";
    expect((await stand.open().listReleases(request())).moved_to).toBeNull();
  });
});
