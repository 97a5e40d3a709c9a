import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { PluginError } from "../../../src/errors.ts";
import { helm } from "../../../src/sources/helm/helm.ts";
import type { KnownRelease, Listing, ListRequest } from "../../../src/sources/source.ts";
import { meaningOf } from "../../support/meaning.ts";
import { listRequest, type StandIn, standIn } from "../oci/stand-in-registry.ts";
import { realContext } from "./real-context.ts";

interface Version {
  version: string;
  appVersion?: string;
  digest?: string;
  created?: string;
  deprecated?: boolean;
}

const digestOf = (letter: string) => letter.repeat(64);

function indexOf(charts: Readonly<Record<string, readonly Version[]>>): string {
  const lines = ["apiVersion: v1", "entries:"];
  for (const [name, versions] of Object.entries(charts)) {
    lines.push(`  ${name}:`);
    for (const { version, ...rest } of versions) {
      lines.push(`  - name: ${name}`, `    version: ${version}`, `    urls: [${name}-${version}.tgz]`);
      for (const [key, value] of Object.entries(rest)) lines.push(`    ${key}: ${value}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function knownOf(listing: Listing): Map<string, KnownRelease> {
  return new Map(listing.releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
}

describe("helm, a repository with an index", () => {
  let server: StandIn;
  /** What each request carried beside the recorded headers. */
  let conditions: (string | null)[][];
  let answer: (request: Request, url: URL) => Response;

  beforeEach(() => {
    conditions = [];
    answer = () => new Response(null, { status: 404 });
    server = standIn((request, url) => {
      conditions.push([request.headers.get("if-none-match"), request.headers.get("if-modified-since")]);
      return answer(request, url);
    });
  });
  afterEach(() => server.stop());

  /** Serves an index that honours its ETag. */
  function serve(text: string, etag: string | null = `"${text.length}-${Bun.hash(text)}"`) {
    answer = (request) => {
      if (etag !== null && request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
      return new Response(text, { headers: etag === null ? {} : { etag } });
    };
  }
  function open(chart = "app", secret: unknown = null, path = "/stable/") {
    const { context } = realContext();
    return helm.open({ chart, repository_url: `${server.url}${path}` }, secret, context);
  }
  async function list(request: Partial<ListRequest> = {}, chart = "app") {
    return await open(chart).listReleases(listRequest(request));
  }
  async function failure(work: Promise<unknown>): Promise<PluginError> {
    const error: unknown = await work.then(
      () => new Error("nothing was thrown"),
      (thrown: unknown) => thrown,
    );
    if (error instanceof PluginError) return error;
    throw error;
  }

  test("shows chart and app version, digest, time and address of each version", async () => {
    serve(
      indexOf({
        app: [
          { version: "1.1.0", appVersion: "1.10", digest: digestOf("a"), created: '"2026-01-02T03:04:05Z"' },
          { version: "1.1.0-rc.1+7", appVersion: "1.10", digest: `sha256:${digestOf("b")}`, deprecated: true },
        ],
      }),
    );
    const { releases, total } = await list();
    expect(total).toBe(2);
    expect(releases).toEqual([
      {
        version: "1.1.0",
        tag: "1.1.0",
        stage: "release",
        published_at: Date.UTC(2026, 0, 2, 3, 4, 5),
        revision: `sha256:${digestOf("a")}`,
        url: `${server.url}/stable/app-1.1.0.tgz`,
        notes: null,
        app_version: "1.10",
        is_deprecated: false,
      },
      expect.objectContaining({
        tag: "1.1.0-rc.1+7",
        stage: "prerelease",
        published_at: null,
        revision: `sha256:${digestOf("b")}`,
        app_version: "1.10",
        is_deprecated: true,
      }),
    ]);
    expect(server.take()).toEqual(["GET /stable/index.yaml"]);
  });

  test("costs one conditional request when nothing changed, and gives the same answer", async () => {
    serve(indexOf({ app: [{ version: "1.1.0", digest: digestOf("a") }, { version: "1.0.0" }] }));
    const first = await list();
    const known = knownOf(first);
    const second = await list({ memo: first.memo, known, watch: ["1.1.0"] });
    expect(server.seen.map((request) => request.status)).toEqual([200, 304]);
    expect(conditions).toEqual([
      [null, null],
      [expect.stringMatching(/^"/), null],
    ]);
    expect(second).toEqual(first);
    expect(
      helm.cost(
        { chart: "app", repository_url: server.url },
        { has_credential: false, has_fallback: true, channel_count: 3 },
      ),
    ).toEqual({
      requests: 1,
      quota: 0,
      hourly_limit: null,
    });
  });

  test("asks by Last-Modified where there is no ETag", async () => {
    const at = "Fri, 20 Nov 2026 10:00:00 GMT";
    const text = indexOf({ app: [{ version: "1.0.0" }] });
    answer = (request) =>
      request.headers.get("if-modified-since") === at
        ? new Response(null, { status: 304 })
        : new Response(text, { headers: { "last-modified": at } });
    const first = await list();
    expect(await list({ memo: first.memo, known: knownOf(first) })).toEqual(first);
    expect(conditions).toEqual([
      [null, null],
      [null, at],
    ]);
  });

  test("gives the same memory for the same index of a server without validators", async () => {
    serve(indexOf({ app: [{ version: "1.0.0" }] }), null);
    const first = await list();
    const second = await list({ memo: first.memo, known: knownOf(first) });
    expect(second).toEqual(first);
  });

  test("leaves nothing of an index in the store of answers", async () => {
    serve(indexOf({ app: [{ version: "1.0.0" }] }));
    const { context, stored } = realContext();
    const source = helm.open({ chart: "app", repository_url: server.url }, null, context);
    await source.listReleases(listRequest());
    expect(stored).toEqual([]);
  });

  test("does not take the memory of another chart for its own", async () => {
    serve(indexOf({ app: [{ version: "1.0.0" }], other: [{ version: "2.0.0" }] }));
    const { memo } = await list();
    const other = await list({ memo }, "other");
    expect(other.releases.map((release) => release.tag)).toEqual(["2.0.0"]);
    expect(conditions.at(-1)).toEqual([null, null]);
  });

  test.each([["nonsense"], ['{"form":"helm-1"'], ['{"form":"helm-1","rows":5}']])(
    "reads everything anew when its memory is %p",
    async (memo) => {
      serve(indexOf({ app: [{ version: "1.0.0" }] }));
      expect((await list({ memo })).releases.map((release) => release.tag)).toEqual(["1.0.0"]);
    },
  );

  test("says of a new version whether it appeared or was only let in, also from its memory", async () => {
    const old = { version: "1.0.0", created: '"2026-01-01T00:00:00Z"' };
    const fork = { version: "0.9.0", created: '"2025-01-01T00:00:00Z"' };
    serve(indexOf({ app: [old, fork] }));
    const first = await list({ limit: 1 });
    expect(first.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["1.0.0", undefined]]);
    const wider = await list({ memo: first.memo, known: knownOf(first) });
    expect(server.seen.at(-1)?.status).toBe(304);
    expect(wider.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["1.0.0", undefined],
      ["0.9.0", false],
    ]);
    serve(indexOf({ app: [old, fork, { version: "0.9.1", created: '"2026-02-01T00:00:00Z"' }] }));
    const patched = await list({ limit: 1, memo: wider.memo, known: knownOf(first) });
    expect(patched.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["0.9.1", true]]);
  });

  test("does not call new what an index left out once", async () => {
    serve(indexOf({ app: [{ version: "1.1.0" }, { version: "1.0.0" }] }));
    const first = await list();
    serve(indexOf({ app: [{ version: "1.0.0" }] }));
    const short = await list({ memo: first.memo, known: knownOf(first) });
    serve(indexOf({ app: [{ version: "1.1.0" }, { version: "1.0.0" }] }));
    const whole = await list({ memo: short.memo, known: knownOf(short) });
    expect(whole.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["1.1.0", false],
      ["1.0.0", undefined],
    ]);
  });

  test("returns a known version of any age whose archive was replaced", async () => {
    const versions = Array.from({ length: 20 }, (_, n) => ({ version: `1.${n}.0`, digest: digestOf("a") }));
    serve(indexOf({ app: versions }));
    const first = await list({ limit: 20 });
    serve(indexOf({ app: versions.map((each, n) => (n === 3 ? { ...each, digest: digestOf("f") } : each)) }));
    const after = await list({ limit: 2, known: knownOf(first), memo: first.memo, watch: ["1.19.0"] });
    expect(after.releases.map(({ tag, revision }) => [tag, revision?.at(-1)])).toEqual([
      ["1.19.0", "a"],
      ["1.18.0", "a"],
      ["1.3.0", "f"],
    ]);
  });

  test("gives each channel its own places, by version and by time", async () => {
    serve(
      indexOf({
        app: [
          { version: "3.0.0-rc.2", created: '"2026-03-02T00:00:00Z"' },
          { version: "3.0.0-rc.1", created: '"2026-03-01T00:00:00Z"' },
          { version: "2.1.0", created: '"2026-01-01T00:00:00Z"' },
          { version: "2.0.0", created: '"2025-01-01T00:00:00Z"' },
          { version: "1.9.9", created: '"2026-02-01T00:00:00Z"' },
        ],
      }),
    );
    const accepts = [
      (_: string, stage: string) => stage === "release",
      (_: string, stage: string) => stage === "prerelease",
    ];
    const tags = (await list({ limit: 4, accepts })).releases.map((release) => release.tag);
    expect(tags).toEqual(["2.1.0", "3.0.0-rc.2", "1.9.9", "3.0.0-rc.1"]);
    expect((await list({ limit: 1, accepts, watch: ["2.0.0", "0.0.1"] })).releases.map(({ tag }) => tag)).toEqual([
      "2.0.0",
      "2.1.0",
      "3.0.0-rc.2",
    ]);
  });

  test("lists the names of all versions", async () => {
    serve(indexOf({ app: [{ version: "1.1.0" }, { version: "1.0.0+1" }] }));
    expect(await open().listNames?.()).toEqual(["1.1.0", "1.0.0+1"]);
  });

  test.each([
    ["/stable", "/stable/index.yaml"],
    ["/stable/", "/stable/index.yaml"],
    ["/stable/index.yaml", "/stable/index.yaml"],
    ["", "/index.yaml"],
    ["/a%20b?sig=1%2F2", "/a%20b/index.yaml?sig=1%2F2"],
  ])("asks %p for %p", async (path, asked) => {
    serve(indexOf({ app: [{ version: "1.0.0" }] }));
    await open("app", null, path).listReleases(listRequest());
    expect(server.take()).toEqual([`GET ${asked}`]);
  });

  test("reads an index that is sent with gzip", async () => {
    const text = indexOf({ app: [{ version: "1.0.0" }] });
    answer = () => new Response(gzipSync(text), { headers: { "content-encoding": "gzip" } });
    expect((await list()).total).toBe(1);
  });

  test("says that gzip was cut off, in a small and in a large index", async () => {
    const filler = Array.from({ length: 40_000 }, (_, n) => ({
      version: `1.0.${n}`,
      digest: Bun.SHA256.hash(`${n}`, "hex"),
    }));
    for (const charts of [{ app: filler.slice(0, 10) }, { other: filler, app: filler.slice(0, 1) }]) {
      const packed = gzipSync(indexOf(charts));
      answer = () =>
        new Response(packed.subarray(0, packed.byteLength - 200), { headers: { "content-encoding": "gzip" } });
      expect((await failure(list())).code).toMatch(/^(?:malformed|unreachable)$/);
    }
  });

  test("refuses an index over 64 MiB, wherever its chart is", async () => {
    const line = `#${"-".repeat(1_022)}\n`.repeat(1_024);
    answer = () => {
      let sent = 0;
      const body = new ReadableStream({
        pull(controller) {
          if (sent++ > 65) controller.close();
          else controller.enqueue(sent === 1 ? indexOf({ app: [{ version: "1.0.0" }] }) : line);
        },
      });
      return new Response(body);
    };
    expect(await failure(list())).toMatchObject({
      code: "malformed",
      message: expect.stringContaining("larger than 64 MiB"),
    });
  });

  test.each<[number, string, string]>([
    [401, "unauthorized", "is private or its address is wrong; add a credential"],
    [403, "unauthorized", "is private or its address is wrong"],
    [404, "not_found", "is private or its address is wrong"],
    [410, "not_found", "410"],
    [429, "rate_limited", "limits the rate"],
    [418, "rejected", "418"],
    [503, "unreachable", "503"],
  ])("says what a %i means", async (status, code, words) => {
    answer = () => Response.json({ message: "no way.\nReally" }, { status });
    const error = await failure(list());
    expect(error.code).toBe(code as PluginError["code"]);
    expect(error.message).toContain(words);
    expect(error.message).not.toMatch(/[\n.]$/);
  });

  test.each([
    [401, "unauthorized", "sources.credential_rejected"],
    [403, "unauthorized", "sources.chart_repository_unreadable"],
    [404, "not_found", "sources.chart_repository_unreadable"],
  ])("says what a %i means with a credential", async (status, code, meaning) => {
    answer = () => new Response("<Error><Code>AccessDenied</Code></Error>", { status });
    const work = open("app", { basic_auth: "ci:secret" }).listReleases(listRequest());
    expect(await meaningOf(work)).toEqual([code, meaning]);
  });

  test("sends user name and password to the repository, and to no other origin", async () => {
    const text = indexOf({ app: [{ version: "1.0.0" }] });
    const other = standIn(() => new Response(text));
    try {
      answer = (request, url) => {
        if (request.headers.get("authorization") !== `Basic ${btoa("ci:pass:word")}`)
          return new Response("", { status: 401 });
        return url.pathname.startsWith("/moved") ? Response.redirect(`${other.url}/index.yaml`) : new Response(text);
      };
      const secret = { basic_auth: "ci:pass:word" };
      expect((await open("app", secret).listReleases(listRequest())).total).toBe(1);
      expect((await open("app", secret, "/moved").listReleases(listRequest())).total).toBe(1);
      expect(other.seen.map((request) => request.authorization)).toEqual([null]);
      const wrong = await failure(open("app", { basic_auth: "ci:wrong" }).listReleases(listRequest()));
      expect(wrong.code).toBe("unauthorized");
      expect(wrong.message).not.toContain("no credential");
    } finally {
      await other.stop();
    }
  });

  test("stays below 2 MiB of memory with 10,000 versions and long notes", async () => {
    const versions = Array.from({ length: 10_000 }, (_, n) => ({
      version: `1.${n}.0`,
      appVersion: `${n}.0`,
      digest: Bun.SHA256.hash(`${n}`, "hex"),
      created: '"2026-01-01T00:00:00Z"',
    }));
    serve(indexOf({ app: versions }));
    const first = await list();
    expect(first.total).toBe(10_000);
    expect(first.memo?.length).toBeLessThan(2 * 1024 * 1024);
    const second = await list({ memo: first.memo, known: knownOf(first) });
    expect(second).toEqual(first);
    expect(second.releases[0]?.tag).toBe("1.9999.0");
  });
});
