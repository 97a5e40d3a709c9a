import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/clock.ts";
import { plain } from "../../src/messages/message.ts";
import type { PluginContext } from "../../src/plugin.ts";
import { accessCache } from "../../src/sources/oci/access-cache.ts";
import { manifestTypes } from "../../src/sources/oci/manifest.ts";
import { ociSource } from "../../src/sources/oci/oci.ts";
import { registrySession } from "../../src/sources/oci/registry-session.ts";
import { parseRepository } from "../../src/sources/oci/repository.ts";
import type { KnownRelease, Listing, OpenSource } from "../../src/sources/source.ts";
import {
  account,
  closedRepository,
  layTags,
  type Registry,
  registryMissing,
  startRegistry,
} from "../peers/registry.ts";
import { listRequest, testContext } from "../sources/oci/stand-in-registry.ts";
import { meaningOf } from "../support/meaning.ts";
import { pushImage, type RegistryAuth } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";

/** Requests of one context as `HEAD 200 /v2/…`, in order. */
function recording(): { context: PluginContext; take(): string[] } {
  const lines: string[] = [];
  const inner = testContext();
  const context: PluginContext = {
    ...inner,
    async fetch(url, init) {
      const response = await inner.fetch(url, init);
      lines.push(`${init?.method ?? "GET"} ${response.status} ${url.pathname}`);
      return response;
    },
  };
  return { context, take: () => lines.splice(0) };
}

function knownOf(listing: Listing): Map<string, KnownRelease> {
  return new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

function configOf(registry: Registry, image: string) {
  return { image, registry: registry.url };
}

describe.each(["none", "basic", "token"] as const)("a real registry", (auth) => {
  peerSuite(`with sign-in "${auth}"`, registryMissing(), () => {
    let registry: Registry;
    let index: string;
    let single: string;
    const oci = ociSource();

    beforeAll(async () => {
      registry = await startRegistry({ auth });
      const push = (tag: string, options = {}) => pushImage(registry.url, registry.auth, "acme/app", tag, options);
      single = await push("1.0.0", { created: "2025-01-01T00:00:00Z" });
      await push("1.1.0", { form: "docker", created: "0001-01-01T00:00:00Z" });
      index = await push("1.2.0", {
        platforms: ["linux/arm64", "linux/amd64", "linux/arm/v7"],
        created: "2025-03-01T00:00:00Z",
        labels: { colour: "blue" },
      });
    });
    afterAll(() => registry.stop());

    function open(context = testContext()): OpenSource {
      return oci.open(configOf(registry, "acme/app"), registry.auth, context);
    }

    /** What would be downloaded for a platform, blob by blob, as the registry serves it. */
    async function weigh(tag: string, platform: string): Promise<number> {
      const read = async (path: string) => {
        const answer = await registrySession(
          parseRepository("acme/app", registry.url),
          registry.auth,
          testContext(),
          accessCache(),
        ).send({
          method: "GET",
          url: new URL(`${registry.url}/v2/acme/app/${path}`),
          accept: path.startsWith("blobs") ? "*/*" : manifestTypes,
          action: plain(`read ${path}`),
        });
        return Buffer.from(await answer.arrayBuffer());
      };
      const manifest = async (reference: string) => JSON.parse(String(await read(`manifests/${reference}`)));
      const top = await manifest(tag);
      const entry = top.manifests?.find(
        (each: { platform: { os: string; architecture: string } }) =>
          `${each.platform.os}/${each.platform.architecture}` === platform,
      );
      const { config, layers } = entry === undefined ? top : await manifest(entry.digest);
      const blobs = await Promise.all([config, ...layers].map(({ digest }) => read(`blobs/${digest}`)));
      return blobs.reduce((sum, blob) => sum + blob.byteLength, 0);
    }

    test("shows every tag with digest and build time", async () => {
      const { releases, total } = await open().listReleases(listRequest());
      const facts = releases.map(({ tag, revision, published_at }) => ({ tag, revision, published_at }));
      expect(total).toBe(3);
      expect(facts).toEqual([
        { tag: "1.2.0", revision: index, published_at: Date.UTC(2025, 2, 1) },
        { tag: "1.1.0", revision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), published_at: null },
        { tag: "1.0.0", revision: single, published_at: Date.UTC(2025, 0, 1) },
      ]);
    });

    test("knows the size of one platform's image from the manifests that it reads anyway", async () => {
      const { context, take } = recording();
      const first = await open(context).listReleases(listRequest());
      const requests = take().length;
      for (const platform of [null, "linux/arm64/v8"] as const) {
        const { releases } = await open(context).listReleases(listRequest({ platform }));
        expect(take()).toHaveLength(requests);
        for (const { tag, size } of releases) {
          // Only one tag has several platforms; the others keep the one that they have.
          const wanted = tag === "1.2.0" && platform !== null ? "linux/arm64" : "linux/amd64";
          expect([tag, size]).toEqual([tag, { bytes: await weigh(tag, wanted), platform: wanted }]);
        }
      }
      const [known] = (await open().listReleases(listRequest({ known: knownOf(first), memo: first.memo }))).releases;
      expect(known?.size).toBeUndefined();
    });

    test("costs exactly two requests when nothing changed, in a session of its own", async () => {
      const first = await open().listReleases(listRequest());
      const { context, take } = recording();
      const request = listRequest({ known: knownOf(first), memo: first.memo, watch: ["1.2.0"] });
      const tokensBefore = registry.tokenRequests.length;
      await open(context).listReleases(request);
      expect(take()).toEqual(["GET 200 /v2/acme/app/tags/list", "HEAD 200 /v2/acme/app/manifests/1.2.0"]);
      expect(registry.tokenRequests.length).toBe(tokensBefore);
    });

    test("sees a back-port below the depth, and a watched tag that moved", async () => {
      const first = await open().listReleases(listRequest({ limit: 1 }));
      const moved = await pushImage(registry.url, registry.auth, "acme/back", "2.0.0");
      const source = oci.open(configOf(registry, "acme/back"), registry.auth, testContext());
      const before = await source.listReleases(listRequest({ limit: 1 }));
      expect(first.releases.map((release) => release.tag)).toEqual(["1.2.0"]);
      expect(before.releases[0]?.revision).toBe(moved);
      const patch = await pushImage(registry.url, registry.auth, "acme/back", "1.9.9");
      const again = await pushImage(registry.url, registry.auth, "acme/back", "2.0.0", { labels: { build: "2" } });
      const request = listRequest({ limit: 1, known: knownOf(before), memo: before.memo, watch: ["2.0.0"] });
      const after = await source.listReleases(request);
      expect(new Map(after.releases.map((release) => [release.tag, release.revision]))).toEqual(
        new Map([
          ["2.0.0", again],
          ["1.9.9", patch],
        ]),
      );
    });

    test("reads the image defaults for a platform, and null where there is none", async () => {
      const image = await open().readImageConfig?.("1.2.0", "linux/arm64");
      expect(image?.digest).toBe(index);
      expect(image?.config.Labels).toEqual({ colour: "blue", "org.opencontainers.image.version": "1.2.0" });
      expect(image?.config.Env).toContain("APP_VERSION=1.2.0");
      expect(await open().readImageConfig?.("1.2.0", "windows/amd64")).toBeNull();
      expect(await open().readImageConfig?.("9.9.9", "linux/amd64")).toBeNull();
    });

    test("says that a repository is not there", async () => {
      const source = oci.open(configOf(registry, "acme/none"), registry.auth, testContext());
      const error: unknown = await source.listReleases(listRequest()).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "PluginError", code: "not_found" });
      expect(String(error)).toContain("repository name not known to registry");
    });

    if (auth !== "none")
      test("refuses nobody and a wrong password, and says what each may mean", async () => {
        const meaning = async (secret: RegistryAuth | null) => {
          const source = oci.open(configOf(registry, "acme/app"), secret, testContext());
          return await meaningOf(source.listReleases(listRequest()));
        };
        const anonymous = auth === "token" ? "sources.private_or_missing" : "sources.sign_in_wanted";
        expect(await meaning(null)).toEqual(["unauthorized", anonymous]);
        const wrong = { ...account, password: "wrong" };
        expect(await meaning(wrong)).toEqual(["unauthorized", "sources.credential_rejected"]);
      });
    if (auth === "token")
      test("cannot tell a repository that the credential may not pull from one that does not exist", async () => {
        const source = oci.open(configOf(registry, closedRepository), registry.auth, testContext());
        expect(await meaningOf(source.listReleases(listRequest()))).toEqual([
          "unauthorized",
          "sources.registry_unreadable",
        ]);
      });
  });
});

peerSuite("a real registry with 10,000 tags", registryMissing(), () => {
  let registry: Registry;
  const tags = Array.from({ length: 10_000 }, (_, build) => `1.${Math.floor(build / 100)}.${build % 100}`);

  beforeAll(async () => {
    registry = await startRegistry({ auth: "token" });
    await pushImage(registry.url, registry.auth, "acme/many", "0.0.1");
    layTags(registry, "acme/many", "0.0.1", tags);
  }, 60_000);
  afterAll(() => registry.stop());

  test("lists them all, takes the ten highest, and then costs two requests", async () => {
    const oci = ociSource();
    const { context, take } = recording();
    const source = oci.open(
      { ...configOf(registry, "acme/many"), published_at_mode: "first_observed" },
      account,
      context,
    );
    const first = await source.listReleases(listRequest());
    expect(first.total).toBe(10_001);
    expect(first.releases.map((release) => release.tag)).toEqual(tags.slice(-10).toReversed());
    expect(take().filter((line) => line.startsWith("HEAD"))).toHaveLength(10);
    await source.listReleases(listRequest({ known: knownOf(first), memo: first.memo, watch: ["1.99.99"] }));
    expect(take()).toEqual(["GET 200 /v2/acme/many/tags/list", "HEAD 200 /v2/acme/many/manifests/1.99.99"]);
  });
});

peerSuite("a real registry with tokens of two seconds", registryMissing(), () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry({ auth: "token", token_lifetime: 2 });
    await pushImage(registry.url, registry.auth, "public/app", "1.0.0");
  });
  afterAll(() => registry.stop());

  test("renews an expired token without a refusal in between, also for nobody", async () => {
    let now = systemClock.elapsed();
    const oci = ociSource();
    const { context, take } = recording();
    const source = oci.open(configOf(registry, "public/app"), null, {
      ...context,
      clock: { ...context.clock, elapsed: () => now },
    });
    await source.listNames?.();
    expect(take()).toEqual(["GET 401 /v2/public/app/tags/list", "GET 200 /token", "GET 200 /v2/public/app/tags/list"]);
    now += 10_000;
    await source.listNames?.();
    expect(take()).toEqual(["GET 200 /token", "GET 200 /v2/public/app/tags/list"]);
    expect(registry.tokenRequests.slice(-2).map((request) => request.authorization)).toEqual([null, null]);
  });
});
