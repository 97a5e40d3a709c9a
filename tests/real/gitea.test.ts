import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { gitea } from "../../src/sources/gitea/gitea.ts";
import type { KnownRelease, Listing, ListRequest } from "../../src/sources/source.ts";
import { runGit } from "../peers/git-http.ts";
import { type Gitea, giteaMissing, startGitea } from "../peers/gitea.ts";
import { eventually } from "../support/eventually.ts";
import { meaningOf } from "../support/meaning.ts";
import { peerSuite } from "../support/peer.ts";
import { realHttp } from "../support/real-http.ts";

setDefaultTimeout(60_000);

interface Created {
  id: number;
  name: string;
  created_at: string;
}

const everything: ListRequest = { limit: 100, accepts: [() => true], known: new Map(), watch: [], memo: null };

/** The next request after a listing, as a check makes it. */
function after(listing: Listing, more: Partial<ListRequest> = {}): ListRequest {
  const known = new Map<string, KnownRelease>(
    listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]),
  );
  return { ...everything, known, memo: listing.memo, watch: [...known.keys()].slice(0, 1), ...more };
}

const tagsOf = (listing: Listing) => listing.releases.map((release) => release.tag);
const revisionOf = (listing: Listing, tag: string) => listing.releases.find((one) => one.tag === tag)?.revision;

peerSuite("a real Gitea", giteaMissing(), () => {
  let server: Gitea;
  const http = realHttp(systemClock);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-clone-"));

  beforeAll(async () => {
    server = await startGitea();
    await server.api("POST", "/orgs", { username: "acme" });
  }, 60_000);
  afterAll(async () => {
    http.close();
    rmSync(folder, { recursive: true, force: true });
    await server?.stop();
  });

  const create = (name: string, more: object = {}) =>
    server.api("POST", "/orgs/acme/repos", { name, auto_init: true, default_branch: "main", ...more });
  const release = (name: string, tag_name: string, more: object = {}) =>
    server.api<Created>("POST", `/repos/acme/${name}/releases`, { tag_name, target_commitish: "main", ...more });
  const headOf = async (name: string) => {
    const branch = await server.api<{ commit: { id: string } }>("GET", `/repos/acme/${name}/branches/main`);
    return branch.commit.id;
  };
  const writeFile = (name: string, path: string, text: string, message = "change") =>
    server.api("POST", `/repos/acme/${name}/contents/${path}`, {
      content: Buffer.from(text).toString("base64"),
      message,
    });
  const clone = (name: string) => {
    const place = join(folder, name);
    runGit(folder, "clone", "--quiet", `http://owner:${server.token}@${server.host}/acme/${name}.git`, place);
    return place;
  };
  const open = (repository: string, token: string | null = null) => {
    const context = http.open({ credential_id: token });
    const config = { repository, instance_url: server.url };
    return { source: gitea.open(config, token === null ? null : { token }, context), stats: context.stats };
  };

  test("shows releases with notes, times and the commits of their tags, and no draft", async () => {
    await create("app");
    const first = await headOf("app");
    const one = await release("app", "v1.0.0", { name: "One", body: "# One\n\nNotes" });
    await writeFile("app", "CHANGELOG.md", "# Changes");
    const second = await headOf("app");
    await release("app", "v1.1.0-rc1", { prerelease: true });
    await release("app", "v2.0.0", { draft: true });
    await server.api("POST", "/repos/acme/app/tags", { tag_name: "v0.9.0", message: "annotated", target: first });
    await server.api("POST", "/repos/acme/app/tags", { tag_name: "v1.2.0", message: "annotated", target: first });
    await release("app", "v1.2.0");
    for (const token of [null, server.token]) {
      const { source, stats } = open("acme/app", token);
      const listing = await source.listReleases(everything);
      const facts = listing.releases.map(({ tag, stage, revision }) => [tag, stage, revision]);
      expect(facts.toSorted()).toEqual([
        ["v1.0.0", "release", first],
        ["v1.1.0-rc1", "prerelease", second],
        // Annotated: the commit behind it, not the tag object, and not the branch that the release names.
        ["v1.2.0", "release", first],
      ]);
      expect([listing.total, listing.moved_to, stats().requests]).toEqual([3, null, 2]);
      expect(listing.releases.find(({ tag }) => tag === "v1.0.0")).toEqual({
        version: "v1.0.0",
        tag: "v1.0.0",
        stage: "release",
        published_at: Date.parse(one.created_at),
        revision: first,
        url: `${server.url}/acme/app/releases/tag/v1.0.0`,
        notes: "# One\n\nNotes",
      });
    }
  });

  test("has the pages that versions and comparisons link to, also for names with slashes", async () => {
    await create("linked");
    await release("linked", "v1.0.0");
    await writeFile("linked", "CHANGELOG.md", "# Changes");
    await release("linked", "app/v1.1.0+é");
    await server.api("POST", "/repos/acme/linked/tags", { tag_name: "app/v1.2", target: await headOf("linked") });
    const pages = gitea.pages({ repository: "acme/linked", instance_url: server.url });
    const old = { tag: "v1.0.0", stage: "release", url: null } as const;
    const slashed = { tag: "app/v1.1.0+é", stage: "release", url: null } as const;
    const bare = { tag: "app/v1.2", stage: "tag", url: null } as const;
    for (const [address, word] of [
      [pages?.version(old), "v1.0.0"],
      [pages?.version(slashed), "app/v1.1.0"],
      [pages?.version(bare), "CHANGELOG.md"],
      [pages?.comparison?.(old, slashed), "CHANGELOG.md"],
      [pages?.comparison?.(old, bare), "CHANGELOG.md"],
    ] as const) {
      const answer = await fetch(address ?? "");
      expect([address, answer.status]).toEqual([address, 200]);
      expect(await answer.text()).toContain(word);
    }
  });

  test("costs two requests when nothing has changed, and tells what is new", async () => {
    await create("steady");
    for (const tag of ["v1", "v2", "v3"]) await release("steady", tag);
    const first = await open("acme/steady").source.listReleases(everything);
    const again = open("acme/steady");
    const second = await again.source.listReleases(after(first));
    expect(again.stats().requests).toBe(2);
    expect(second.releases).toEqual(first.releases);
    expect(second.memo).toBe(first.memo);
    await release("steady", "v4");
    const third = await open("acme/steady").source.listReleases(after(second));
    expect(third.releases.filter((one) => one.appeared === true).map((one) => one.tag)).toEqual(["v4"]);
  });

  test("gives a moved tag its new commit", async () => {
    await create("moving");
    await release("moving", "v1");
    const before = await open("acme/moving").source.listReleases(everything);
    const work = clone("moving");
    runGit(work, "commit", "--quiet", "--allow-empty", "-m", "next");
    runGit(work, "tag", "--force", "--annotate", "-m", "moved", "v1");
    runGit(work, "push", "--quiet", "--force", "origin", "main", "refs/tags/v1");
    const listing = await open("acme/moving").source.listReleases(after(before));
    expect(revisionOf(listing, "v1")).toBe(runGit(work, "rev-parse", "HEAD"));
    expect(revisionOf(listing, "v1")).not.toBe(revisionOf(before, "v1"));
  });

  test("keeps a release whose tag is gone, until Gitea makes a draft of it", async () => {
    await create("untagged");
    await release("untagged", "v1");
    await release("untagged", "v2");
    const before = await open("acme/untagged").source.listReleases(everything);
    runGit(server.folderOf("acme/untagged"), "update-ref", "-d", "refs/tags/v1");
    const without = await open("acme/untagged").source.listReleases(after(before));
    expect(without.releases.map(({ tag, revision }) => [tag, revision])).toEqual([
      ["v2", await headOf("untagged")],
      ["v1", null],
    ]);
    // Deleted by a push, Gitea notices after a while.
    runGit(clone("untagged"), "push", "--quiet", "origin", ":refs/tags/v2");
    const last = await eventually("the draft", async () => {
      const listing = await open("acme/untagged", server.token).source.listReleases(after(without));
      return listing.total === 1 ? listing : null;
    });
    expect(tagsOf(last)).toEqual(["v1"]);
  });

  test("shows a draft once it is published, as new", async () => {
    await create("drafts");
    const draft = await release("drafts", "v1", { draft: true });
    await release("drafts", "v2");
    const before = await open("acme/drafts").source.listReleases(everything);
    expect(tagsOf(before)).toEqual(["v2"]);
    await server.api("PATCH", `/repos/acme/drafts/releases/${draft.id}`, { draft: false });
    const listing = await open("acme/drafts").source.listReleases(after(before));
    expect(tagsOf(listing).toSorted()).toEqual(["v1", "v2"]);
    expect(listing.releases.find((one) => one.tag === "v1")).toMatchObject({ appeared: true, stage: "release" });
    expect(revisionOf(listing, "v1")).toHaveLength(40);
  });

  test("reads a private repository with a token that may only read, and says why not without", async () => {
    await create("hidden", { private: true });
    await release("hidden", "v1");
    const { source } = open("acme/hidden", server.createToken("read:repository"));
    const listing = await source.listReleases(everything);
    expect([tagsOf(listing), revisionOf(listing, "v1")]).toEqual([["v1"], await headOf("hidden")]);
    expect(await source.readFile?.("README.md", "v1")).toBe("# hidden\n\n");
    const ask = (token: string | null) => open("acme/hidden", token).source.listReleases(everything);
    await expect(ask(null)).rejects.toMatchObject({
      code: "not_found",
      message: `Could not list the releases of "${server.host}/acme/hidden": the response was 404: not found; the repository is private or does not exist; add a credential that can read it, or check the name`,
    });
    const hidden = "sources.private_or_missing";
    expect(await meaningOf(open("acme/hidden").source.listNames?.())).toEqual(["unauthorized", hidden]);
    expect(await meaningOf(ask("wrong"))).toEqual(["unauthorized", "sources.credential_rejected"]);
    // A token without the scope, and no such repository.
    const unreadable = "sources.gitea_unreadable";
    expect(await meaningOf(ask(server.createToken("read:user")))).toEqual(["unauthorized", unreadable]);
    const nowhere = open("acme/nowhere", server.createToken("read:repository")).source;
    expect(await meaningOf(nowhere.listReleases(everything))).toEqual(["not_found", unreadable]);
    expect((await meaningOf(nowhere.listNames?.()))[1]).toBe(unreadable);
    await expect(ask("wrong")).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("the response was 401: invalid username, password or token"),
    });
    await expect(open("acme/hidden").source.listNames?.()).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("follows a renamed and a transferred repository, and says where it is", async () => {
    await create("old-name");
    await release("old-name", "v1");
    await server.api("PATCH", "/repos/acme/old-name", { name: "new-name" });
    const { source } = open("acme/old-name");
    const listing = await source.listReleases(everything);
    expect([tagsOf(listing), listing.moved_to]).toEqual([["v1"], "acme/new-name"]);
    expect(revisionOf(listing, "v1")).toHaveLength(40);
    expect(await open("acme/old-name").source.listNames?.()).toEqual(["v1"]);
    await server.api("POST", "/repos/acme/new-name/transfer", { new_owner: "owner" });
    const moved = await open("acme/old-name").source.listReleases(everything);
    expect([tagsOf(moved), moved.moved_to]).toEqual([["v1"], "owner/new-name"]);
    expect(await open("acme/old-name").source.readFile?.("README.md", null)).toBe("# old-name\n\n");
  });

  test("tells an empty repository, one without releases and one that is missing apart", async () => {
    await create("empty", { auto_init: false });
    const empty = open("acme/empty");
    expect(await empty.source.listReleases(everything)).toMatchObject({ releases: [], total: 0 });
    expect(await empty.source.listTags?.(everything)).toMatchObject({ releases: [], total: 0 });
    await create("tags-only");
    const commit = await headOf("tags-only");
    for (const tag_name of ["v1.0.0", "v1.10.0", "v1.9.0", "release/2.0"]) {
      const message = tag_name === "v1.9.0" ? "annotated" : "";
      await server.api("POST", "/repos/acme/tags-only/tags", { tag_name, message, target: "main" });
    }
    const { source, stats } = open("acme/tags-only");
    expect(await source.listReleases(everything)).toMatchObject({ releases: [], total: 0 });
    const tags = await source.listTags?.(everything);
    expect(stats().requests).toBe(2);
    expect(tags?.releases.map(({ tag, stage, revision }) => [tag, stage, revision])).toEqual(
      ["release/2.0", "v1.10.0", "v1.9.0", "v1.0.0"].map((tag) => [tag, "tag", commit]),
    );
    await expect(open("acme/missing").source.listReleases(everything)).rejects.toMatchObject({ code: "not_found" });
    await server.api("PATCH", "/repos/acme/tags-only", { has_releases: false });
    await expect(open("acme/tags-only").source.listReleases(everything)).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("the response was 403: user should have specific read permission"),
    });
  });

  test("reads files at tags, and nothing where the ref or the file is missing", async () => {
    await create("files");
    await writeFile("files", "docs/Änderungen 1.md", "old");
    await server.api("POST", "/repos/acme/files/tags", { tag_name: "release/1.0", target: "main" });
    const { source } = open("acme/files");
    expect(await source.readFile?.("docs/Änderungen 1.md", "release/1.0")).toBe("old");
    expect(await source.readFile?.("docs/Änderungen 1.md", null)).toBe("old");
    expect(await source.readFile?.("docs/Änderungen 1.md", "release/2.0")).toBeNull();
    expect(await source.readFile?.("docs", null)).toBeNull();
    expect(await source.readFile?.("missing.md", null)).toBeNull();
  });

  test("reads 100 of 120 releases over pages, and two requests later the newest", async () => {
    await create("many");
    for (let number = 1; number <= 120; number += 1) {
      await release("many", `v1.${number}.0`, { prerelease: number % 2 === 0, body: `Release ${number}` });
    }
    const first = open("acme/many");
    const listing = await first.source.listReleases(everything);
    expect([listing.releases.length, listing.total, first.stats().requests]).toEqual([100, 120, 3]);
    expect(new Set(listing.releases.map((one) => one.revision))).toEqual(new Set([await headOf("many")]));
    const again = open("acme/many");
    const second = await again.source.listReleases(after(listing, { watch: ["v1.120.0", "v1.30.0"] }));
    expect([second.releases.length, again.stats().requests]).toEqual([50, 2]);
    expect(second.releases.every((one) => one.appeared === undefined)).toBe(true);

    // What a filter refuses takes no place.
    const stable = open("acme/many");
    const accepts: ListRequest["accepts"] = [(_tag, stage) => stage === "release"];
    const filtered = await stable.source.listReleases({ ...everything, accepts, limit: 50 });
    expect([filtered.releases.length, stable.stats().requests]).toEqual([50, 3]);
    expect(filtered.releases.every((one) => one.stage === "release")).toBe(true);

    // A tag that an executor runs, far beyond the newest page, was moved.
    const work = clone("many");
    runGit(work, "commit", "--quiet", "--allow-empty", "-m", "next");
    runGit(work, "tag", "--force", "v1.30.0");
    runGit(work, "push", "--quiet", "--force", "origin", "main", "refs/tags/v1.30.0");
    const moved = await open("acme/many").source.listReleases(after(listing, { watch: ["v1.120.0", "v1.30.0"] }));
    expect(moved.releases.find((one) => one.tag === "v1.30.0")).toMatchObject({
      revision: runGit(work, "rev-parse", "HEAD"),
      notes: "Release 30",
      stage: "prerelease",
    });
  }, 120_000);
});
