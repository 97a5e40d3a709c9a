import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PluginError } from "../../src/errors.ts";
import { say } from "../../src/messages/message.ts";
import { blockedAt } from "../../src/net/destination.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { createFakeClock, until } from "../support/fake-clock.ts";
import { fakeResolver, httpLoopback, rawLoopback } from "../support/loopback.ts";

const name = "hooks.example.test";

/** A guard for which `hooks.example.test` is on loopback, and allowed there at this port alone. */
function guardFor(port: number, purpose: "webhook" | "probe" = "webhook") {
  const clock = createFakeClock();
  const controller = new AbortController();
  const resolver = fakeResolver({ [name]: ["127.0.0.1"] });
  const guard = createGuard({ clock, allow: parseOutboundAllow(`${name}:${port}`), resolve: resolver.resolve });
  const context = guard.open({ purpose, timeout_ms: 10_000, signal: controller.signal });
  const send = (path = "/", init?: RequestInit) => context.fetch(new URL(`http://${name}:${port}${path}`), init);
  return { clock, controller, resolver, guard, send };
}

async function failure(work: Promise<unknown>): Promise<PluginError> {
  const error = await work.then(
    () => new Error("It did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginError)) throw error;
  return error;
}

describe("createGuard().open()", () => {
  test("sends to the pinned address with the name's own Host header and asks for no compression", async () => {
    await using server = await httpLoopback((_request, response) => response.writeHead(202).end("thanks"));
    const { send } = guardFor(server.port);
    const response = await send("/a?b=c", { method: "POST", body: "hello", headers: { "x-one": "1" } });
    expect([response.status, await response.text()]).toEqual([202, "thanks"]);
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: "POST", path: "/a?b=c", body: "hello" });
    expect(seen?.headers).toMatchObject({ host: `${name}:${server.port}`, "x-one": "1", "content-length": "5" });
    expect(seen?.headers["accept-encoding"]).toBeUndefined();
  });

  test("leaves a compressed body as it is", async () => {
    const body = gzipSync("secret".repeat(100));
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(body),
    );
    const response = await guardFor(server.port).send();
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
  });

  test("opens a connection of its own for each attempt and resolves once for it", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const { send, resolver } = guardFor(server.port);
    await send();
    await send();
    expect([server.connections(), resolver.calls.length]).toEqual([2, 2]);
    await until(() => server.closed() === 2);
  });

  test("connects to the answer that it checked when the name changes meanwhile", async () => {
    await using server = await httpLoopback((_request, response) => response.end("ok"));
    const resolver = fakeResolver({ "app.example.test": [["127.0.0.1"], ["169.254.169.254"]] });
    const allow = parseOutboundAllow(`app.example.test:${server.port}`);
    const guard = createGuard({ clock: createFakeClock(), allow, resolve: resolver.resolve });
    const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
    const url = new URL(`http://app.example.test:${server.port}/`);
    expect((await context.fetch(url)).status).toBe(200);
    expect((await failure(context.fetch(url))).said).toEqual(blockedAt(url));
    expect(resolver.calls.length).toBe(2);
  });

  test.each([
    ["one private among public", ["93.184.215.14", "10.0.0.1"]],
    ["private first", ["192.168.1.1", "93.184.215.14"]],
    ["a private AAAA", ["93.184.215.14", "fd00::1"]],
    ["loopback", ["127.0.0.1"]],
    ["metadata", ["169.254.169.254"]],
    ["an embedded public address", ["::ffff:93.184.215.14"]],
    ["a link-local address with a zone", ["fe80::1%eth0"]],
    ["no address at all", ["not-an-address"]],
  ])("refuses a name whose answers have %s, without a word about them", async (_what, answers) => {
    const resolver = fakeResolver({ "evil.example.test": answers });
    const guard = createGuard({ clock: createFakeClock(), allow: parseOutboundAllow(""), resolve: resolver.resolve });
    const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
    const url = new URL("http://evil.example.test/");
    const error = await failure(context.fetch(url));
    expect([error.code, error.said]).toEqual(["rejected", blockedAt(url)]);
    for (const answer of answers) expect(JSON.stringify(error)).not.toContain(answer);
  });

  test("refuses more answers than anybody has", async () => {
    const answers = Array.from({ length: 65 }, (_, index) => `93.184.215.${index}`);
    const guard = createGuard({
      clock: createFakeClock(),
      allow: parseOutboundAllow(""),
      resolve: fakeResolver({ "many.example.test": answers }).resolve,
    });
    const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
    expect((await failure(context.fetch(new URL("http://many.example.test/")))).code).toBe("rejected");
  });

  test.each([
    ["no answer", async () => []],
    ["an error", async () => Promise.reject(new Error("ENOTFOUND"))],
  ])("fails as unreachable when the resolver gives %s", async (_what, resolve) => {
    const guard = createGuard({ clock: createFakeClock(), allow: parseOutboundAllow(""), resolve });
    const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
    expect((await failure(context.fetch(new URL("https://gone.example.test/")))).code).toBe("unreachable");
  });

  test.each([
    "http://127.0.0.1/",
    "http://0x7f.1/",
    "https://[::1]/",
    "http://localhost/",
    "https://a.example.test:22/",
    "ftp://a.example.test/",
    "https://u:p@a.example.test/",
  ])("refuses %s at send without asking DNS", async (url) => {
    const resolver = fakeResolver({ "a.example.test": ["93.184.215.14"] });
    const guard = createGuard({ clock: createFakeClock(), allow: parseOutboundAllow(""), resolve: resolver.resolve });
    const context = guard.open({ purpose: "webhook", timeout_ms: 1000, signal: new AbortController().signal });
    expect((await failure(context.fetch(new URL(url)))).said).toEqual(blockedAt(new URL(url)));
    expect(resolver.calls).toEqual([]);
  });

  test.each([301, 302, 303, 307, 308])("takes %i for a failed attempt of one request", async (status) => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(status, { location: "/next" }).end(),
    );
    const error = await failure(guardFor(server.port).send());
    expect(error.code).toBe("rejected");
    expect(error.message).toContain(String(status));
    expect(server.seen.length).toBe(1);
  });

  test.each([200, 204, 300, 304, 400, 410, 500])(
    "reports status %i and leaves the judgement to the caller",
    async (status) => {
      await using server = await httpLoopback((_request, response) => response.writeHead(status).end());
      expect((await guardFor(server.port).send()).status).toBe(status);
    },
  );

  test.each([
    ["nothing at all", ""],
    ["a header that never ends", "HTTP/1.1 200 OK\r\nx-slow: "],
    ["a body that never ends", "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"],
    ["a chunk that never ends", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n"],
  ])("cuts a server that drips %s at the deadline", async (_what, head) => {
    let drips = 0;
    await using server = await rawLoopback((socket) => {
      socket.write(head);
      const timer = setInterval(() => {
        if (head !== "") socket.write("a");
        drips += 1;
        if (socket.destroyed) clearInterval(timer);
      }, 1);
      socket.on("close", () => clearInterval(timer));
    });
    const { clock, send } = guardFor(server.port);
    const work = failure(send());
    await until(() => drips > 5);
    await clock.advance(9_999);
    expect(clock.pending()).toEqual([1]);
    await clock.advance(1);
    const error = await work;
    expect([error.code, error.message]).toEqual([
      "unreachable",
      `Request to "${name}:${server.port}" timed out after 10 s`,
    ]);
    await until(() => server.closed() === 1);
  });

  test("counts a resolver that never answers against the deadline", async () => {
    const clock = createFakeClock();
    const guard = createGuard({ clock, allow: parseOutboundAllow(""), resolve: () => new Promise(() => undefined) });
    const context = guard.open({ purpose: "webhook", timeout_ms: 5_000, signal: new AbortController().signal });
    const error = await clock.runUntil(failure(context.fetch(new URL("https://slow.example.test/"))));
    expect(error.message).toContain("timed out after 5 s");
  });

  test("takes 20 KiB of headers", async () => {
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(200, { "x-a": "a".repeat(10_000), "x-b": "b".repeat(10_000) }).end(),
    );
    expect((await guardFor(server.port).send()).headers.get("x-b")?.length).toBe(10_000);
  });

  test("refuses more than 32 KiB of headers, also when they come to an end", async () => {
    const long = "a".repeat(10_000);
    await using server = await httpLoopback((_request, response) =>
      response.writeHead(200, { "x-a": long, "x-b": long, "x-c": long, "x-d": long }).end(),
    );
    expect((await failure(guardFor(server.port).send())).message).toContain("more than 32 KiB of headers");
  });

  test("refuses a flood of headers", async () => {
    await using server = await rawLoopback((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const flood = () => {
        while (!socket.destroyed && socket.write(`x-flood: ${"a".repeat(8_000)}\r\n`));
      };
      socket.on("drain", flood);
      flood();
    });
    const error = await failure(guardFor(server.port).send());
    expect([error.code, error.message]).toEqual([
      "malformed",
      `Request to "${name}:${server.port}" failed: the response has more than 32 KiB of headers`,
    ]);
    await until(() => server.closed() === 1);
  });

  test.each([
    ["probe", 65_536],
    ["webhook", 8_192],
  ] as const)("keeps the start of an endless body for a %s and ends the connection", async (purpose, size) => {
    await using server = await rawLoopback((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const flood = () => {
        while (!socket.destroyed && socket.write("a".repeat(10_000)));
      };
      socket.on("drain", flood);
      flood();
    });
    const response = await guardFor(server.port, purpose).send();
    expect((await response.arrayBuffer()).byteLength).toBe(size);
    await until(() => server.closed() === 1);
  });

  test.each([
    ["resets", (socket: import("node:net").Socket) => socket.resetAndDestroy(), "unreachable"],
    ["hangs up", (socket: import("node:net").Socket) => socket.end(), "unreachable"],
    ["speaks something else", (socket: import("node:net").Socket) => socket.end("SSH-2.0-OpenSSH_9\r\n"), "malformed"],
    [
      "switches protocols",
      (socket: import("node:net").Socket) =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      "malformed",
    ],
  ])("fails when the server %s, naming no address", async (_what, answer, code) => {
    await using server = await rawLoopback(answer);
    const error = await failure(guardFor(server.port).send());
    expect<string>(error.code).toBe(code);
    expect(error.message).not.toContain("127.0.0.1");
  });

  test("fails as unreachable when nobody listens, naming no address", async () => {
    const server = await rawLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    const error = await failure(guardFor(server.port).send());
    expect(error.message).toBe(`Request to "${name}:${server.port}" failed: the connection was refused`);
  });

  test("ends when its caller aborts", async () => {
    await using server = await rawLoopback(() => undefined);
    const { controller, send, clock } = guardFor(server.port);
    const work = failure(send());
    await until(() => server.connections() === 1);
    controller.abort();
    expect((await work).message).toContain("was cancelled");
    expect(clock.pending()).toEqual([]);
  });
});

describe("createGuard() over TLS", () => {
  const fixtures = join(import.meta.dir, "../fixtures/tls");
  const certificate = join(fixtures, "certificate.pem");

  /** In a process of its own, because trust and proxies come from the environment at start. */
  async function sendFromChild(host: string, env: Record<string, string>): Promise<unknown> {
    const seen: string[] = [];
    const server = https.createServer(
      { key: readFileSync(join(fixtures, "key.pem")), cert: readFileSync(certificate) },
      (request, response) => {
        const name = "servername" in request.socket ? String(request.socket.servername) : "";
        seen.push(`${request.headers.host} ${name}`);
        response.end("ok");
      },
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const script = join(import.meta.dir, "../support/guarded-request.ts");
    const child = Bun.spawn([process.execPath, script, `https://${host}:${port}/`], {
      env: { PATH: process.env.PATH ?? "", ...env },
      stdout: "pipe",
      stderr: "ignore",
    });
    const output = (await new Response(child.stdout).text()).replaceAll(String(port), "PORT");
    server.close();
    return { ...JSON.parse(output), seen: seen.map((line) => line.replaceAll(String(port), "PORT")) };
  }

  test("keeps host and server name of the URL, whatever the proxy variables say", async () => {
    const proxy = "http://127.0.0.1:1";
    const env = {
      NODE_EXTRA_CA_CERTS: certificate,
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: "1",
    };
    expect(await sendFromChild("secure.example.test", env)).toEqual({
      status: 200,
      seen: ["secure.example.test:PORT secure.example.test"],
    });
  });

  test("refuses a certificate for another name", async () => {
    expect(await sendFromChild("other.example.test", { NODE_EXTRA_CA_CERTS: certificate })).toEqual({
      code: "unreachable",
      message: 'Request to "other.example.test:PORT" failed: the certificate is for another name',
      seen: [],
    });
  });

  test("refuses an untrusted certificate, also when the environment wants verification off", async () => {
    expect(await sendFromChild("secure.example.test", { NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toEqual({
      code: "unreachable",
      message: 'Request to "secure.example.test:PORT" failed: the certificate is self-signed',
      seen: [],
    });
  });
});

describe("createGuard().connect()", () => {
  const signal = new AbortController().signal;
  const open = (answers: Readonly<Record<string, readonly string[]>>, ownPort: number | null = null) =>
    createGuard({
      clock: createFakeClock(),
      allow: parseOutboundAllow(""),
      resolve: fakeResolver(answers).resolve,
      ownPort: () => ownPort,
    });

  test.each(["redis", "127.0.0.1"])("connects to a private place by %s", async (host) => {
    await using server = await rawLoopback(() => undefined);
    await open({ redis: ["127.0.0.1"] }).connect(host, server.port, signal);
    await until(() => server.closed() === 1);
    expect(server.connections()).toBe(1);
  });

  test("tries the next address of a name when the first does not answer", async () => {
    await using server = await rawLoopback(() => undefined);
    await open({ redis: ["127.0.0.9", "127.0.0.1"] }).connect("redis", server.port, signal);
  });

  test.each([
    ["169.254.169.254"],
    ["::ffff:169.254.169.254"],
    ["168.63.129.16"],
    ["169.254.1.1"],
    ["fe80::1"],
    ["::ffff:169.254.1.1"],
    ["fd00:ec2::254"],
    ["224.0.0.1"],
  ])("refuses %s, as a literal and behind a name", async (address) => {
    const guard = open({ "a.example.test": ["10.0.0.1", address] });
    for (const host of [address, "a.example.test"]) {
      const error = await failure(guard.connect(host, 6379, signal));
      expect([error.code, error.message]).toEqual(["rejected", "Destination blocked"]);
    }
  });

  test.each([
    ["169.254.169.254"],
    ["2852039166"],
    ["0xa9.254.43518"],
    ["::ffff:169.254.169.254"],
    ["169.254.1.1"],
    ["fe80::1"],
    ["224.0.0.1"],
    ["metadata.google.internal"],
    ["127.0.0.1"],
    ["2130706433"],
  ])("judges %s as blocked when it is saved, and asks no DNS", (host) => {
    const resolver = fakeResolver({});
    const options = { clock: createFakeClock(), allow: parseOutboundAllow(""), ownPort: () => 6379 };
    const guard = createGuard({ ...options, resolve: resolver.resolve });
    expect(guard.judgeConnect(host, 6379)).toEqual(say("net.destination_blocked", { entry: null }));
    expect(guard.judgeConnect("10.0.0.1", 6379)).toBeNull();
    expect(guard.judgeConnect("redis", 6379)).toBeNull();
    expect(guard.judgeConnect("127.0.0.1", 6380)).toBeNull();
    expect(resolver.calls).toEqual([]);
  });

  test.each(["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"])(
    "refuses our own port at %s",
    async (address) => {
      await using server = await rawLoopback(() => undefined);
      const guard = open({ "me.example.test": [address] }, server.port);
      expect((await failure(guard.connect("me.example.test", server.port, signal))).message).toBe(
        "Destination blocked",
      );
      expect(server.connections()).toBe(0);
    },
  );

  test("fails as unreachable when nobody listens", async () => {
    const server = await rawLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    const error = await failure(open({ redis: ["127.0.0.1"] }).connect("redis", server.port, signal));
    expect([error.code, error.message]).toEqual(["unreachable", `Connection to "redis" port ${server.port} failed`]);
  });
});
