import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readLabels } from "../../../src/sources/oci/image-labels.ts";
import { ociSource } from "../../../src/sources/oci/oci.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../../../src/sources/source.ts";
import {
  addImage,
  addIndex,
  type Content,
  emptyContent,
  listRequest,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "./stand-in-registry.ts";

let registry: StandIn;
let content: Content;

beforeAll(() => {
  registry = standIn((request, url) => serve(content, "acme/app", request, url));
});
afterAll(() => registry.stop());
beforeEach(() => {
  content = emptyContent();
  registry.take();
});

const title = (name: string) => `org.opencontainers.image.${name}`;
const said = (version: string, revision: string) => ({ [title("version")]: version, [title("revision")]: revision });
const image = (Labels: unknown) => ({ created: "2025-01-01T00:00:00Z", config: { Labels } });

async function list(given: Partial<ListRequest> = {}, mode = "auto"): Promise<Listing> {
  const config = { image: "acme/app", registry: registry.url, published_at_mode: mode };
  return await ociSource().open(config, null, testContext()).listReleases(listRequest(given));
}

function saidOf({ source_revision = null, labelled_version = null }: UpstreamRelease) {
  return { source_revision, labelled_version };
}

/** The request after a listing, with its first tag watched. */
function after(listing: Listing): Partial<ListRequest> {
  const known = new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
  return { known, memo: listing.memo, watch: listing.releases.map(({ tag }) => tag) };
}

describe("what an image says it was built from", () => {
  test("comes from its labels", async () => {
    addImage(content, "latest", image(said("1.2.3", "c0ffee1")));
    expect((await list()).releases.map(saidOf)).toEqual([{ labelled_version: "1.2.3", source_revision: "c0ffee1" }]);
  });

  test("comes from the image of the platform chosen", async () => {
    const arm = addImage(content, null, image(said("arm", "a")), { os: "linux", architecture: "arm64" });
    const amd = addImage(content, null, image(said("amd", "b")));
    addIndex(content, "latest", [
      { digest: arm, platform: { os: "linux", architecture: "arm64" } },
      { digest: amd, platform: { os: "linux", architecture: "amd64" } },
    ]);
    expect((await list()).releases.map(saidOf)).toEqual([{ labelled_version: "amd", source_revision: "b" }]);
  });

  test("comes from annotations before labels, which a base image may have left", async () => {
    const digest = addImage(content, null, image(said("24.04", "of-the-base")));
    const annotations = { [title("version")]: "1.2.3" };
    addIndex(content, "latest", [{ digest, platform: { os: "linux", architecture: "amd64" }, annotations }]);
    expect((await list()).releases.map(saidOf)).toEqual([
      { labelled_version: "1.2.3", source_revision: "of-the-base" },
    ]);
  });

  test("is read once, and anew for a new build of the tag", async () => {
    addImage(content, "latest", image(said("1.2.3", "c0ffee1")));
    const first = await list();
    registry.take();
    const second = await list(after(first));
    expect(registry.take()).toHaveLength(2);
    expect(second.releases.map(saidOf)).toEqual([{ labelled_version: null, source_revision: null }]);
    const digest = addImage(content, "latest", image(said("1.3.0", "c0ffee2")));
    const third = await list(after(second));
    expect(third.releases).toMatchObject([
      { revision: digest, labelled_version: "1.3.0", source_revision: "c0ffee2", published_at: Date.UTC(2025, 0, 1) },
    ]);
    registry.take();
    await list(after(third));
    expect(registry.take()).toHaveLength(2);
  });

  test("is not asked for where reading a config costs a pull", async () => {
    addImage(content, "latest", image(said("1.2.3", "c0ffee1")));
    const first = await list({}, "first_observed");
    addImage(content, "latest", image(said("1.3.0", "c0ffee2")));
    const second = await list(after(first), "first_observed");
    expect([first, second].flatMap(({ releases }) => releases).map(saidOf)).toEqual([
      { labelled_version: null, source_revision: null },
      { labelled_version: null, source_revision: null },
    ]);
    expect(registry.take().filter((line) => line.startsWith("GET") && !line.includes("tags/list"))).toEqual([]);
  });
});

test.each([
  [null],
  ["text"],
  [[title("version")]],
  [{ [title("version")]: 1.1 }],
  [{ [title("version")]: "  " }],
  [{ [title("version")]: "1.2.3\u0007" }],
  [{ [title("version")]: "1".repeat(257) }],
])("readLabels() takes nothing from %p", (labels) => {
  expect(readLabels(labels)).toEqual({ source_revision: null, labelled_version: null });
});
