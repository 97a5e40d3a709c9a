import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestHead } from "../support/engine-proxy.ts";
import type { TestEngine } from "./engine.ts";

/** HAProxy's words, which the socket proxies that people run are made of. */
const forbidden = [
  "HTTP/1.0 403 Forbidden",
  "Cache-Control: no-cache",
  "Connection: close",
  "Content-Type: text/html",
  "",
  "<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n</body></html>\n",
].join("\r\n");

/** Whether a call may pass; `path` is without its version and its query, e.g. `/containers/json`. */
export type ProxyRule = (method: string, path: string) => boolean;

export interface SocketProxyOptions {
  engine: Pick<TestEngine, "socket">;
  allow: ProxyRule;
  /** `unix` when left out; `tcp` listens on a free port of 127.0.0.1. */
  listen?: "unix" | "tcp";
}

export interface SocketProxy {
  /** `unix:///…` or `tcp://127.0.0.1:PORT`, as a connection's configuration names it. */
  address: string;
  /** What was refused since the start, as `POST /containers/create`, in the order of arrival. */
  refused: readonly string[];
  /** What was let through, likewise. */
  passed: readonly string[];
  /** Other rules from now on. */
  allow(rule: ProxyRule): void;
  stop(): Promise<void>;
}

/**
 * A socket proxy as people put before an engine: it passes what its rules allow, bodies and streams as they come, and answers
 * anything else with 403 and a page. For calls that break underway there is `startEngineProxy` of tests/support.
 */
export async function startSocketProxy(options: SocketProxyOptions): Promise<SocketProxy> {
  const { engine } = options;
  let rule = options.allow;
  const refused: string[] = [];
  const passed: string[] = [];
  const open = new Set<Socket>();
  const track = (each: Socket) => {
    open.add(each);
    each.once("close", () => open.delete(each));
    each.on("error", () => each.destroy());
  };

  const answer = (client: Socket, received: Buffer): boolean => {
    const head = requestHead(received);
    if (head === null) return false;
    const { method, path, rest } = head;
    const isAllowed = rule(method, path);
    (isAllowed ? passed : refused).push(`${method} ${path}`);
    if (!isAllowed) {
      // What comes of its body is read to the end, as otherwise the answer might be lost to a reset.
      client.resume();
      client.end(forbidden);
      return true;
    }
    const upstream = createConnection({ path: engine.socket, allowHalfOpen: true });
    track(upstream);
    // One call per connection, so that each is judged; but what becomes a stream of its own keeps its headers.
    const becomesStream = /\r\nupgrade:/i.test(head.text);
    const start = Buffer.from(becomesStream ? `${head.text}\r\n\r\n` : head.closing, "latin1");
    // At once, as it came: an engine that reads the head alone before it refuses would reset the connection over the rest.
    upstream.write(Buffer.concat([start, rest]));
    client.pipe(upstream);
    upstream.pipe(client);
    client.once("close", () => upstream.destroy());
    // What it answered before still has to arrive.
    upstream.once("error", () => client.end());
    return true;
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    let received = Buffer.alloc(0);
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (answer(client, received)) client.off("data", take);
    };
    client.on("data", take);
    client.once("end", () => {
      if (requestHead(received) === null) client.end();
    });
  });

  const folder = mkdtempSync(join(tmpdir(), "tidemark-proxy-"));
  const socket = join(folder, "docker.sock");
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (options.listen === "tcp") server.listen(0, "127.0.0.1", resolve);
    else server.listen(socket, resolve);
  });
  const at = server.address();
  return {
    address: typeof at === "object" && at !== null ? `tcp://127.0.0.1:${at.port}` : `unix://${socket}`,
    refused,
    passed,
    allow: (next) => {
      rule = next;
    },
    stop: async () => {
      for (const each of open) each.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
