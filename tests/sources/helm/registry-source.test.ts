import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { helmSource } from "../../../src/sources/helm/helm.ts";
import type { KnownRelease, Listing, ListRequest } from "../../../src/sources/source.ts";
import {
  addImage,
  type Content,
  emptyContent,
  listRequest,
  manifestType,
  type StandIn,
  serve,
  sha256,
  standIn,
  testContext,
} from "../oci/stand-in-registry.ts";

const name = "acme/charts/app";
const secret = { basic_auth: "ci:reg:pass" };

/** Adds a chart as `helm push` does; returns the digest of its manifest. */
function addChart(
  content: Content,
  tag: string,
  chart: Record<string, unknown>,
  created: string | null = null,
): string {
  const config = JSON.stringify({ name: "app", version: tag.replaceAll("_", "+"), apiVersion: "v2", ...chart });
  content.blobs.set(sha256(config), config);
  const body = JSON.stringify({
    schemaVersion: 2,
    config: { mediaType: "application/vnd.cncf.helm.config.v1+json", digest: sha256(config), size: config.length },
    layers: [],
    ...(created === null ? {} : { annotations: { "org.opencontainers.image.created": created } }),
  });
  content.manifests.set(sha256(body), { type: manifestType, body });
  content.tags.set(tag, { type: manifestType, body });
  return sha256(body);
}

function knownOf(listing: Listing): Map<string, KnownRelease> {
  return new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

describe("helm, a chart in a registry", () => {
  let content: Content;
  let server: StandIn;
  let broken: RegExp | null;
  let status: number;
  const helm = helmSource();

  beforeEach(() => {
    content = emptyContent();
    broken = null;
    status = 418;
    server = standIn((request, url) => {
      if (request.headers.get("authorization") !== `Basic ${btoa("ci:reg:pass")}`) {
        return new Response("{}", { status: 401, headers: { "www-authenticate": 'Basic realm="charts"' } });
      }
      if (broken?.test(url.pathname)) return Response.json({ errors: [{ code: "UNKNOWN" }] }, { status });
      return serve(content, name, request, url);
    });
  });
  afterEach(() => server.stop());

  function open(repositoryUrl = `oci+http://${server.host}/acme/charts`, basicAuth: unknown = secret) {
    return helm.open({ chart: "app", repository_url: repositoryUrl }, basicAuth, testContext());
  }
  async function list(request: Partial<ListRequest> = {}): Promise<Listing> {
    return await open().listReleases(listRequest(request));
  }

  test("shows the versions behind the tags, with what their charts say", async () => {
    const digest = addChart(
      content,
      "1.1.0_build.5",
      { appVersion: "1.10", home: "https://app.example/", deprecated: true },
      "2026-01-02T03:04:05Z",
    );
    addChart(content, "1.2.0-rc.1", {
      annotations: { "artifacthub.io/changes": "- kind: fixed\n  description: It works\n" },
    });
    addChart(content, "latest", {});
    addChart(content, "1.1", {});
    const { releases, total } = await list();
    expect(total).toBe(2);
    expect(releases).toEqual([
      expect.objectContaining({
        tag: "1.2.0-rc.1",
        stage: "prerelease",
        notes: "- **Fixed:** It works",
        app_version: null,
      }),
      {
        version: "1.1.0+build.5",
        tag: "1.1.0+build.5",
        stage: "release",
        published_at: Date.UTC(2026, 0, 2, 3, 4, 5),
        revision: digest,
        url: "https://app.example/",
        notes: null,
        app_version: "1.10",
        is_deprecated: true,
      },
    ]);
  });

  test("costs a list and a HEAD of the current version when nothing changed, and gives the same answer", async () => {
    addChart(content, "1.0.0", { appVersion: "5" });
    addChart(content, "1.1.0_1", { appVersion: "6" });
    const first = await list();
    server.take();
    const second = await list({ memo: first.memo, known: knownOf(first), watch: ["1.1.0+1"] });
    expect(server.take()).toEqual([
      "GET /v2/acme/charts/app/tags/list?n=1000",
      "HEAD /v2/acme/charts/app/manifests/1.1.0_1",
    ]);
    expect(new Set(second.releases)).toEqual(new Set(first.releases));
    expect(second.memo).toBe(first.memo);
    const terms = { has_credential: true, has_fallback: true, channel_count: 1 };
    const config = { chart: "app", repository_url: "oci://charts.example/acme" };
    expect(helm.cost(config, terms).requests).toBe(2);
    expect(helm.cost(config, { ...terms, channel_count: 3 }).requests).toBe(4);
  });

  test("reads a watched version anew when it was replaced, and a new one with it", async () => {
    addChart(content, "1.0.0", { appVersion: "5" });
    const first = await list();
    const replaced = addChart(content, "1.0.0", { appVersion: "5.1" });
    addChart(content, "0.9.1", { appVersion: "4" });
    const second = await list({ limit: 1, memo: first.memo, known: knownOf(first), watch: ["1.0.0"] });
    expect(
      second.releases.map((each) => [each.tag, each.revision === replaced, each.app_version, each.appeared]),
    ).toEqual([
      ["1.0.0", true, "5.1", undefined],
      ["0.9.1", false, "4", true],
    ]);
  });

  test("leaves out tags that are no charts, and asks for them once", async () => {
    addChart(content, "1.0.0", {});
    addImage(content, "2.0.0", {});
    const first = await list();
    expect(first.releases.map((each) => each.tag)).toEqual(["1.0.0"]);
    expect(first.total).toBe(1);
    server.take();
    await list({ memo: first.memo, known: knownOf(first) });
    expect(server.take()).toEqual(["GET /v2/acme/charts/app/tags/list?n=1000"]);
  });

  test("keeps a version whose chart cannot be read, and asks again for one at a time", async () => {
    for (const tag of ["1.0.0", "1.1.0", "1.2.0"]) addChart(content, tag, { appVersion: `app ${tag}` });
    broken = /\/blobs\//;
    const first = await list();
    expect(first.releases.map(({ tag, revision, app_version }) => [tag, revision, app_version])).toEqual([
      ["1.2.0", null, null],
      ["1.1.0", null, null],
      ["1.0.0", null, null],
    ]);
    broken = null;
    status = 418;
    let before = first;
    const repaired: (string | null | undefined)[][] = [];
    for (let check = 0; check < 3; check++) {
      before = await list({ memo: before.memo, known: knownOf(before) });
      repaired.push(before.releases.map((each) => each.app_version));
    }
    expect(repaired).toEqual([
      [null, null, "app 1.0.0"],
      [null, "app 1.1.0", "app 1.0.0"],
      ["app 1.2.0", "app 1.1.0", "app 1.0.0"],
    ]);
  });

  test("says on a first check that the charts may not be read, and keeps their versions later", async () => {
    addChart(content, "1.0.0", {});
    const known = knownOf(await list());
    broken = /\/manifests\//;
    status = 403;
    await expect(list()).rejects.toMatchObject({ code: "unauthorized" });
    expect((await list({ known })).releases.map(({ tag }) => tag)).toEqual(["1.0.0"]);
  });

  test("takes the chart's name at the end of the address for itself", async () => {
    addChart(content, "1.0.0", {});
    const listing = await open(`oci+http://${server.host}/acme/charts/app/`).listReleases(listRequest());
    expect(listing.total).toBe(1);
  });

  test("lists the versions without reading a chart", async () => {
    for (const tag of ["1.0.0", "1.1.0_2", "latest"]) addChart(content, tag, {});
    expect(await open().listNames?.()).toEqual(["1.0.0", "1.1.0+2"]);
    expect(server.seen.filter((request) => !request.line.includes("/tags/list"))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    ["without a credential", null, "unauthorized", "no credential"],
    ["with a wrong password", { basic_auth: "ci:wrong" }, "unauthorized", "401"],
  ])("is refused %s", async (_, basicAuth, code, words) => {
    const work = open(undefined, basicAuth).listReleases(listRequest());
    await expect(work).rejects.toMatchObject({ name: "PluginError", code, message: expect.stringContaining(words) });
  });

  test("says that a repository has no versions, and that it is not there", async () => {
    addImage(content, "latest", {});
    await expect(list()).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining('the first is "latest"'),
    });
    const other = helm.open({ chart: "none", repository_url: `oci+http://${server.host}/acme` }, secret, testContext());
    await expect(other.listReleases(listRequest())).rejects.toMatchObject({ code: "not_found" });
  });

  test("refuses a config that is another than the one that was named", async () => {
    addChart(content, "1.0.0", {});
    for (const digest of content.blobs.keys()) content.blobs.set(digest, '{"appVersion":"evil"}');
    expect((await list()).releases[0]).toMatchObject({ app_version: null, revision: null });
  });
});
