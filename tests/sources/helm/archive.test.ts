import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { helmSource } from "../../../src/sources/helm/helm.ts";
import { manifestType, type StandIn, standIn } from "../oci/stand-in-registry.ts";
import { realContext } from "./real-context.ts";

const archive = Buffer.from(gzipSync("a chart"));
const basicAuth = "ci:pass";
const login = `Basic ${btoa(basicAuth)}`;
const layerType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const digestOf = (content: string | Uint8Array) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const archiveDigest = digestOf(archive);
const otherDigest = digestOf("another chart");

type Answer = (request: Request, url: URL) => Response;

let server: StandIn;
let other: StandIn;
let answer: Answer;
let otherAnswer: Answer;
const gone: Answer = () => new Response("gone", { status: 404 });
beforeEach(() => {
  answer = gone;
  otherAnswer = gone;
  server = standIn((request, url) => answer(request, url));
  other = standIn((request, url) => otherAnswer(request, url));
});
afterEach(async () => {
  await server.stop();
  await other.stop();
});

async function readFrom(repository_url: string, version: string, digest: string | null): Promise<Buffer> {
  const { context } = realContext();
  const source = helmSource().open({ chart: "app", repository_url }, { basic_auth: basicAuth }, context);
  if (source.readChart === undefined) throw new Error("A chart can be read");
  return Buffer.from(await source.readChart(version, digest));
}

/** As `helm push` writes it for a chart with a provenance file. */
function manifestOf(content: Uint8Array): string {
  const layers = [
    { mediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov", digest: otherDigest },
    { mediaType: layerType, digest: digestOf(content) },
  ];
  return JSON.stringify({ schemaVersion: 2, layers });
}

/** A registry with the charts given by tag; `moved`: where it redirects the requests for archives. */
function registry(name: string, charts: ReadonlyMap<string, Uint8Array<ArrayBuffer>>, moved?: () => string): Answer {
  const manifests = new Map<string, string>();
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [tag, content] of charts) {
    const body = manifestOf(content);
    manifests.set(tag, body).set(digestOf(body), body);
    blobs.set(digestOf(content), content);
  }
  return (_request, { pathname }) => {
    const [, kind = "", reference = ""] = new RegExp(`^/v2/${name}/(manifests|blobs)/([^/]+)$`).exec(pathname) ?? [];
    if (kind === "blobs" && moved !== undefined) return Response.redirect(moved(), 307);
    const found = kind === "manifests" ? manifests.get(reference) : blobs.get(reference);
    if (found === undefined) return Response.json({ errors: [{ code: "MANIFEST_UNKNOWN" }] }, { status: 404 });
    return new Response(found, { headers: { "content-type": manifestType } });
  };
}

describe("the archive of a chart in a repository with an index", () => {
  let entry: { version?: string; urls?: readonly string[]; digest?: string };
  /** Of requests for archives. */
  let archiveAnswer: Answer;

  beforeEach(() => {
    entry = {};
    archiveAnswer = () => new Response(archive);
    answer = (request, url) => {
      if (!url.pathname.endsWith("/index.yaml")) return archiveAnswer(request, url);
      const version = { version: "1.0.0", urls: ["app-1.0.0.tgz"], digest: archiveDigest, ...entry };
      return Response.json({ apiVersion: "v1", entries: { app: [version] } });
    };
  });
  const read = (version = "1.0.0", digest: string | null = archiveDigest, path = "/stable") =>
    readFrom(`${server.url}${path}`, version, digest);
  const authorizations = (peer: StandIn) => peer.seen.map(({ line, authorization }) => [line, authorization]);

  test.each([
    ["app-1.0.0.tgz", "/stable/app-1.0.0.tgz"],
    ["/charts/app.tgz?v=1", "/charts/app.tgz"],
  ])("is downloaded from %s, relative to the index, with the login", async (url, path) => {
    entry = { urls: [url] };
    expect(await read()).toEqual(archive);
    expect(authorizations(server)).toEqual([
      ["GET /stable/index.yaml", login],
      [`GET ${path}`, login],
    ]);
  });

  test("is asked for with the query of the repository, and with its own if its address is complete", async () => {
    expect(await read("1.0.0", null, "/stable?sig=a")).toEqual(archive);
    expect(server.take()).toEqual(["GET /stable/index.yaml?sig=a", "GET /stable/app-1.0.0.tgz?sig=a"]);
    entry = { urls: [`${server.url}/app.tgz?own=b`] };
    expect(await read("1.0.0", null, "/stable?sig=a")).toEqual(archive);
    expect(server.take().at(-1)).toBe("GET /app.tgz?own=b");
    otherAnswer = () => new Response(archive);
    entry = { urls: [`//${other.host}/app.tgz`] };
    expect(await read("1.0.0", null, "/stable?sig=a")).toEqual(archive);
    expect(other.take()).toEqual(["GET /app.tgz"]);
  });

  test("is downloaded from another host without the login", async () => {
    otherAnswer = () => new Response(archive);
    entry = { urls: [`${other.url}/app.tgz`] };
    expect(await read()).toEqual(archive);
    expect(authorizations(other)).toEqual([["GET /app.tgz", null]]);
  });

  test("follows a redirect to another host without the login", async () => {
    otherAnswer = () => new Response(archive);
    archiveAnswer = () => Response.redirect(`${other.url}/blob?signature=s`, 302);
    expect(await read()).toEqual(archive);
    expect(authorizations(server).at(-1)).toEqual(["GET /stable/app-1.0.0.tgz", login]);
    expect(authorizations(other)).toEqual([["GET /blob?signature=s", null]]);
  });

  test("explains a refusal of another host by the login that is not sent there", async () => {
    otherAnswer = () => new Response("", { status: 403 });
    entry = { urls: [`${other.url}/app.tgz`] };
    await expect(read()).rejects.toMatchObject({
      code: "unauthorized",
      message: `Could not download the chart "app-1.0.0": the response was 403; the credential is sent only to "${server.host}"`,
    });
  });

  test("keeps its bytes when the server calls its compression an encoding", async () => {
    archiveAnswer = () => new Response(archive, { headers: { "content-encoding": "gzip" } });
    expect(await read()).toEqual(archive);
  });

  test("comes from a registry if the index says so, without the login", async () => {
    otherAnswer = registry("acme/app", new Map([["1.0.0_a", archive]]));
    entry = { version: "1.0.0+a" };
    for (const reference of ["acme/app:1.0.0+a", "acme/app:1.0.0_a", "acme/app"]) {
      entry = { ...entry, urls: [`oci+http://${other.host}/${reference}`] };
      expect(await read("1.0.0+a")).toEqual(archive);
    }
    expect(other.seen.every(({ authorization }) => authorization === null)).toBe(true);
    entry = { ...entry, digest: otherDigest };
    await expect(read("1.0.0+a", otherDigest)).rejects.toMatchObject({ code: "malformed" });
  });

  test.each([
    ["has another digest than the index says", { digest: otherDigest }, otherDigest, archive, "malformed", "expected"],
    ["was published again", {}, otherDigest, archive, "malformed", "published again since the last check"],
    ["is no archive", { digest: "" }, null, Buffer.from("<html>"), "malformed", "not the archive of a chart"],
    ["is too large", { digest: "" }, null, Buffer.alloc(21 * 1024 * 1024), "malformed", "larger than 20 MiB"],
    ["is gone from the index", { version: "1.1.0" }, null, archive, "not_found", "no longer has this version"],
    ["has no address", { urls: [] }, null, archive, "not_found", "no usable address"],
    ["has only an unusable address", { urls: ["oci://"] }, null, archive, "not_found", "no usable address"],
  ] as const)("is refused if it %s", async (_what, changed, digest, body, code, words) => {
    entry = changed;
    archiveAnswer = () => new Response(body);
    await expect(read("1.0.0", digest)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });

  test("is not found if the server does not have it", async () => {
    archiveAnswer = gone;
    await expect(read()).rejects.toMatchObject({ name: "PluginError", code: "not_found" });
  });
});

describe("the archive of a chart in a registry", () => {
  const name = "acme/charts/app";
  const read = (version: string, digest: string | null) =>
    readFrom(`oci+http://${server.host}/acme/charts`, version, digest);
  const withLogin = (inner: Answer): Answer => {
    const challenge = { "www-authenticate": 'Basic realm="charts"' };
    return (request, url) =>
      request.headers.get("authorization") === login
        ? inner(request, url)
        : new Response("{}", { status: 401, headers: challenge });
  };

  test("is read by its manifest's digest, or by its tag without one", async () => {
    const charts = new Map([["1.0.0_a", archive]]);
    answer = withLogin(registry(name, charts));
    expect(await read("1.0.0+a", null)).toEqual(archive);
    expect(server.take()).toContain(`GET /v2/${name}/manifests/1.0.0_a`);
    expect(await read("1.0.0+a", digestOf(manifestOf(archive)))).toEqual(archive);
    expect(server.take()).not.toContain(`GET /v2/${name}/manifests/1.0.0_a`);
  });

  test("follows the redirect of a registry to its storage without the login", async () => {
    answer = withLogin(registry(name, new Map([["1.0.0", archive]]), () => `${other.url}/storage`));
    otherAnswer = () => new Response(archive);
    expect(await read("1.0.0", null)).toEqual(archive);
    expect(other.seen.map(({ authorization }) => authorization)).toEqual([null]);
    otherAnswer = () => new Response(gzipSync("another chart"));
    await expect(read("1.0.0", null)).rejects.toMatchObject({ code: "malformed" });
  });

  test("may be larger than other responses of a registry, within its own limit", async () => {
    const pad = (mebibytes: number) => Buffer.concat([archive, Buffer.alloc(mebibytes * 1024 * 1024)]);
    const [large, tooLarge] = [pad(18), pad(20)];
    answer = withLogin(
      registry(
        name,
        new Map([
          ["1.0.0", large],
          ["2.0.0", tooLarge],
        ]),
      ),
    );
    expect((await read("1.0.0", null)).equals(large)).toBe(true);
    await expect(read("2.0.0", null)).rejects.toMatchObject({
      code: "malformed",
      message: expect.stringContaining("larger than 20 MiB"),
    });
  });

  test("is refused if the registry has another manifest under its digest", async () => {
    const charts = registry(name, new Map([["1.0.0", archive]]));
    answer = (request, url) => charts(request, new URL(url.href.replace(otherDigest, "1.0.0")));
    await expect(read("1.0.0", otherDigest)).rejects.toMatchObject({
      code: "malformed",
      message: expect.stringContaining("was expected"),
    });
  });

  test("is not found if the tag is gone, or is not that of a chart", async () => {
    answer = registry(name, new Map());
    await expect(read("1.0.0", null)).rejects.toMatchObject({ code: "not_found" });
    answer = () => Response.json({ schemaVersion: 2, layers: [{ digest: otherDigest }] });
    await expect(read("1.0.0", null)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("no archive of a chart"),
    });
  });

  test("is not read without the login that the registry wants", async () => {
    answer = () => new Response("{}", { status: 401, headers: { "www-authenticate": 'Basic realm="charts"' } });
    await expect(read("1.0.0", null)).rejects.toMatchObject({ code: "unauthorized" });
  });
});
