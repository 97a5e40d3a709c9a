import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAddress } from "../../../src/runtimes/engine/address.ts";
import { engineTransport } from "../../../src/runtimes/engine/transport.ts";
import { fakeResolver, httpLoopback } from "../../support/loopback.ts";

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
    // What is found to be written at all shows that the modem still does so.
    expect(written).toHaveLength(8);
    expect(written.join("\n")).not.toMatch(/(Agent|AbortSignal) *(<[^>]*> *)?\{/);
  } finally {
    util.inspect = inspect;
    await new Promise((resolve) => server.close(resolve));
  }
});

describe("send() to an engine by tcp", () => {
  const ping = { method: "GET", path: "/_ping", deadlineMs: 20_000 } as const;
  const transportTo = (address: string, tls: boolean, names: Readonly<Record<string, readonly string[]>>) =>
    engineTransport(engineAddress(address, tls, null), new AbortController().signal, fakeResolver(names).resolve);

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
