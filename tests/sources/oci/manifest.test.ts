import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ociSource } from "../../../src/sources/oci/oci.ts";
import { choosePlatform } from "../../../src/sources/oci/platform.ts";
import type { ImageConfig, OpenSource } from "../../../src/sources/source.ts";
import { parsePlatform } from "../../../src/versions/platform.ts";
import {
  addImage,
  addIndex,
  type Content,
  emptyContent,
  listRequest,
  type StandIn,
  serve,
  sha256,
  standIn,
  testContext,
} from "./stand-in-registry.ts";

let registry: StandIn;
let content: Content;
let change: (response: Response, request: Request) => Response;

beforeAll(() => {
  registry = standIn((request, url) => change(serve(content, "acme/app", request, url), request));
});
afterAll(() => registry.stop());
beforeEach(() => {
  content = emptyContent();
  change = (response) => response;
  registry.take();
});

function open(): OpenSource {
  const config = { image: "acme/app", registry: registry.url, published_at_mode: "first_observed" };
  return ociSource().open(config, null, testContext());
}

async function readImageConfig(reference: string, platform = "linux/amd64"): Promise<ImageConfig | null> {
  return (await open().readImageConfig?.(reference, platform)) ?? null;
}

describe("a digest", () => {
  async function revision(): Promise<string | null | undefined> {
    return (await open().listReleases(listRequest())).releases[0]?.revision;
  }

  test("is what the registry says of a HEAD", async () => {
    const digest = addImage(content, "1.0.0", {});
    expect(await revision()).toBe(digest);
    expect(registry.take().at(-1)).toBe("HEAD /v2/acme/app/manifests/1.0.0");
  });

  test.each([
    ["does not say it", (response: Response) => response.headers.delete("docker-content-digest")],
    ["says nonsense", (response: Response) => response.headers.set("docker-content-digest", "sha256:../../x")],
  ])("is computed from the body where the registry %s", async (_, edit) => {
    const digest = addImage(content, "1.0.0", {});
    change = (response) => {
      edit(response);
      return response;
    };
    expect(await revision()).toBe(digest);
    expect(registry.take()).toHaveLength(3);
  });

  test("is asked by GET where HEAD is not allowed", async () => {
    const digest = addImage(content, "1.0.0", {});
    change = (response, request) => (request.method === "HEAD" ? new Response(null, { status: 405 }) : response);
    expect(await revision()).toBe(digest);
  });
});

describe("readImageConfig()", () => {
  test("returns the config with the digest of what the tag names", async () => {
    const defaults = { Env: ["A=b"], Labels: { x: "y" }, ExposedPorts: { "80/tcp": {} }, ArgsEscaped: true };
    const digest = addImage(content, "1.0.0", { created: "2025-01-01T00:00:00Z", config: defaults });
    const expected = { digest, created_at: Date.UTC(2025, 0, 1), config: defaults, size: null };
    expect(await readImageConfig("1.0.0")).toEqual(expected);
    expect(await readImageConfig(digest)).toEqual(expected);
  });

  test.each([
    ["the layers and the config", { config: 10, layers: [200, 3_000] }, 3_210],
    ["an image without layers", { config: 10, layers: [] }, 10],
    ["a missing size", { layers: [200] }, null],
    ["a size that is no number", { config: 10, layers: ["200"] }, null],
    ["a negative size", { config: 10, layers: [-1] }, null],
    ["a fraction", { config: 10, layers: [0.5] }, null],
    ["sizes whose sum is no count", { config: 10, layers: [Number.MAX_SAFE_INTEGER, 1] }, null],
  ] as const)("adds up %s", async (_, sizes, bytes) => {
    addImage(content, "1.0.0", {}, undefined, sizes);
    expect((await readImageConfig("1.0.0"))?.size ?? null).toEqual(
      bytes === null ? null : { bytes, platform: "linux/amd64" },
    );
  });

  test("names the platform of a size as the index says it, without a variant that tells nothing apart", async () => {
    const entry = (architecture: string, variant: string, layer: number) => {
      const platform = { os: "linux", architecture, variant };
      return { digest: addImage(content, null, {}, platform, { config: 1, layers: [layer] }), platform };
    };
    addIndex(content, "1.0.0", [entry("arm", "v7", 70), entry("arm64", "v8", 80)]);
    expect((await readImageConfig("1.0.0", "linux/arm64"))?.size).toEqual({ bytes: 81, platform: "linux/arm64" });
    expect((await readImageConfig("1.0.0", "linux/arm/v7"))?.size).toEqual({ bytes: 71, platform: "linux/arm/v7" });
  });

  test("chooses the platform in an index", async () => {
    const entry = (architecture: string, variant?: string) => {
      const platform = { os: "linux", architecture, ...(variant === undefined ? {} : { variant }) };
      const config = { config: { Labels: { for: `${architecture}${variant ?? ""}` } } };
      return { digest: addImage(content, null, config, platform), platform };
    };
    const digest = addIndex(content, "1.0.0", [
      entry("arm", "v6"),
      entry("arm", "v7"),
      entry("arm64", "v8"),
      entry("amd64"),
    ]);
    const read = async (platform: string) => (await readImageConfig("1.0.0", platform))?.config.Labels ?? null;
    expect((await readImageConfig("1.0.0", "linux/arm64"))?.digest).toBe(digest);
    expect(await read("linux/arm64")).toEqual({ for: "arm64v8" });
    expect(await read("linux/aarch64")).toEqual({ for: "arm64v8" });
    expect(await read("linux/x86_64")).toEqual({ for: "amd64" });
    expect(await read("linux/arm/v6")).toEqual({ for: "armv6" });
    expect(await read("linux/armv7l")).toEqual({ for: "armv7" });
    expect(await read("linux/arm/v5")).toBeNull();
    expect(await read("linux/s390x")).toBeNull();
    expect(await read("windows/amd64")).toBeNull();
  });

  test("is null for a tag that is not there", async () => {
    expect(await readImageConfig("9.9.9")).toBeNull();
  });

  test.each(["../other", "a/b", "sha256:abc", "", "x y", `sha256:${"a".repeat(63)}/`])(
    "refuses the reference %p",
    async (reference) => {
      await expect(readImageConfig(reference)).rejects.toMatchObject({ code: "rejected" });
      expect(registry.take()).toEqual([]);
    },
  );

  test("refuses bytes that are not what the digest says", async () => {
    const digest = addImage(content, "1.0.0", { config: { User: "app" } });
    for (const [key] of content.blobs) content.blobs.set(key, '{"config":{"User":"root"}}');
    await expect(readImageConfig("1.0.0")).rejects.toThrow(`its digest is "`);
    content.manifests.set(digest, { type: "application/json", body: '{"config":{}}' });
    await expect(readImageConfig(digest)).rejects.toMatchObject({ code: "malformed" });
  });

  test("says that a config is missing rather than that there is none", async () => {
    addImage(content, "1.0.0", {});
    content.blobs.clear();
    await expect(readImageConfig("1.0.0")).rejects.toMatchObject({ code: "not_found" });
  });

  test("follows a blob to another origin without the credential", async () => {
    const digest = addImage(content, "1.0.0", { config: { User: "app" } });
    const [blob = ""] = content.blobs.values();
    const storage = standIn(() => new Response(blob));
    change = (response, request) => {
      if (request.headers.get("authorization") === null) {
        return new Response(null, { status: 401, headers: { "www-authenticate": "Basic" } });
      }
      return request.url.includes("/blobs/") ? Response.redirect(`${storage.url}/${sha256(blob)}`, 307) : response;
    };
    const secret = { username: "ci", password: "x" };
    const source = ociSource().open({ image: "acme/app", registry: registry.url }, secret, testContext());
    expect(await source.readImageConfig?.("1.0.0", "linux/amd64")).toMatchObject({ digest, config: { User: "app" } });
    expect(storage.seen.map((request) => request.authorization)).toEqual([null]);
    await storage.stop();
  });
});

describe("choosePlatform()", () => {
  const entries = ["linux/arm64/v8", "linux/amd64", "linux/amd64/v3", "windows/amd64"].map(parsePlatform);

  test.each<[string | null, string | null]>([
    [null, "linux/amd64/"],
    ["linux/amd64", "linux/amd64/"],
    ["linux/amd64/v2", "linux/amd64/"],
    ["linux/amd64/v3", "linux/amd64/v3"],
    ["linux/arm64", "linux/arm64/v8"],
    ["linux/armv8", "linux/arm64/v8"],
    ["windows/amd64", "windows/amd64/"],
    ["linux/i686", null],
    ["", null],
  ])("for %p is %p", (platform, expected) => {
    const found = choosePlatform(entries, platform);
    expect(found === null ? null : `${found.os}/${found.architecture}/${found.variant}`).toBe(expected);
  });
});
