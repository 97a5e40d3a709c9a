import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { PluginError } from "../../src/errors.ts";
import { say } from "../../src/messages/message.ts";
import { createHttp, type HttpOpen } from "../../src/net/http.ts";
import { createRateLedger } from "../../src/net/rate-ledger.ts";
import type { CachedResponse } from "../../src/net/response-cache.ts";
import { createFakeClock, until } from "../support/fake-clock.ts";
import { fakeResolver, httpLoopback, rawLoopback } from "../support/loopback.ts";

const loopbackNames = { "a.example.test": ["127.0.0.1"], "b.example.test": ["127.0.0.1"] };

function begin(open: Partial<HttpOpen> = {}, names: Readonly<Record<string, readonly string[]>> = loopbackNames) {
  const clock = createFakeClock();
  const controller = new AbortController();
  const stored = new Map<string, CachedResponse>();
  const ledger = createRateLedger({
    clock,
    store: { load: async () => [], save: async () => undefined },
    onStoreError: (error) => {
      throw error;
    },
  });
  const resolver = fakeResolver(names);
  const http = createHttp({
    clock,
    ledger,
    resolve: resolver.resolve,
    random: () => 0.5,
    cache: {
      find: async (key) => stored.get(key) ?? null,
      store: async (key, response) => {
        stored.set(key, response);
      },
    },
  });
  const context = (more: Partial<HttpOpen> = {}) =>
    http.open({ timeout_ms: 10_000, credential_id: "c1", signal: controller.signal, ...open, ...more });
  const one = context();
  const get = (port: number, path = "/", init?: RequestInit) =>
    one.fetch(new URL(`http://a.example.test:${port}${path}`), init);
  return { clock, controller, stored, ledger, resolver, http, context, get, stats: one.stats };
}

async function failure(work: Promise<unknown>): Promise<PluginError> {
  const error = await work.then(
    () => new Error("It did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginError)) throw error;
  return error;
}

describe("createHttp() connections", () => {
  test("uses one connection and one resolution for requests in a row", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const { get, resolver, stats } = begin();
    for (let times = 0; times < 5; times++) expect(await (await get(server.port)).text()).toBe("ok");
    expect([server.connections(), resolver.calls.length, server.seen.length]).toEqual([1, 1, 5]);
    expect(stats()).toEqual({ requests: 5, bytes: 10 });
  });

  test("keeps its connection after HEAD, 304, 404 and a redirect", async () => {
    await using server = await httpLoopback((request, response, count) => {
      // A HEAD answer keeps its connection only where it names the length of the body that it leaves out.
      if (request.path === "/moved") response.writeHead(302, { location: "/" }).end("see there");
      else response.writeHead(count === 3 ? 404 : 200, { "content-length": 2 }).end("ok");
    });
    const { get } = begin();
    await get(server.port, "/", { method: "HEAD" });
    await get(server.port);
    await get(server.port);
    await get(server.port, "/moved");
    expect([server.connections(), server.seen.length]).toEqual([1, 5]);
  });

  test("sends again at once when the server had closed the idle connection", async () => {
    let sockets = 0;
    await using server = await rawLoopback((socket) => {
      sockets += 1;
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      // The second request on this connection is met with a reset, as after an idle time-out.
      socket.on("data", () => socket.resetAndDestroy());
    });
    const { get, clock } = begin();
    expect(await (await get(server.port)).text()).toBe("ok");
    expect(await (await get(server.port)).text()).toBe("ok");
    expect([sockets, clock.pending()]).toEqual([2, []]);
  });

  test("sends the request as it was asked for", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const { get } = begin();
    await get(server.port, "/v2/a/b?n=1&x=%2F", { headers: { accept: "application/json", authorization: "Bearer t" } });
    await get(server.port, "/", { method: "POST", body: new URLSearchParams({ a: "b c" }) });
    await get(server.port, "/", { method: "HEAD" });
    const [first, second, third] = server.seen;
    expect(first).toMatchObject({ method: "GET", path: "/v2/a/b?n=1&x=%2F" });
    expect(first?.headers).toMatchObject({
      host: `a.example.test:${server.port}`,
      accept: "application/json",
      authorization: "Bearer t",
      "accept-encoding": "gzip",
      "user-agent": "Tidemark",
    });
    expect(second).toMatchObject({ method: "POST", body: "a=b+c" });
    expect(second?.headers["content-type"]).toStartWith("application/x-www-form-urlencoded");
    expect([third?.method, third?.headers["accept-encoding"]]).toEqual(["HEAD", undefined]);
  });

  test("gives the answer's address, status and headers", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(404, { "x-a": "1", link: "</next>; rel=next" }).end("gone"),
    );
    const { get } = begin();
    const response = await get(server.port, "/x");
    expect(response.url).toBe(`http://a.example.test:${server.port}/x`);
    expect([response.status, response.headers.get("x-a"), response.headers.get("link")]).toEqual([
      404,
      "1",
      "</next>; rel=next",
    ]);
    expect(await response.text()).toBe("gone");
  });
});

describe("createHttp() at a port of the other scheme", () => {
  test("an https address whose server speaks http", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const error = await failure(
      begin()
        .context()
        .fetch(new URL(`https://a.example.test:${server.port}/`)),
    );
    expect(error).toMatchObject({ code: "unreachable", said: { params: { cause: say("net.answers_plain_http") } } });
  });

  test.each([
    ["Go", "Client sent an HTTP request to an HTTPS server.\n"],
    ["nginx", "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>"],
  ])("an http address whose server speaks https, as %s says it", async (_server, body) => {
    await using server = await httpLoopback((_request, response) => response.writeHead(400).end(body));
    const error = await failure(begin().get(server.port));
    expect(error).toMatchObject({ code: "rejected", said: { params: { cause: say("net.wants_https") } } });
  });

  test("an http address whose server says it by an alert", async () => {
    await using server = await rawLoopback((socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])));
    const error = await failure(begin().get(server.port));
    expect(error).toMatchObject({ code: "malformed", said: { params: { cause: say("net.wants_https") } } });
  });
});

describe("createHttp() destinations", () => {
  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://meta.example.test/",
    "http://mixed.example.test/",
    "http://wrapped.example.test/",
  ])("refuses the metadata service at %s", async (url) => {
    const { context } = begin(
      {},
      {
        "meta.example.test": ["169.254.169.254"],
        "mixed.example.test": ["127.0.0.1", "169.254.170.2"],
        "wrapped.example.test": ["::ffff:169.254.169.254"],
      },
    );
    const error = await failure(context().fetch(new URL(url)));
    expect([error.code, error.message]).toEqual(["rejected", "Destination blocked"]);
  });

  test.each(["ftp://a.example.test/", "file:///etc/passwd", "data:text/plain,x", "http://user:pass@a.example.test/"])(
    "refuses %s",
    async (url) => {
      expect((await failure(begin().context().fetch(new URL(url)))).code).toBe("rejected");
    },
  );

  test("reaches private literals", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const { context } = begin();
    expect((await context().fetch(new URL(`http://127.0.0.1:${server.port}/`))).status).toBe(200);
  });
});

describe("createHttp() redirects", () => {
  const secrets = { authorization: "Bearer t", cookie: "a=b", "private-token": "p", accept: "application/json" };

  test("keeps credentials on the same origin", async () => {
    await using server = await httpLoopback((request, response) => {
      if (request.path === "/") response.writeHead(302, { location: "/next" }).end();
      else response.end("ok");
    });
    await begin().get(server.port, "/", { headers: secrets });
    expect(server.seen[1]?.headers).toMatchObject(secrets);
  });

  test.each([
    ["another host", "b.example.test", 0],
    ["another port", "a.example.test", 1],
  ])("drops them at %s", async (_what, host, other) => {
    await using target = await httpLoopback((_request, response) => response.end("ok"));
    await using server = await httpLoopback((request, response) => {
      const port = other === 1 ? target.port : server.port;
      if (request.path === "/") response.writeHead(302, { location: `http://${host}:${port}/next` }).end();
      else response.end("ok");
    });
    const response = await begin().get(server.port, "/", { headers: secrets });
    const seen = other === 1 ? target.seen[0] : server.seen[1];
    expect(seen?.path).toBe("/next");
    expect(seen?.headers.authorization).toBeUndefined();
    expect(seen?.headers.cookie).toBeUndefined();
    expect(seen?.headers["private-token"]).toBeUndefined();
    expect(seen?.headers.accept).toBe("application/json");
    expect(response.url).toEndWith("/next");
  });

  test("follows 5 and not 6", async () => {
    await using server = await httpLoopback((request, response) => {
      const left = Number(request.path.slice(1));
      if (left > 0) response.writeHead(307, { location: `/${left - 1}` }).end();
      else response.end("there");
    });
    const { get } = begin();
    expect(await (await get(server.port, "/5")).text()).toBe("there");
    const error = await failure(get(server.port, "/6"));
    expect([error.code, server.seen.length]).toEqual(["rejected", 12]);
  });

  test.each([
    "http://169.254.169.254/",
    "http://meta.example.test/",
    "ftp://a.example.test/",
    "http://u:p@b.example.test/",
  ])("does not follow to %s", async (location) => {
    await using server = await httpLoopback((_request, response) => response.writeHead(302, { location }).end());
    const names = { ...loopbackNames, "meta.example.test": ["169.254.169.254"] };
    expect((await failure(begin({}, names).get(server.port))).code).toBe("rejected");
    expect(server.seen.length).toBe(1);
  });

  test("never takes a body to another origin", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(307, { location: `http://b.example.test:${server.port}/` }).end(),
    );
    const error = await failure(begin().get(server.port, "/", { method: "POST", body: "secret" }));
    expect([error.code, server.seen.length]).toEqual(["rejected", 1]);
  });

  test.each([
    [301, "GET"],
    [302, "GET"],
    [303, "GET"],
    [307, "POST"],
    [308, "POST"],
  ])("turns a POST after %i into %s", async (status, method) => {
    await using server = await httpLoopback((request, response) => {
      if (request.path === "/") response.writeHead(status, { location: "/next" }).end();
      else response.end("ok");
    });
    await begin().get(server.port, "/", { method: "POST", body: "x" });
    expect(server.seen[1]).toMatchObject({ method, body: method === "POST" ? "x" : "" });
  });

  test("hands a redirect over, or fails, when the caller wants that", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(302, { location: "/next" }).end(),
    );
    const { get } = begin();
    expect((await get(server.port, "/", { redirect: "manual" })).headers.get("location")).toBe("/next");
    expect((await failure(get(server.port, "/", { redirect: "error" }))).code).toBe("rejected");
    expect(server.seen.length).toBe(2);
  });
});

describe("createHttp() bodies", () => {
  test("decodes gzip and counts what came over the wire", async () => {
    const plain = "a".repeat(100_000);
    const packed = gzipSync(plain);
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed),
    );
    const { get, stats } = begin();
    const response = await get(server.port);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.text()).toBe(plain);
    expect(stats().bytes).toBe(packed.length);
  });

  test("leaves the bytes as they are sent if the request declines every encoding", async () => {
    const packed = gzipSync("a file whose own compression the server calls an encoding");
    await using server = await httpLoopback((request, response) => {
      const isRefused = request.path === "/refused";
      response.writeHead(isRefused ? 404 : 200, { "content-encoding": "gzip" }).end(packed);
    });
    const { get } = begin();
    const headers = { "accept-encoding": "identity" };
    expect(Buffer.from(await (await get(server.port, "/", { headers })).arrayBuffer()).equals(packed)).toBe(true);
    expect(await (await get(server.port, "/refused", { headers })).text()).toStartWith("a file");
  });

  test.each([
    ["one byte over the limit", { body: Buffer.alloc(1_001, 97), encoding: "identity" }],
    ["a gzip bomb", { body: gzipSync(Buffer.alloc(50_000_000)), encoding: "gzip" }],
    ["half a gzip", { body: gzipSync(Buffer.from("hello".repeat(100))).subarray(0, 20), encoding: "gzip" }],
    ["no gzip at all", { body: Buffer.from("<html>"), encoding: "gzip" }],
    ["brotli, which was not asked for", { body: Buffer.from("x"), encoding: "br" }],
  ])("refuses %s as malformed", async (_what, { body, encoding }) => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(body),
    );
    const { get, clock } = begin({ max_bytes: 1_000 });
    expect((await failure(get(server.port))).code).toBe("malformed");
    expect([server.seen.length, clock.pending()]).toEqual([1, []]);
  });

  test.each(["br", "zstd", "deflate", "gzip, br"])(
    "refuses %s, which was not asked for, and heeds the status of an error",
    async (encoding) => {
      await using server = await httpLoopback((request, response) => {
        const status = Number(request.path.slice(1));
        response.writeHead(status, { "content-encoding": encoding, "retry-after": "120" }).end("\u000b\u0003");
      });
      expect((await failure(begin().get(server.port, "/200"))).message).toContain(`compressed as "${encoding}"`);
      const missing = await begin().get(server.port, "/404");
      expect([missing.status, await missing.text()]).toEqual([404, ""]);
      const limited = await failure(begin().get(server.port, "/429"));
      expect([limited.code, limited.retry_after_ms]).toEqual(["rate_limited", 120_000]);
    },
  );

  test("takes a body of exactly the limit", async () => {
    await using server = await httpLoopback((_request, response) => response.end("a".repeat(1_000)));
    expect((await (await begin({ max_bytes: 1_000 }).get(server.port)).text()).length).toBe(1_000);
  });

  test("streams a large body and frees its timer at the end", async () => {
    const body = Buffer.alloc(5_000_000, "0123456789");
    await using server = await httpLoopback((_request, response) => response.end(body));
    const { get, clock, stats } = begin();
    const response = await get(server.port);
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
    expect([clock.pending(), stats().bytes]).toEqual([[], 5_000_000]);
  });

  test("fails the reading of a large body that is over the limit", async () => {
    await using server = await httpLoopback((_request, response) => response.end(Buffer.alloc(9_000_000)));
    const { get, clock } = begin({ max_bytes: 4_000_000 });
    const response = await get(server.port);
    expect((await failure(response.text())).code).toBe("malformed");
    expect(clock.pending()).toEqual([]);
    await until(() => server.closed() === 1);
  });

  test("fails the reading of a large body that stalls, at the deadline", async () => {
    await using server = await rawLoopback((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n");
      socket.write(Buffer.alloc(3_000_000));
    });
    const { get, clock } = begin();
    const work = failure((await get(server.port)).text());
    await clock.advance(10_000);
    expect((await work).message).toContain("timed out after 10 s");
    await until(() => server.closed() === 1);
  });

  test("ends the connection of a large body that nobody wants any more", async () => {
    await using server = await httpLoopback((_request, response) => response.end(Buffer.alloc(9_000_000)));
    const { get, clock } = begin();
    await (await get(server.port)).body?.cancel();
    expect(clock.pending()).toEqual([]);
    await until(() => server.closed() === 1);
  });
});

describe("createHttp() retries", () => {
  /** Answers with each status in turn, the last one for ever. */
  const serverOf = (...statuses: number[]) =>
    httpLoopback((_request, response, count) => {
      response.writeHead(statuses[Math.min(count, statuses.length) - 1] ?? 500).end("upstream says no");
    });

  test("tries a 5xx again after 1 to 8 s", async () => {
    await using server = await serverOf(503, 500, 200);
    const { get, clock, stats } = begin();
    const work = get(server.port);
    for (const count of [1, 2]) {
      await until(() => server.seen.length === count && clock.pending()[0] === 4_500);
      await clock.advance(4_499);
      expect(server.seen.length).toBe(count);
      await clock.advance(1);
    }
    expect((await work).status).toBe(200);
    expect(stats().requests).toBe(3);
  });

  test("fails as unreachable with upstream's text after 2 retries", async () => {
    await using server = await serverOf(502);
    const { get, clock } = begin();
    const work = failure(get(server.port));
    for (const count of [1, 2]) {
      await until(() => server.seen.length === count && clock.pending()[0] === 4_500);
      await clock.advance(4_500);
    }
    const error = await work;
    expect([error.code, error.message]).toEqual([
      "unreachable",
      `"a.example.test:${server.port}" returned 502: upstream says no`,
    ]);
    expect(server.seen.length).toBe(3);
  });

  test("tries again after a reset and after a time-out", async () => {
    let count = 0;
    await using server = await rawLoopback((socket) => {
      count += 1;
      if (count === 1) socket.resetAndDestroy();
      if (count === 3) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const { get, clock } = begin();
    const work = get(server.port);
    await until(() => clock.pending()[0] === 4_500);
    await clock.advance(4_500);
    await until(() => count === 2);
    await clock.advance(10_000);
    await until(() => clock.pending()[0] === 4_500);
    await clock.advance(4_500);
    expect(await (await work).text()).toBe("ok");
  });

  test("tries again when the body breaks off", async () => {
    let count = 0;
    await using server = await rawLoopback((socket) => {
      count += 1;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${count === 1 ? "o" : "ok"}`);
    });
    const { get, clock } = begin();
    const work = get(server.port);
    await until(() => clock.pending()[0] === 4_500);
    await clock.advance(4_500);
    expect(await (await work).text()).toBe("ok");
  });

  test.each([
    ["400", 400],
    ["401", 401],
    ["404", 404],
  ])("does not try a %s again", async (_what, status) => {
    await using server = await serverOf(status);
    expect((await begin().get(server.port)).status).toBe(status);
    expect(server.seen.length).toBe(1);
  });

  test.each([
    ["a GraphQL query", "/api/graphql"],
    ["git's question for its refs", "/owner/app.git/git-upload-pack"],
  ])("does not send a POST again, but %s", async (_what, path) => {
    await using server = await serverOf(503, 503, 200);
    const { get, clock } = begin();
    expect((await failure(get(server.port, "/token", { method: "POST", body: "x" }))).code).toBe("unreachable");
    const work = get(server.port, path, { method: "POST", body: "{}" });
    await until(() => clock.pending()[0] === 4_500);
    await clock.advance(4_500);
    expect((await work).status).toBe(200);
  });

  test("does not wait for a server that wants more than 8 s, and passes its wish on", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(503, { "retry-after": "120" }).end(),
    );
    const { get, clock } = begin();
    const error = await failure(get(server.port));
    expect([error.code, error.retry_after_ms, server.seen.length]).toEqual(["unreachable", 120_000, 1]);
    await clock.advance(119_999);
    expect([(await failure(get(server.port, "/other"))).code, server.seen.length]).toEqual(["rate_limited", 1]);
    await clock.advance(1);
    expect([(await failure(get(server.port, "/other"))).code, server.seen.length]).toEqual(["unreachable", 2]);
  });

  test("waits as long as a 503 asks, and the jitter beyond", async () => {
    await using server = await httpLoopback((_request, response, count) =>
      response.writeHead(count === 1 ? 503 : 200, count === 1 ? { "retry-after": "5" } : {}).end(),
    );
    const { get, clock } = begin();
    const work = get(server.port);
    await until(() => clock.pending()[0] === 9_500);
    await clock.advance(9_500);
    expect((await work).status).toBe(200);
  });

  test("does not try a refused connection or a broken answer again", async () => {
    await using broken = await rawLoopback((socket) => socket.end("nonsense\r\n\r\n"));
    const closed = await rawLoopback(() => undefined);
    await closed[Symbol.asyncDispose]();
    const { get } = begin();
    expect((await failure(get(broken.port))).code).toBe("malformed");
    expect((await failure(get(closed.port))).code).toBe("unreachable");
    expect(broken.connections()).toBe(1);
  });

  test("ends at once when its caller aborts between two tries", async () => {
    await using server = await serverOf(503);
    const { get, clock, controller } = begin();
    const work = failure(get(server.port));
    await until(() => clock.pending()[0] === 4_500);
    controller.abort();
    expect((await work).message).toContain("returned 503");
    expect(server.seen.length).toBe(1);
  });
});

describe("createHttp() conditional requests", () => {
  const tagged = () =>
    httpLoopback((request, response) => {
      const headers = {
        etag: '"v1"',
        "last-modified": "Mon, 05 Jan 2026 10:00:00 GMT",
        "content-type": "application/json",
      };
      if (request.headers["if-none-match"] === '"v1"') response.writeHead(304, { etag: '"v1"' }).end();
      else
        response
          .writeHead(200, { ...headers, link: "</next>; rel=next", "docker-content-digest": "sha256:1" })
          .end('{"a":"ü"}');
    });

  test("gives the stored answer for a 304", async () => {
    await using server = await tagged();
    const { get, stats } = begin();
    const first = await get(server.port);
    expect([first.headers.get("x-tidemark-not-modified"), await first.text()]).toEqual([null, '{"a":"ü"}']);
    const second = await get(server.port);
    expect([second.status, second.headers.get("x-tidemark-not-modified"), await second.text()]).toEqual([
      200,
      "1",
      '{"a":"ü"}',
    ]);
    expect(second.headers.get("content-type")).toBe("application/json");
    expect(second.headers.get("link")).toBe("</next>; rel=next");
    expect(second.headers.get("docker-content-digest")).toBe("sha256:1");
    expect(server.seen[1]?.headers).toMatchObject({
      "if-none-match": '"v1"',
      "if-modified-since": "Mon, 05 Jan 2026 10:00:00 GMT",
    });
    expect(stats().requests).toBe(2);
  });

  test("keeps validators per URL, credential and accepted form", async () => {
    await using server = await tagged();
    const { get, context } = begin();
    const url = new URL(`http://a.example.test:${server.port}/`);
    await get(server.port);
    await get(server.port, "/?page=2");
    await context({ credential_id: "c2" }).fetch(url);
    await context({ credential_id: null }).fetch(url);
    await get(server.port, "/", { headers: { accept: "application/json" } });
    expect(server.seen.map((request) => request.headers["if-none-match"])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each<[string, RequestInit]>([
    ["a caller that wants no store", { cache: "no-store" }],
    ["a caller with conditions of its own", { headers: { "if-none-match": '"mine"' } }],
    ["a range", { headers: { range: "bytes=0-5" } }],
    ["HEAD", { method: "HEAD" }],
    ["POST", { method: "POST", body: "x" }],
  ])("stores nothing for %s", async (_what, init) => {
    await using server = await tagged();
    const { get, stored } = begin();
    await get(server.port, "/", init);
    expect(stored.size).toBe(0);
  });

  test.each<[string, Record<string, string>, string | Buffer]>([
    ["without a validator", {}, "x"],
    ["that forbids it", { etag: '"1"', "cache-control": "private, no-store" }, "x"],
    ["with a token", { etag: '"1"' }, '{"token": "secret"}'],
    ["with an access token", { etag: '"1"' }, '{"expires_in":300,"access_token":"secret"}'],
    ["that is no text", { etag: '"1"' }, Buffer.from([0xff, 0xfe, 0x80])],
    ["over 2 MiB", { etag: '"1"' }, Buffer.alloc(2 * 1024 * 1024 + 1, 97)],
  ])("stores no answer %s", async (_what, headers, body) => {
    await using server = await httpLoopback((_request, response) => response.writeHead(200, headers).end(body));
    const { get, stored } = begin();
    await (await get(server.port)).arrayBuffer();
    expect(stored.size).toBe(0);
  });

  test("shows a broken store as what it is, not as a fault of the upstream", async () => {
    await using server = await tagged();
    const { get, stored, clock } = begin();
    stored.get = () => {
      throw new Error("database is locked");
    };
    await expect(get(server.port)).rejects.toThrow("database is locked");
    expect(clock.pending()).toEqual([]);
  });

  test("stores no answer but a 200", async () => {
    await using server = await httpLoopback((_request, response) => response.writeHead(404, { etag: '"1"' }).end("no"));
    const { get, stored } = begin();
    await get(server.port);
    expect(stored.size).toBe(0);
  });
});

describe("createHttp() rate limits", () => {
  test("throws what upstream wants and sends nothing until then", async () => {
    await using server = await httpLoopback((_request, response, count) => {
      if (count === 1) response.writeHead(429, { "retry-after": "30" }).end("slow down");
      else response.end("ok");
    });
    const { get, context, clock, ledger } = begin();
    const error = await failure(get(server.port));
    expect([error.code, error.retry_after_ms]).toEqual(["rate_limited", 30_000]);
    await clock.advance(10_000);
    const blocked = await failure(get(server.port));
    expect([blocked.code, blocked.retry_after_ms, server.seen.length]).toEqual(["rate_limited", 20_000, 1]);
    expect(blocked.message).toContain("2026-01-05T12:00:30.000Z");
    await context({ credential_id: "c2" }).fetch(new URL(`http://a.example.test:${server.port}/`));
    await clock.advance(20_000);
    expect((await get(server.port)).status).toBe(200);
    expect(server.seen.length).toBe(3);
    expect(ledger.view()[0]).toMatchObject({ host: `a.example.test:${server.port}`, blocked_until: null });
  });

  test("neither bind nor are made by a request that is unrated", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(429, { "retry-after": "30" }).end("slow down"),
    );
    const { get, context, ledger } = begin();
    const unrated = () =>
      context({ is_unrated: true }).fetch(new URL(`http://a.example.test:${server.port}/`), { method: "POST" });
    expect([(await unrated()).status, (await unrated()).status]).toEqual([429, 429]);
    expect(ledger.view()).toEqual([]);
    await failure(get(server.port));
    expect((await unrated()).status).toBe(429);
    expect(server.seen.length).toBe(4);
  });

  test("finds GraphQL's refusal inside a 200", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.end('{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}'),
    );
    const { get } = begin();
    expect((await failure(get(server.port, "/graphql", { method: "POST", body: "{}" }))).code).toBe("rate_limited");
  });

  test("leaves a plain 403 to the source", async () => {
    await using server = await httpLoopback((_request, response) => response.writeHead(403).end("denied"));
    expect((await begin().get(server.port)).status).toBe(403);
  });
});
