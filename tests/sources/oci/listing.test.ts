import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ociSource } from "../../../src/sources/oci/oci.ts";
import type { KnownRelease, Listing, OpenSource } from "../../../src/sources/source.ts";
import {
  addImage,
  addIndex,
  type Content,
  emptyContent,
  json,
  listRequest,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "./stand-in-registry.ts";

let registry: StandIn;
let content: Content;
let refuse: (line: string) => Response | null;

beforeAll(() => {
  registry = standIn(
    (request, url) => refuse(`${request.method} ${url.pathname}`) ?? serve(content, "acme/app", request, url),
  );
});
afterAll(() => registry.stop());
beforeEach(() => {
  content = emptyContent();
  refuse = () => null;
  registry.take();
});

const built = { created: "2025-01-01T00:00:00Z" };
const builtAt = Date.UTC(2025, 0, 1);

function open(mode = "auto", context = testContext()): OpenSource {
  return ociSource().open({ image: "acme/app", registry: registry.url, published_at_mode: mode }, null, context);
}

function knownOf(...listings: readonly Listing[]): Map<string, KnownRelease> {
  const releases = listings.flatMap((listing) => listing.releases);
  return new Map(releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

function tagsOf(listing: Listing): string[] {
  return listing.releases.map((release) => release.tag);
}

/** Requests so far without their common start: `HEAD manifests/1.0.0`. */
function taken(): string[] {
  return registry.take().map((line) => line.replace("/v2/acme/app/", "").replace("?n=1000", ""));
}

const tagList = "GET tags/list";

describe("listReleases()", () => {
  test("returns each tag with its digest and build time", async () => {
    const revision = addImage(content, "1.0.0", { created: "2026-01-02T03:04:05.678Z" });
    const published_at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    const listing = await open().listReleases(listRequest());
    expect(listing.releases).toEqual([
      { version: "1.0.0", tag: "1.0.0", stage: "tag", published_at, revision, url: null, notes: null },
    ]);
    expect(listing.total).toBe(1);
  });

  test("costs two requests when nothing changed", async () => {
    for (const tag of ["1.0.0", "1.1.0", "1.2.0"]) addImage(content, tag, built);
    const first = await open().listReleases(listRequest());
    registry.take();
    const second = await open().listReleases(
      listRequest({ known: knownOf(first), memo: first.memo, watch: ["1.2.0"] }),
    );
    expect(taken()).toEqual([tagList, "HEAD manifests/1.2.0"]);
    expect(second).toEqual(first);
  });

  test("costs one HEAD more for each further watched tag, and none for one that is gone", async () => {
    for (const tag of ["1.0.0", "1.1.0", "1.2.0"]) addImage(content, tag, built);
    const first = await open().listReleases(listRequest());
    registry.take();
    const watch = ["1.2.0", "1.0.0", "0.9.0"];
    await open().listReleases(listRequest({ known: knownOf(first), memo: first.memo, watch, limit: 1 }));
    expect(taken().toSorted()).toEqual([tagList, "HEAD manifests/1.0.0", "HEAD manifests/1.2.0"].toSorted());
  });

  test("asks with every type of manifest", async () => {
    addImage(content, "1.0.0", built);
    await open("first_observed").listReleases(listRequest());
    expect(registry.seen.at(-1)?.accept?.split(", ")).toEqual([
      "application/vnd.oci.image.index.v1+json",
      "application/vnd.docker.distribution.manifest.list.v2+json",
      "application/vnd.oci.image.manifest.v1+json",
      "application/vnd.docker.distribution.manifest.v2+json",
    ]);
  });

  test("takes the highest accepted tags on a first check, whatever the order upstream", async () => {
    for (const tag of ["1.9.0", "edge", "1.10.0", "1.2.0", "2.0.0", "1.11.0"]) addImage(content, tag, built);
    const listing = await open().listReleases(listRequest({ limit: 2, accepts: [(tag) => /^1\.\d+\.0$/.test(tag)] }));
    expect(tagsOf(listing)).toEqual(["1.11.0", "1.10.0"]);
    expect(listing.total).toBe(6);
  });

  test("sees a new tag below the depth once, and not as new again", async () => {
    for (const tag of ["2.0.0", "2.1.0", "1.0.0"]) addImage(content, tag, built);
    const first = await open().listReleases(listRequest({ limit: 1 }));
    expect(tagsOf(first)).toEqual(["2.1.0"]);
    addImage(content, "1.0.1", built);
    const second = await open().listReleases(listRequest({ limit: 1, known: knownOf(first), memo: first.memo }));
    expect(tagsOf(second)).toEqual(["1.0.1"]);
    const known = knownOf(first, second);
    const third = await open().listReleases(listRequest({ limit: 1, known, memo: second.memo }));
    expect(tagsOf(third)).toEqual(["2.1.0"]);
  });

  test("bounds many new tags by the depth, the highest first", async () => {
    addImage(content, "1.0.0", built);
    const first = await open().listReleases(listRequest({ limit: 3 }));
    for (let patch = 1; patch <= 30; patch += 1) addImage(content, `0.9.${patch}`, built);
    const second = await open().listReleases(listRequest({ limit: 3, known: knownOf(first), memo: first.memo }));
    expect(tagsOf(second)).toEqual(["0.9.30", "0.9.29", "0.9.28"]);
  });

  test("reports an empty answer as it is, and takes what comes back for known", async () => {
    for (const tag of ["1.0.0", "1.1.0", "2.0.0"]) addImage(content, tag, built);
    const first = await open().listReleases(listRequest({ limit: 1 }));
    refuse = (line) => (line.endsWith("/tags/list") ? json({ name: "acme/app", tags: null }) : null);
    const known = knownOf(first);
    const empty = await open().listReleases(listRequest({ limit: 1, known, memo: first.memo, watch: ["2.0.0"] }));
    expect(empty).toMatchObject({ releases: [], total: 0 });
    refuse = () => null;
    const after = await open().listReleases(listRequest({ limit: 1, known, memo: empty.memo }));
    expect(tagsOf(after)).toEqual(["2.0.0"]);
  });

  test("tells what appeared from what was there and only now is asked for", async () => {
    for (const tag of ["1.0.0", "1.1.0"]) addImage(content, tag, built);
    const first = await open().listReleases(listRequest({ limit: 1 }));
    const known = knownOf(first);
    const asked = (memo: string | null) => open().listReleases(listRequest({ limit: 3, known, memo }));
    const facts = async (memo: string | null) =>
      (await asked(memo)).releases.map(({ tag, appeared }) => [tag, appeared]).toSorted();
    expect(first.releases.map((release) => release.appeared)).toEqual([undefined]);
    expect(await facts(first.memo)).toEqual([
      ["1.0.0", false],
      ["1.1.0", undefined],
    ]);
    addImage(content, "0.9.0", built);
    expect(await facts(first.memo)).toEqual([
      ["0.9.0", true],
      ["1.0.0", false],
      ["1.1.0", undefined],
    ]);
    expect(await facts(null)).toEqual([
      ["0.9.0", undefined],
      ["1.0.0", undefined],
      ["1.1.0", undefined],
    ]);
  });

  test("leaves out new tags that are not accepted", async () => {
    addImage(content, "1.0.0", built);
    const first = await open().listReleases(listRequest({ limit: 1 }));
    addImage(content, "2.0.0", built);
    const accept = (tag: string) => tag.startsWith("1.");
    const request = listRequest({ limit: 1, known: knownOf(first), memo: first.memo, accepts: [accept] });
    expect(tagsOf(await open().listReleases(request))).toEqual(["1.0.0"]);
  });

  test("leaves each channel its places, however many versions another has", async () => {
    for (const tag of ["1.0.0", "2.0.0", "3.0.0-rc.1", "3.0.0-rc.2", "3.0.0-rc.3"]) addImage(content, tag, built);
    const isCandidate = (tag: string) => tag.includes("-rc.");
    const accepts = [(tag: string) => !isCandidate(tag), isCandidate];
    const listing = await open().listReleases(listRequest({ limit: 4, accepts }));
    expect(tagsOf(listing).toSorted()).toEqual(["1.0.0", "2.0.0", "3.0.0-rc.2", "3.0.0-rc.3"]);
    const narrow = await open().listReleases(listRequest({ limit: 1, accepts }));
    expect(tagsOf(narrow).toSorted()).toEqual(["2.0.0", "3.0.0-rc.3"]);
  });

  test("starts anew from a memory that it does not know", async () => {
    for (const tag of ["1.0.0", "2.0.0"]) addImage(content, tag, built);
    for (const memo of ["", "something else", "oci-tags-0  2.0.0 ", '{"tags":[]}']) {
      expect(tagsOf(await open().listReleases(listRequest({ limit: 1, memo })))).toEqual(["2.0.0"]);
    }
  });

  test("notices that a watched tag moved", async () => {
    addImage(content, "latest", built);
    const first = await open().listReleases(listRequest());
    const moved = addImage(content, "latest", { ...built, config: { Labels: { a: "b" } } });
    const request = listRequest({ known: knownOf(first), memo: first.memo, watch: ["latest"] });
    const [release] = (await open().listReleases(request)).releases;
    expect(release).toMatchObject({ tag: "latest", revision: moved, published_at: builtAt });
    expect(first.releases[0]?.revision).not.toBe(moved);
  });
});

describe("build times", () => {
  test.each([
    ["auto", 4],
    ["build_time", 4],
    ["first_observed", 2],
  ])("in mode %p a new tag costs %p requests with the list and its index", async (mode, requests) => {
    const amd64 = addImage(content, null, built);
    const platform = { os: "linux", architecture: "amd64" };
    const revision = addIndex(content, "1.0.0", [{ digest: amd64, platform }]);
    const { releases } = await open(mode).listReleases(listRequest());
    expect(releases).toMatchObject([{ revision, published_at: mode === "first_observed" ? null : builtAt }]);
    expect(taken()).toHaveLength(mode === "first_observed" ? 2 : requests);
  });

  test("are read on Docker Hub only where that is asked for, because it costs pulls", async () => {
    addImage(content, "1.27.0", built);
    const lines: string[] = [];
    const hub = {
      ...testContext(),
      async fetch(url: URL, init: RequestInit = {}) {
        lines.push(`${init.method} ${url.origin}`);
        return serve(content, "library/nginx", new Request(url, init), url);
      },
    };
    const read = async (published_at_mode: string) => {
      const listing = await ociSource()
        .open({ image: "nginx", published_at_mode }, null, hub)
        .listReleases(listRequest());
      return listing.releases[0];
    };
    const url = "https://hub.docker.com/_/nginx/tags?name=1.27.0";
    expect(await read("auto")).toMatchObject({ tag: "1.27.0", published_at: null, url });
    expect(lines).toEqual(["GET https://registry-1.docker.io", "HEAD https://registry-1.docker.io"]);
    expect(await read("build_time")).toMatchObject({ published_at: builtAt });
  });

  test("are those of linux/amd64, never of an attestation", async () => {
    const images = [
      ["unknown", "unknown", "2024-01-01T00:00:00Z"],
      ["linux", "arm64", "2024-02-01T00:00:00Z"],
      ["linux", "amd64", "2025-01-01T00:00:00Z"],
    ].map(([os = "", architecture = "", created]) => {
      const platform = { os, architecture };
      return { digest: addImage(content, null, { created }, platform), platform };
    });
    const marked = { "vnd.docker.reference.type": "attestation-manifest" };
    const disguised = addImage(content, null, { created: "2024-03-01T00:00:00Z" });
    const platform = { os: "linux", architecture: "amd64" };
    addIndex(content, "1.0.0", [{ digest: disguised, platform, annotations: marked }, ...images]);
    const { releases } = await open().listReleases(listRequest());
    expect(releases[0]?.published_at).toBe(builtAt);
  });

  test("are those of the first image where there is no linux/amd64", async () => {
    const attestation = { digest: addImage(content, null, {}), platform: { os: "unknown", architecture: "unknown" } };
    const platform = { os: "linux", architecture: "s390x" };
    const digest = addImage(content, null, built, platform);
    addIndex(content, "1.0.0", [attestation, { digest, platform }]);
    expect((await open().listReleases(listRequest())).releases[0]?.published_at).toBe(builtAt);
  });

  test.each([
    ["0001-01-01T00:00:00Z"],
    ["1970-01-01T00:00:00Z"],
    ["1999-12-31T23:59:59Z"],
    ["yesterday"],
    [null],
    [undefined],
    [7],
  ])("of %p are none, and the tag stays", async (created) => {
    const revision = addImage(content, "1.0.0", { created });
    expect((await open().listReleases(listRequest())).releases).toMatchObject([{ revision, published_at: null }]);
  });

  test("are none for an index of attestations alone, and for what has no config", async () => {
    const platform = { os: "unknown", architecture: "unknown" };
    const revision = addIndex(content, "1.0.0", [{ digest: addImage(content, null, built), platform }]);
    content.tags.set("2.0.0", { type: "application/json", body: '{"schemaVersion":1,"fsLayers":[]}' });
    expect((await open().listReleases(listRequest())).releases).toMatchObject([
      { tag: "2.0.0", published_at: null, revision: expect.stringMatching(/^sha256:/) },
      { tag: "1.0.0", published_at: null, revision },
    ]);
  });
});

describe("a lookup that fails", () => {
  const failures: readonly [string, () => Response][] = [
    ["404", () => new Response(null, { status: 404 })],
    ["403", () => new Response(null, { status: 403 })],
    ["429", () => new Response(null, { status: 429 })],
    ["503", () => new Response(null, { status: 503 })],
    ["a web page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["half a manifest", () => new Response('{"manifests":[')],
    ["another form", () => json({ manifests: [{ digest: "../../etc/passwd" }] })],
  ];

  test.each(failures)("with %s keeps a new tag, once", async (_, answer) => {
    addImage(content, "1.0.0", built);
    addImage(content, "1.1.0", built);
    refuse = (line) => (line.includes("/manifests/1.1.0") ? answer() : null);
    const { releases } = await open().listReleases(listRequest());
    expect(releases.map((release) => release.tag)).toEqual(["1.1.0", "1.0.0"]);
    expect(releases[0]?.published_at).toBeNull();
  });

  test("keeps what was known of a watched tag", async () => {
    const revision = addImage(content, "1.0.0", built);
    const first = await open().listReleases(listRequest());
    refuse = (line) => (line.startsWith("HEAD") ? new Response(null, { status: 404 }) : null);
    const request = listRequest({ known: knownOf(first), memo: first.memo, watch: ["1.0.0"] });
    expect((await open().listReleases(request)).releases).toMatchObject([{ revision, published_at: builtAt }]);
  });

  test("of a date alone keeps the digest", async () => {
    const revision = addImage(content, "1.0.0", built);
    refuse = (line) => (line.includes("/blobs/") ? new Response(null, { status: 404 }) : null);
    expect((await open().listReleases(listRequest())).releases).toMatchObject([{ revision, published_at: null }]);
  });

  test("for the rate's sake ends the lookups of this check", async () => {
    for (let minor = 0; minor < 50; minor += 1) addImage(content, `1.${minor}.0`, built);
    refuse = (line) => (line.includes("/manifests/") ? json({}, { status: 429 }) : null);
    const { releases } = await open().listReleases(listRequest({ limit: 50 }));
    expect(releases).toHaveLength(50);
    expect(registry.take().length).toBeLessThanOrEqual(1 + 4);
  });

  test("is made good later, one tag in each check, in turn", async () => {
    const digests = ["1.0.0", "1.1.0", "1.2.0"].map((tag) => addImage(content, tag, built));
    refuse = (line) => (line.includes("/manifests/") ? new Response(null, { status: 404 }) : null);
    let listing = await open("first_observed").listReleases(listRequest());
    let known = knownOf(listing);
    expect([...known.values()].map((release) => release.revision)).toEqual([null, null, null]);
    refuse = (line) => (line.includes("/manifests/1.0.0") ? new Response(null, { status: 404 }) : null);
    const asked: string[][] = [];
    for (let check = 0; check < 3; check += 1) {
      registry.take();
      listing = await open().listReleases(listRequest({ known, memo: listing.memo }));
      known = knownOf(listing);
      asked.push(taken().filter((line) => line.startsWith("HEAD")));
    }
    expect(asked).toEqual([["HEAD manifests/1.0.0"], ["HEAD manifests/1.1.0"], ["HEAD manifests/1.2.0"]]);
    expect(["1.0.0", "1.1.0", "1.2.0"].map((tag) => known.get(tag)?.revision)).toEqual([null, digests[1], digests[2]]);
    expect(["1.0.0", "1.1.0", "1.2.0"].map((tag) => known.get(tag)?.published_at)).toEqual([null, builtAt, builtAt]);
  });

  test("is not made good for a tag that is gone", async () => {
    addImage(content, "1.0.0", built);
    const first = await open().listReleases(listRequest());
    const known = knownOf(first).set("0.9.0", { revision: null, published_at: null });
    registry.take();
    await open().listReleases(listRequest({ known, memo: first.memo }));
    expect(taken()).toEqual([tagList]);
  });

  test("because the check was ended ends it", async () => {
    addImage(content, "1.0.0", built);
    const controller = new AbortController();
    const context = { ...testContext(), signal: controller.signal };
    refuse = (line) => {
      if (!line.includes("/manifests/")) return null;
      controller.abort();
      return new Response(null, { status: 404 });
    };
    await expect(open("auto", context).listReleases(listRequest())).rejects.toMatchObject({ name: "PluginError" });
  });
});
