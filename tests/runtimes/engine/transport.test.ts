import { expect, test } from "bun:test";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAddress } from "../../../src/runtimes/engine/address.ts";
import { engineTransport } from "../../../src/runtimes/engine/transport.ts";

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
