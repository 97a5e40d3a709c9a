import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { gitlab } from "../../../src/sources/gitlab/gitlab.ts";
import type { Accept, KnownRelease, Listing, ListRequest, OpenSource } from "../../../src/sources/source.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { meaningOf } from "../../support/meaning.ts";
import { type RealHttp, realHttp } from "../../support/real-http.ts";
import {
  commitId,
  project,
  releasesOf,
  type StandInGitLab,
  type StandInProject,
  standInGitLab,
  tagsOf,
  token,
} from "./stand-in-gitlab.ts";

let instance: StandInGitLab;
let app: StandInProject;
let clock: FakeClock;
let http: RealHttp;

beforeEach(() => {
  app = project();
  instance = standInGitLab(app);
  clock = createFakeClock(Date.UTC(2026, 0, 5, 12));
  http = realHttp(clock);
});
afterEach(async () => {
  http.close();
  await instance[Symbol.asyncDispose]();
  expect(instance.violations).toEqual([]);
});

const releasesPage = "releases?order_by=released_at&sort=desc&per_page=20";
const path = "acme%2Ftools%2Fapp";

function open(given: { project?: string; token?: string | null } = {}): OpenSource {
  const secret = given.token === undefined || given.token === null ? null : { token: given.token };
  const config = { project: given.project ?? app.path, instance_url: instance.url };
  return gitlab.open(config, secret, http.open({ credential_id: secret === null ? null : "credential-1" }));
}

function ask(given: Partial<ListRequest> = {}): ListRequest {
  return { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null, ...given };
}

/** The request after a check whose listings were stored. */
function next(listings: Listing | readonly Listing[], given: Partial<ListRequest> = {}): ListRequest {
  const all = "releases" in listings ? [listings] : listings;
  const releases = all.flatMap((listing) => listing.releases);
  const known = new Map<string, KnownRelease>(releases.map(({ tag, ...facts }) => [tag, facts]));
  return ask({ known, memo: all.at(-1)?.memo ?? null, ...given });
}

function tags(listing: Listing): string[] {
  return listing.releases.map((release) => release.tag);
}

async function failureOf(work: Promise<unknown>): Promise<PluginError> {
  const error = await clock.runUntil(
    work.then(
      () => null,
      (thrown: unknown) => thrown,
    ),
  );
  if (!(error instanceof PluginError)) throw error ?? new Error("It did not fail");
  return error;
}

describe("listReleases()", () => {
  test("takes commit, time, notes and page from the one answer", async () => {
    app.releases = [{ tag: "v1.2.0", released_at: "2025-03-04T05:06:07.089Z", description: "## Fixed" }];
    const listing = await open().listReleases(ask());
    expect(listing.releases).toEqual([
      {
        version: "v1.2.0",
        tag: "v1.2.0",
        stage: "release",
        published_at: Date.UTC(2025, 2, 4, 5, 6, 7, 89),
        revision: commitId("v1.2.0"),
        url: `${instance.url}/acme/tools/app/-/releases/v1.2.0`,
        notes: "## Fixed",
      },
    ]);
    expect([listing.total, listing.moved_to]).toEqual([1, null]);
    expect(instance.take()).toEqual([`GET ${path}/${releasesPage}`]);
  });

  test("costs one request, answered by 304, when nothing changed", async () => {
    app.releases = releasesOf(70);
    const first = await open().listReleases(ask());
    instance.take();
    const second = await open().listReleases(next(first, { watch: ["v70.0.0"] }));
    expect(instance.seen.map(({ status }) => status)).toEqual([304]);
    expect(second).toEqual(first);
    expect(tags(second)).toEqual(
      releasesOf(70)
        .slice(0, 10)
        .map(({ tag }) => tag),
    );
    expect(second.total).toBe(70);
  });

  test("costs one request too where channels take few, far back, or none", async () => {
    app.releases = releasesOf(130, (number) => (number % 40 === 0 ? `lts-${number}` : `v${number}.0.0`));
    const accepts: Accept[] = [(tag) => tag.startsWith("lts-"), () => false];
    const first = await open().listReleases(ask({ accepts }));
    expect(tags(first)).toEqual(["lts-120", "lts-80", "lts-40"]);
    expect(instance.take()).toHaveLength(7);
    const second = await open().listReleases(next(first, { accepts, watch: ["lts-120"] }));
    expect(instance.take()).toEqual([`GET ${path}/${releasesPage}`]);
    expect(tags(second)).toEqual(["lts-120"]);
    expect([second.total, second.memo]).toEqual([first.total, first.memo]);
  });

  test("gives each channel its own places, and excluded tags eat none", async () => {
    app.releases = releasesOf(60, (number) => (number > 12 ? `v${number}.0.0-nightly` : `v${number}.0.0`));
    const accepts: Accept[] = [(tag) => !tag.endsWith("nightly"), (tag) => tag.endsWith("nightly")];
    const listing = await open().listReleases(ask({ accepts, limit: 5 }));
    expect(tags(listing)).toEqual([
      ...[60, 59, 58, 57, 56].map((number) => `v${number}.0.0-nightly`),
      ...[12, 11, 10, 9, 8].map((number) => `v${number}.0.0`),
    ]);
    expect(instance.take()).toHaveLength(3);
  });

  test("comes to a depth of 100 over several pages", async () => {
    app.releases = releasesOf(140);
    const listing = await open().listReleases(ask({ limit: 100 }));
    expect(tags(listing)).toEqual(
      releasesOf(140)
        .slice(0, 100)
        .map(({ tag }) => tag),
    );
    expect(instance.take()).toEqual([
      `GET ${path}/releases?order_by=released_at&sort=desc&per_page=50`,
      `GET ${path}/releases?order_by=released_at&sort=desc&per_page=50&page=2`,
    ]);
  });

  test("pages by x-next-page where the links are gone", async () => {
    instance.strips_links = true;
    app.releases = releasesOf(25);
    expect(
      tags(await open().listReleases(ask({ limit: 20, accepts: [() => true, (tag) => tag < "v10"] }))),
    ).toHaveLength(21);
    expect(instance.take()).toHaveLength(2);
  });

  test("tells what appeared since from what only came into reach", async () => {
    app.releases = releasesOf(30);
    const first = await open().listReleases(ask({ limit: 5 }));
    expect(first.releases.every((release) => release.appeared === undefined)).toBe(true);
    app.releases.push({ tag: "v31.0.0", released_at: "2025-01-01T00:00:00.000Z" });
    const second = await open().listReleases(next(first, { limit: 7 }));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v31.0.0", true],
      ...[30, 29, 28, 27, 26].map((number) => [`v${number}.0.0`, undefined]),
      ["v25.0.0", false],
    ]);
    const wider = await open().listReleases(
      next([first, second], { limit: 20, accepts: [() => true, (tag) => tag === "v2.0.0"] }),
    );
    expect(wider.releases.find(({ tag }) => tag === "v2.0.0")?.appeared).toBe(false);
  });

  test("reads on until it meets what it knew when a whole page is new", async () => {
    app.releases = releasesOf(30);
    const first = await open().listReleases(ask({ limit: 3 }));
    app.releases = releasesOf(55);
    instance.take();
    const second = await open().listReleases(next(first, { limit: 3, accepts: [(tag) => tag === "v32.0.0"] }));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["v32.0.0", true]]);
    expect(instance.take()).toHaveLength(3);
  });

  test("asks further pages when rules are widened, once", async () => {
    app.releases = releasesOf(60);
    const narrow: Accept[] = [(tag) => tag === "v60.0.0"];
    const first = await open().listReleases(ask({ accepts: narrow }));
    instance.take();
    const wide: Accept[] = [(tag) => /^v[1-3]\.0\.0$/.test(tag)];
    const second = await open().listReleases(next(first, { accepts: wide }));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v3.0.0", false],
      ["v2.0.0", false],
      ["v1.0.0", false],
    ]);
    expect(instance.take()).toHaveLength(3);
    await open().listReleases(next([first, second], { accepts: wide }));
    expect(instance.take()).toHaveLength(1);
  });

  test("does not fetch again what its caller let go of", async () => {
    app.releases = releasesOf(45);
    const accepts: Accept[] = [(tag) => /^v[1-9]\.0\.0$/.test(tag)];
    const first = await open().listReleases(ask({ accepts }));
    instance.take();
    const kept = { ...first, releases: first.releases.slice(0, 4) };
    await open().listReleases(next(kept, { accepts }));
    expect(instance.take()).toHaveLength(1);
  });

  test("reads on when the count says that something changed further back", async () => {
    app.releases = releasesOf(45);
    const accepts: Accept[] = [(tag) => /^v[1-9]\.0\.\d$/.test(tag)];
    const first = await open().listReleases(ask({ accepts }));
    instance.take();
    app.releases = app.releases.filter(({ tag }) => tag !== "v30.0.0");
    app.releases.push({ tag: "v2.0.1", released_at: "2024-01-02T12:00:00.000Z" });
    app.releases.push({ tag: "v2.0.2", released_at: "2024-01-02T13:00:00.000Z" });
    const second = await open().listReleases(next(first, { accepts }));
    expect(instance.take()).toHaveLength(3);
    expect([second.total, second.releases.filter(({ appeared }) => appeared).map(({ tag }) => tag)]).toEqual([
      46,
      ["v2.0.2", "v2.0.1"],
    ]);
    await open().listReleases(next([first, second], { accepts }));
    expect(instance.take()).toHaveLength(1);
  });

  test("forgets what upstream deleted", async () => {
    app.releases = releasesOf(30);
    const first = await open().listReleases(ask({ limit: 30 }));
    expect(first.total).toBe(30);
    app.releases = releasesOf(30).slice(0, 12);
    const second = await open().listReleases(next(first, { limit: 30 }));
    expect([second.total, tags(second).length]).toEqual([12, 12]);
  });

  test("counts an upcoming release as a pre-release without a time, until it is out", async () => {
    const released_at = "2026-01-06T00:00:00.000Z";
    app.releases = [{ tag: "v2.0.0", released_at, upcoming: true }, ...releasesOf(1)];
    const first = await open().listReleases(ask());
    expect(first.releases.map(({ tag, stage, published_at }) => [tag, stage, published_at])).toEqual([
      ["v2.0.0", "prerelease", null],
      ["v1.0.0", "release", Date.UTC(2024, 0, 1)],
    ]);
    app.releases = [{ tag: "v2.0.0", released_at }, ...releasesOf(1)];
    clock.set(Date.UTC(2026, 0, 7));
    const [out] = (await open().listReleases(next(first))).releases;
    expect([out?.stage, out?.published_at]).toEqual(["release", Date.UTC(2026, 0, 6)]);
  });

  test("tells a release that was upcoming as new to the channels that refused it until then", async () => {
    const accepts: Accept[] = [(_, stage) => stage === "release"];
    app.releases = [{ tag: "v2.0.0", released_at: "2026-01-06T00:00:00.000Z", upcoming: true }, ...releasesOf(1)];
    const first = await open().listReleases(ask({ accepts }));
    expect(tags(first)).toEqual(["v1.0.0"]);
    app.releases = [{ tag: "v2.0.0", released_at: "2026-01-06T00:00:00.000Z" }, ...releasesOf(1)];
    const second = await open().listReleases(next(first, { accepts }));
    expect(second.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v2.0.0", true],
      ["v1.0.0", undefined],
    ]);
  });

  test("keeps a release without its commit, and upgrades it later at no cost", async () => {
    app.releases = [{ tag: "v1.0.0", released_at: "2025-01-01T00:00:00.000Z", commit: null }];
    const first = await open().listReleases(ask());
    expect(first.releases[0]?.revision).toBeNull();
    app.releases = [{ tag: "v1.0.0", released_at: "2025-01-01T00:00:00.000Z" }];
    const second = await open().listReleases(next(first));
    expect(second.releases[0]?.revision).toBe(commitId("v1.0.0"));
    expect(second.releases[0]?.appeared).toBeUndefined();
    expect(instance.take()).toHaveLength(2);
  });

  test("passes over names that git could not have, and releases without any time", async () => {
    const released_at = "2025-01-01T00:00:00.000Z";
    const odd = ["a b", "a\u0007b", "../a", "a..b", "x\ufffd", "-rf", `v${"9".repeat(2_000)}`];
    app.releases = [...odd, "v1.0.0", "__proto__"].map((tag) => ({ tag, released_at }));
    app.releases.push({ tag: "v0.9.0", released_at: "soon", created_at: "then" });
    expect(tags(await open().listReleases(ask()))).toEqual(["v1.0.0", "__proto__"]);
  });

  test("refuses releases that come without their tags", async () => {
    app.releases = releasesOf(2);
    app.hides_code = true;
    const error = await failureOf(open().listReleases(ask()));
    expect(error.code).toBe("unauthorized");
    expect(error.message).toContain("without their tags");
  });

  test("says that releases are turned off, and does not take that for an empty list", async () => {
    app.releases_enabled = false;
    app.tags = tagsOf(3);
    const error = await failureOf(open().listReleases(ask()));
    expect([error.code, error.message]).toEqual([
      "unauthorized",
      'Could not list the releases of "acme/tools/app": the response was 403: 403 Forbidden; its releases are disabled or limited to members',
    ]);
  });

  test("sends the token as GitLab takes it, and sees private projects with it alone", async () => {
    app.is_private = true;
    app.releases = releasesOf(1);
    const hidden = "sources.private_or_missing";
    expect(await meaningOf(open().listReleases(ask()))).toEqual(["not_found", hidden]);
    expect(await meaningOf(open().listTags?.(ask()))).toEqual(["not_found", hidden]);
    expect(await meaningOf(open().listNames?.())).toEqual(["unauthorized", hidden]);
    expect(instance.take()).toHaveLength(3);
    expect(tags(await open({ token }).listReleases(ask()))).toEqual(["v1.0.0"]);
    expect(instance.seen.map(({ headers }) => headers["private-token"])).toEqual([token]);
    const wrong = "sources.credential_rejected";
    expect(await meaningOf(open({ token: "glpat-wrong" }).listReleases(ask()))).toEqual(["unauthorized", wrong]);
    const other = open({ project: "acme/tools/other", token }).listReleases(ask());
    expect(await meaningOf(other)).toEqual(["not_found", "sources.gitlab_unreadable"]);
  });

  test("finds a project by its number", async () => {
    app.releases = releasesOf(1);
    const listing = await open({ project: "24" }).listReleases(ask());
    expect([tags(listing), listing.moved_to]).toEqual([["v1.0.0"], null]);
    expect(instance.take()).toEqual([`GET 24/${releasesPage}`]);
  });
});

describe("a moved project", () => {
  test("is followed on the instance, and says where it is", async () => {
    app.releases = releasesOf(2);
    app.former = ["old/app"];
    const listing = await open({ project: "old/app" }).listReleases(ask());
    expect([tags(listing), listing.moved_to]).toEqual([["v2.0.0", "v1.0.0"], "acme/tools/app"]);
    expect(instance.take()).toEqual([`GET old%2Fapp/${releasesPage}`, `GET 24/${releasesPage}`]);
  });

  test("is named by its number while it has neither a release nor a tag", async () => {
    app.former = ["old/app"];
    expect((await open({ project: "old/app" }).listReleases(ask())).moved_to).toBe("24");
    app.tags = tagsOf(1);
    expect((await open({ project: "old/app" }).listTags?.(ask()))?.moved_to).toBe("acme/tools/app");
  });

  test("is noticed too where an old instance follows in silence", async () => {
    app.releases = releasesOf(1);
    const self = `${instance.url}/acme/tools/app/-/releases/v1`;
    const release = { tag_name: "v1", released_at: "2025-01-01T00:00:00Z", _links: { self } };
    instance.fault = () => Response.json([release]);
    expect((await open({ project: "old/app" }).listReleases(ask())).moved_to).toBe("acme/tools/app");
  });

  test.each<[string, (port: number) => string, string]>([
    ["another host", () => "http://127.0.0.2:1/api/v4/projects/24/releases", "rejected"],
    ["another port", (port) => `http://127.0.0.1:${port + 1}/api/v4/projects/24/releases`, "rejected"],
    ["a place beside the API", () => "/root/app", "rejected"],
    ["the sign-in page", () => "/users/sign_in", "unauthorized"],
    ["no address", () => "http://[", "malformed"],
    ["itself", () => "", "rejected"],
  ])("that redirects to %s is refused", async (_, place, code) => {
    instance.fault = (_request, url) => {
      if (!url.pathname.startsWith("/api/")) return new Response("<html></html>");
      return new Response("moved", { status: 301, headers: { location: place(Number(url.port)) || url.href } });
    };
    const error = await failureOf(open({ token }).listReleases(ask()));
    expect(error.code).toBe(code as PluginError["code"]);
    expect(instance.seen.length).toBeLessThanOrEqual(4);
  });

  test("behind a proxy that ends TLS keeps its own scheme and port in links", async () => {
    app.releases = releasesOf(25);
    instance.external_url = "http://127.0.0.1";
    const listing = await open().listReleases(ask({ limit: 20, accepts: [() => true, (tag) => tag === "v1.0.0"] }));
    expect(listing.releases.at(-1)?.tag).toBe("v1.0.0");
    expect(instance.take()).toHaveLength(2);
  });
});

describe("listTags()", () => {
  test("takes the commit behind an annotated tag, and the tag's own time", async () => {
    app.tags = [
      {
        name: "v1.1.0",
        commit: commitId("b"),
        committed_at: "2025-01-02T00:00:00Z",
        created_at: "2025-02-03T00:00:00Z",
      },
      { name: "v1.0.0", commit: commitId("a"), committed_at: "2025-01-01T00:00:00Z" },
    ];
    const listing = await open().listTags?.(ask());
    expect(listing?.releases).toEqual([
      {
        version: "v1.1.0",
        tag: "v1.1.0",
        stage: "tag",
        published_at: Date.UTC(2025, 1, 3),
        revision: commitId("b"),
        url: `${instance.url}/acme/tools/app/-/tags/v1.1.0`,
        notes: null,
      },
      expect.objectContaining({ tag: "v1.0.0", published_at: Date.UTC(2025, 0, 1), revision: commitId("a") }),
    ]);
  });

  test.each([
    ["by keyset", true, "&page_token=v51.0.0"],
    ["by number", false, "&page=2"],
  ])("pages %s", async (_, knowsKeyset, second) => {
    instance.knows_keyset = knowsKeyset;
    app.tags = tagsOf(150);
    const listing = await open().listTags?.(ask({ accepts: [(tag) => tag === "v3.0.0"] }));
    expect(listing?.releases.map(({ tag }) => tag)).toEqual(["v3.0.0"]);
    const query = "repository/tags?order_by=updated&sort=desc&pagination=keyset&per_page=100";
    expect(instance.take()).toEqual([`GET ${path}/${query}`, `GET ${path}/${query}${second}`]);
  });

  test("costs one request when nothing changed, and sees a tag that was moved", async () => {
    app.tags = tagsOf(120);
    const first = await open().listTags?.(ask());
    instance.take();
    if (first === undefined) throw new Error("There are no tags");
    expect(await open().listTags?.(next(first))).toEqual(first);
    expect(instance.seen.map(({ status }) => status)).toEqual([304]);
    app.tags = app.tags.map((tag) => (tag.name === "v119.0.0" ? { ...tag, commit: commitId("moved") } : tag));
    const third = await open().listTags?.(next(first));
    expect(third?.releases[1]).toEqual(expect.objectContaining({ tag: "v119.0.0", revision: commitId("moved") }));
  });

  test("ends at the empty page that GitLab names after a full one", async () => {
    app.tags = tagsOf(100);
    const listing = await open().listTags?.(ask({ accepts: [() => false] }));
    expect(listing?.total).toBe(100);
    expect(instance.take()).toHaveLength(2);
  });

  test("has nothing for a project whose repository was never made", async () => {
    instance.fault = () => Response.json({ message: "404 Not Found" }, { status: 404 });
    expect(await open().listTags?.(ask())).toEqual(expect.objectContaining({ releases: [], total: 0 }));
    instance.fault = () => Response.json({ message: "404 Project Not Found" }, { status: 404 });
    const work = open().listTags?.(ask());
    expect((await failureOf(work ?? Promise.resolve())).code).toBe("not_found");
  });

  test("names every tag for a preview, by one request of git where no token is needed", async () => {
    app.tags = tagsOf(250);
    const names = tagsOf(250).map(({ name }) => name);
    expect((await open().listNames?.())?.toSorted()).toEqual(names.toSorted());
    expect(instance.take()).toEqual(["POST /acme/tools/app.git/git-upload-pack"]);
    expect(await open({ token }).listNames?.()).toEqual(names);
    expect(await open({ project: "24" }).listNames?.()).toEqual(names);
    expect(instance.take()).toHaveLength(6);
  });
});

describe("readFile()", () => {
  beforeEach(() => {
    app.files.set("HEAD:docs/CHANGELOG.md", "# Changes");
    app.files.set("v1.0/rc:docs/CHANGELOG.md", "# Old changes");
  });

  test("reads at a ref, else on the default branch", async () => {
    expect(await open().readFile?.("docs/CHANGELOG.md", null)).toBe("# Changes");
    expect(await open().readFile?.("docs/CHANGELOG.md", "v1.0/rc")).toBe("# Old changes");
    expect(instance.take()).toEqual([
      `GET ${path}/repository/files/docs%2FCHANGELOG.md/raw?ref=HEAD`,
      `GET ${path}/repository/files/docs%2FCHANGELOG.md/raw?ref=v1.0%2Frc`,
    ]);
  });

  test("has null for a missing file and a missing ref, and an error for a missing project", async () => {
    expect(await open().readFile?.("NEWS", null)).toBeNull();
    expect(await open().readFile?.("docs/CHANGELOG.md", "v9")).toBeNull();
    const missing = open({ project: "acme/none" }).readFile?.("NEWS", null);
    expect((await failureOf(missing ?? Promise.resolve())).code).toBe("not_found");
  });
});
