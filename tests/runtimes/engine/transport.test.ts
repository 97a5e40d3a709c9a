import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAddress } from "../../../src/runtimes/engine/address.ts";
import { engineTransport } from "../../../src/runtimes/engine/transport.ts";
import { fakeResolver, httpLoopback, rawLoopback } from "../../support/loopback.ts";

/** The module object that the modem takes `inspect` from with every call. */
const util: { inspect: (...args: readonly unknown[]) => string } = createRequire(import.meta.url)("node:util");

test("send() has nothing written out in depth for a log that nobody reads", async () => {
  const socket = join(tmpdir(), `tidemark-transport-${process.pid}.sock`);
  const server = createServer((_request, response) => response.end("OK"));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const { inspect } = util;
  const written: string[] = [];
  util.inspect = (...args) => {
    const text = inspect(...args);
    written.push(text);
    return text;
  };
  try {
    const transport = engineTransport(engineAddress(`unix://${socket}`, false, null), new AbortController().signal);
    const ask = () => transport.send({ method: "GET", path: "/_ping", deadlineMs: 5_000 });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    expect(answers.map((each) => each.text)).toEqual(Array.from({ length: 8 }, () => "OK"));
    expect(written).toEqual([]);
  } finally {
    util.inspect = inspect;
    await new Promise((resolve) => server.close(resolve));
  }
});

test("send() says of a folder, which an engine mounts for a missing socket, that nothing listens there", async () => {
  const transport = engineTransport(engineAddress(`unix://${tmpdir()}`, false, null), new AbortController().signal);
  const sent = transport.send({ method: "GET", path: "/_ping", deadlineMs: 20_000 });
  await expect(sent).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringContaining("no engine listens at the socket"),
  });
});

describe("send() to an engine that lies", () => {
  const ask = async (bytes: string) => {
    await using server = await rawLoopback((socket) => socket.write(bytes));
    const transport = engineTransport(
      engineAddress(`tcp://127.0.0.1:${server.port}`, false, null),
      new AbortController().signal,
    );
    const sent = transport.send({ method: "GET", path: "/version", deadlineMs: 20_000 });
    const error = await sent.catch((thrown: unknown) => thrown);
    return { error, connections: server.connections() };
  };

  test.each([
    "ftp://engine.test/version",
    "javascript:alert(1)",
    "http://[::1",
    "http://169.254.169.254/latest/meta-data/",
    "/version",
    "",
  ])("does not follow a redirect to %p, which ends no process", async (location) => {
    for (const status of [300, 301, 302, 303, 305, 307, 308, 399]) {
      const { error, connections } = await ask(
        `HTTP/1.1 ${status} Elsewhere\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
      );
      const message = `The engine did not respond to GET /version: it is a redirect (${status}), which is not followed`;
      expect(error).toMatchObject({ code: "rejected", message });
      expect(connections).toBe(1);
    }
  });

  test.each([
    ["HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nx", "it switched protocols without"],
    ["HTTP/1.1 101 Switching Protocols\r\n\r\n", "its status is 101"],
    ["HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000), "it kept sending interim responses"],
    ["HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "its status is 999"],
    ["HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n", "its status is 0"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "the response is not HTTP"],
    ["\x15\x03\x01\0\x02\x02\x46", "it accepts https only"],
    [`HTTP/1.1 200 OK\r\nA: ${"a".repeat(100_000)}\r\n\r\n`, "the response has more than 32 KiB of headers"],
  ])("says at once what is wrong with an answer: %#", async (bytes, reason) => {
    const { error } = await ask(bytes);
    expect(error).toMatchObject({ code: "malformed", message: expect.stringContaining(reason) });
  });

  test("says that it accepts https only, as a daemon on 2376 does", async () => {
    const body = "Client sent an HTTP request to an HTTPS server.\n";
    const { error } = await ask(`HTTP/1.0 400 Bad Request\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    expect(error).toMatchObject({ code: "rejected", message: expect.stringContaining("it accepts https only") });
  });

  test("what its reader throws ends the stream and nothing else", async () => {
    await using server = await httpLoopback((_request, response) => response.end("{}"));
    const transport = engineTransport(
      engineAddress(`tcp://127.0.0.1:${server.port}`, false, null),
      new AbortController().signal,
    );
    const read = () => {
      throw new Error("not readable");
    };
    const sent = transport.stream({ method: "POST", path: "/images/create", deadlineMs: 20_000 }, read);
    expect(await sent.catch((thrown: unknown) => thrown)).toMatchObject({
      message: expect.stringContaining("readable"),
    });
  });
});

describe("send() to an engine by tcp", () => {
  const ping = { method: "GET", path: "/_ping", deadlineMs: 20_000 } as const;
  const transportTo = (address: string, tls: boolean, names: Readonly<Record<string, readonly string[]>>) =>
    engineTransport(engineAddress(address, tls, null), new AbortController().signal, fakeResolver(names).resolve);

  test("says what to turn off if the engine speaks plain HTTP", async () => {
    await using server = await httpLoopback((_request, response) => response.end("OK"));
    const transport = engineTransport(
      engineAddress(`tcp://127.0.0.1:${server.port}`, true, null),
      new AbortController().signal,
    );
    const error = await transport.send(ping).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "unreachable",
      message: expect.stringContaining('turn off "TLS verification"'),
    });
  });

  test("reaches a private name", async () => {
    await using server = await httpLoopback((_request, response) => response.end("OK"));
    const transport = transportTo(`tcp://engine.test:${server.port}`, false, { "engine.test": ["127.0.0.1"] });
    expect((await transport.send(ping)).text).toBe("OK");
  });

  test.each([
    ["tcp://169.254.169.254", []],
    ["tcp://2852039166", []],
    ["tcp://[::ffff:169.254.169.254]", []],
    ["tcp://engine.test", ["169.254.169.254"]],
    ["tcp://engine.test", ["127.0.0.1", "168.63.129.16"]],
  ])("refuses the metadata address at %s %j, with TLS and without", async (address, answers) => {
    await using server = await httpLoopback((_request, response) => response.end("OK"));
    for (const tls of [false, true]) {
      const sent = transportTo(`${address}:${server.port}`, tls, { "engine.test": answers }).send(ping);
      const error = await sent.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "rejected", message: "Destination blocked" });
    }
    expect(server.connections()).toBe(0);
  });
});
