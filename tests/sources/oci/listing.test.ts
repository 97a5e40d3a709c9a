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

function open(mode = "auto"): OpenSource {
  const config = { image: "acme/app", registry: registry.url, published_at_mode: mode };
  return ociSource().open(config, null, testContext());
}

function knownOf(listing: Listing): Map<string, KnownRelease> {
  return new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

describe("listReleases()", () => {
  test("returns each tag with its digest and build time", async () => {
    const digest = addImage(content, "1.0.0", { created: "2026-01-02T03:04:05.678Z" });
    const listing = await open().listReleases(listRequest());
    expect(listing.releases).toEqual([
      {
        version: "1.0.0",
        tag: "1.0.0",
        stage: "tag",
        published_at: 1_767_323_045_678,
        revision: digest,
        url: null,
        notes: null,
      },
    ]);
    expect(listing.total).toBe(1);
  });

  test("costs two requests when nothing changed", async () => {
    for (const tag of ["1.0.0", "1.1.0", "1.2.0"]) addImage(content, tag, { created: "2025-01-01T00:00:00Z" });
    const source = open();
    const first = await source.listReleases(listRequest());
    registry.take();
    const second = await source.listReleases(
      listRequest({ known: knownOf(first), memo: first.memo, watch: ["1.2.0"] }),
    );
    expect(registry.take()).toEqual(["GET /v2/acme/app/tags/list?n=1000", "HEAD /v2/acme/app/manifests/1.2.0"]);
    expect(second).toEqual({ ...first, releases: expect.arrayContaining([...first.releases]) });
  });
});
