import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { helmSource } from "../../src/sources/helm/helm.ts";
import type { KnownRelease, Listing, OpenSource } from "../../src/sources/source.ts";
import {
  createHelm,
  type Helm,
  helmMissing,
  type Repository,
  repositoryAccount,
  serveFolder,
  startChartmuseum,
} from "../peers/helm.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { listRequest, testContext } from "../sources/oci/stand-in-registry.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";

const secret = { basic_auth: `${repositoryAccount.username}:${repositoryAccount.password}` };
const source = helmSource();

/** Charts as their authors write them; each is packed by the real helm. */
const charts = [
  { name: "web", version: "1.0.0", appVersion: "1.9", description: "web:\n  - version: 9.9.9" },
  {
    name: "web",
    version: "1.1.0",
    appVersion: "1.10",
    home: "https://web.example/",
    annotations: {
      "artifacthub.io/changes":
        '- kind: added\n  description: "Reads: more"\n- kind: fixed\n  description: It\'s stable\n',
    },
  },
  { name: "web", version: "2.0.0-rc.1+build.7", appVersion: "2.0.0-rc.1" },
  { name: "web-legacy", version: "0.5.0", appVersion: "1.10", deprecated: true },
] as const;

function knownOf(listing: Listing): Map<string, KnownRelease> {
  return new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

function sha256(file: string): string {
  return `sha256:${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
}

function open(url: string, chart = "web", basicAuth: unknown = secret): OpenSource {
  return source.open({ chart, repository_url: url }, basicAuth, testContext());
}

peerSuite("charts of the real helm", helmMissing() ?? registryMissing(), () => {
  let helm: Helm;
  let archives: string[];
  let folder: string;

  beforeAll(async () => {
    helm = createHelm();
    folder = join(helm.directory, "repository");
    archives = [];
    for (const chart of charts) archives.push(await helm.pack(chart, folder));
    await helm.run("repo", "index", folder);
  }, 60_000);
  afterAll(() => helm[Symbol.dispose]());

  /** What every way of publishing has to show of the three versions. */
  function expectVersions(listing: Listing, digests: boolean): void {
    expect(listing.total).toBe(3);
    expect(
      listing.releases
        .map(({ tag, stage, app_version, is_deprecated }) => ({ tag, stage, app_version, is_deprecated }))
        .toSorted((a, b) => a.tag.localeCompare(b.tag)),
    ).toEqual([
      { tag: "1.0.0", stage: "release", app_version: "1.9", is_deprecated: false },
      { tag: "1.1.0", stage: "release", app_version: "1.10", is_deprecated: false },
      { tag: "2.0.0-rc.1+build.7", stage: "prerelease", app_version: "2.0.0-rc.1", is_deprecated: false },
    ]);
    const newer = listing.releases.find((release) => release.tag === "1.1.0");
    expect(newer?.notes).toBe("- **Added:** Reads: more\n- **Fixed:** It's stable");
    expect(newer?.url).toBe("https://web.example/");
    for (const release of listing.releases) {
      expect(release.published_at).toBeGreaterThan(Date.UTC(2024, 0, 1));
      const archive = archives[charts.findIndex((chart) => chart.name === "web" && chart.version === release.tag)];
      if (digests) expect(release.revision).toBe(sha256(archive ?? ""));
    }
  }

  /** The very bytes that helm packed, by the digest that the listing has. */
  const expectArchive = async (opened: OpenSource, listing: Listing, version: string) => {
    const digest = listing.releases.find(({ tag }) => tag === version)?.revision ?? null;
    expect(digest).toMatch(/^sha256:/);
    const at = charts.findIndex((chart) => chart.name === "web" && chart.version === version);
    const bytes = Buffer.from((await opened.readChart?.(version, digest)) ?? []);
    expect(bytes.equals(readFileSync(archives[at] ?? ""))).toBe(true);
  };

  test("a repository made by helm shows what is in its charts, for one conditional request", async () => {
    const repository: Repository = serveFolder(folder);
    try {
      const first = await open(repository.url).listReleases(listRequest());
      expectVersions(first, true);
      const request = listRequest({ memo: first.memo, known: knownOf(first), watch: ["2.0.0-rc.1+build.7"] });
      expect(await open(repository.url).listReleases(request)).toEqual(first);
      expect(repository.take()).toEqual(["200 /index.yaml", "304 /index.yaml"]);
      const [legacy] = (await open(repository.url, "web-legacy").listReleases(listRequest())).releases;
      expect(legacy).toMatchObject({ tag: "0.5.0", app_version: "1.10", is_deprecated: true });
      expect(legacy?.url).toBe(`${repository.url}/web-legacy-0.5.0.tgz`);
      await expectArchive(open(repository.url), first, "2.0.0-rc.1+build.7");
    } finally {
      await repository.stop();
    }
  });

  test("the same index as JSON, which helm reads too, gives the same answer", async () => {
    await helm.run("repo", "index", folder, "--json");
    const repository = serveFolder(folder);
    try {
      const text = readFileSync(join(folder, "index.yaml"), "utf8");
      expect(text.trimStart()[0]).toBe("{");
      expectVersions(await open(repository.url).listReleases(listRequest()), true);
    } finally {
      await repository.stop();
      await helm.run("repo", "index", folder);
    }
  });

  test("an index that helm merged and that names absolute addresses", async () => {
    const old = readFileSync(join(folder, "index.yaml"), "utf8");
    await helm.run(
      "repo",
      "index",
      folder,
      "--url",
      "https://cdn.example/charts",
      "--merge",
      join(folder, "index.yaml"),
    );
    const repository = serveFolder(folder);
    try {
      expectVersions(await open(repository.url).listReleases(listRequest()), true);
    } finally {
      await repository.stop();
      writeFileSync(join(folder, "index.yaml"), old);
    }
  });

  test("refuses nobody and a wrong password, and names what is there instead", async () => {
    const repository = serveFolder(folder);
    try {
      for (const wrong of [null, { basic_auth: "ci:wrong" }]) {
        const work = open(repository.url, "web", wrong).listReleases(listRequest());
        await expect(work).rejects.toMatchObject({ name: "PluginError", code: "unauthorized" });
      }
      await expect(open(repository.url, "wbe").listReleases(listRequest())).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringContaining('such as "web"'),
      });
    } finally {
      await repository.stop();
    }
  });

  test("a real chartmuseum behind Basic auth, where a chart is replaced and another comes", async () => {
    const museum = await startChartmuseum();
    try {
      for (const archive of archives) await museum.upload(archive);
      // It renews its index a moment after it has answered.
      const listed = (total: number, request = listRequest()) =>
        eventually(`an index with ${total} versions`, async () => {
          const listing = await open(museum.url).listReleases(request);
          return listing.total === total && listing;
        });
      const first = await listed(3);
      expectVersions(first, true);
      await expectArchive(open(museum.url), first, "1.1.0");
      const again = await open(museum.url).listReleases(listRequest({ memo: first.memo, known: knownOf(first) }));
      expect(again).toEqual(first);
      await museum.upload(
        await helm.pack({ name: "web", version: "1.0.1", appVersion: "1.9" }, join(helm.directory, "more")),
      );
      const later = listRequest({ memo: first.memo, known: knownOf(first), limit: 1 });
      const { releases } = await listed(4, later);
      expect(releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["1.0.1", true]]);
      await expect(open(museum.url, "web", null).listReleases(listRequest())).rejects.toMatchObject({
        code: "unauthorized",
      });
    } finally {
      await museum.stop();
    }
  }, 30_000);

  test("charts that helm pushed into a real registry, for two requests when nothing changed", async () => {
    const registry: Registry = await startRegistry({ auth: "basic" });
    try {
      const { username, password } = account;
      await helm.run("registry", "login", registry.host, "-u", username, "-p", password, "--plain-http");
      for (const archive of archives)
        await helm.run("push", archive, `oci://${registry.host}/acme/charts`, "--plain-http");
      const url = `oci+http://${registry.host}/acme/charts`;
      const lines: string[] = [];
      const inner = testContext();
      const context: typeof inner = {
        ...inner,
        async fetch(asked, init) {
          const response = await inner.fetch(asked, init);
          lines.push(`${init?.method ?? "GET"} ${response.status} ${asked.pathname}`);
          return response;
        },
      };
      const openRegistry = () =>
        source.open({ chart: "web", repository_url: url }, { basic_auth: `${username}:${password}` }, context);
      const first = await openRegistry().listReleases(listRequest());
      expectVersions(first, false);
      const newer = first.releases.find((release) => release.tag === "1.1.0");
      const shown = await helm.run(
        "show",
        "chart",
        `oci://${registry.host}/acme/charts/web`,
        "--version",
        "1.1.0",
        "--plain-http",
      );
      expect(shown).toContain("1.10");
      lines.splice(0);
      const request = listRequest({ memo: first.memo, known: knownOf(first), watch: ["2.0.0-rc.1+build.7"] });
      const second = await openRegistry().listReleases(request);
      expect(lines).toEqual([
        "GET 200 /v2/acme/charts/web/tags/list",
        "HEAD 200 /v2/acme/charts/web/manifests/2.0.0-rc.1_build.7",
      ]);
      expect(second.memo).toBe(first.memo);
      await expectArchive(openRegistry(), first, "2.0.0-rc.1+build.7");
      expect(newer?.revision).toMatch(/^sha256:[0-9a-f]{64}$/);
    } finally {
      await registry.stop();
    }
  }, 60_000);
});
