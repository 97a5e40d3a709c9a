import { rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";

/**
 * How a call is broken. Up to `before` the engine never sees it; from `after` on it has done its work and only the answer is
 * lost.
 */
export const faults = [
  "500",
  "409",
  "html_403",
  "reset_before",
  "hang_before",
  "reset_after",
  "hang_after",
  "truncated_after",
] as const;
export type Fault = (typeof faults)[number];

export interface EngineProxy {
  socket: string;
  /** `POST /containers/x/stop`, without the version, in the order of their arrival. */
  calls(): readonly string[];
  /** Breaks the nth call from now (from 1), once. */
  breakCall(n: number, fault: Fault): void;
  /** Answers 403 in HTML, as socket proxies do, for every call that matches. */
  forbid(pattern: RegExp | null): void;
  /**
   * Called around every call: `before` the engine sees it, and `after` it has done its work, before the answer's end goes out.
   * For ending the client at exactly that point.
   */
  around(hook: ((label: string, when: "before" | "after") => Promise<void>) | null): void;
  /** Whether the fault has been met. */
  wasBroken(): boolean;
  stop(): Promise<void>;
}

/** A unix socket before an engine's socket, one call per connection, which breaks the call it is told to break. */
export async function startEngineProxy(engineSocket: string, socket: string): Promise<EngineProxy> {
  let calls: string[] = [];
  let countdown = 0;
  let fault: Fault | null = null;
  let forbidden: RegExp | null = null;
  const open = new Set<Socket>();
  let hook: ((label: string, when: "before" | "after") => Promise<void>) | null = null;

  const answer = (client: Socket, head: Buffer, label: string) => {
    calls.push(label);
    if (forbidden?.test(label)) {
      client.end(response(403, "text/html", "<html><body><h1>403 Forbidden</h1></body></html>"));
      return;
    }
    countdown -= 1;
    const broken = countdown === 0 ? fault : null;
    if (broken === "500") client.end(response(500, "application/json", '{"message":"broken by the test"}'));
    else if (broken === "409") client.end(response(409, "application/json", '{"message":"conflict by the test"}'));
    else if (broken === "html_403") client.end(response(403, "text/html", "<html><h1>403 Forbidden</h1></html>"));
    else if (broken === "reset_before") client.destroy();
    else if (broken === "hang_before") return;
    else if (hook === null) forward(client, head, broken, label);
    else hook(label, "before").then(() => forward(client, head, broken, label));
  };

  const forward = (client: Socket, head: Buffer, broken: Fault | null, label: string) => {
    const upstream = createConnection(engineSocket);
    track(upstream);
    upstream.write(head);
    if (broken === null) {
      upstream.on("data", (chunk) => client.write(chunk));
      upstream.on("end", () => {
        if (hook === null) client.end();
        else hook(label, "after").then(() => client.end());
      });
      return;
    }
    const chunks: Buffer[] = [];
    upstream.on("data", (chunk: Buffer) => chunks.push(chunk));
    upstream.on("end", () => {
      if (broken === "hang_after") return;
      if (broken === "truncated_after") {
        const whole = Buffer.concat(chunks);
        const body = whole.indexOf("\r\n\r\n") + 4;
        client.write(whole.subarray(0, body + Math.floor((whole.length - body) / 2)));
      }
      client.destroy();
    });
  };

  const track = (each: Socket) => {
    open.add(each);
    each.on("close", () => open.delete(each));
    each.on("error", () => each.destroy());
  };

  const server = createServer((client) => {
    track(client);
    let received = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = completeRequest(received);
      if (request !== null) answer(client, request.bytes, request.label);
    });
  });
  rmSync(socket, { force: true });
  await new Promise<void>((resolve) => server.listen(socket, resolve));

  return {
    socket,
    calls: () => calls,
    breakCall: (n, how) => {
      countdown = n;
      fault = how;
      calls = [];
    },
    around: (next) => {
      hook = next;
    },
    forbid: (pattern) => {
      forbidden = pattern;
    },
    wasBroken: () => fault !== null && countdown <= 0,
    stop: async () => {
      for (const each of open) each.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The request, so that each one comes on a connection of its own; null until its body is there. */
function completeRequest(received: Buffer): { bytes: Buffer; label: string } | null {
  const head = requestHead(received);
  if (head === null) return null;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head.text)?.[1] ?? "0");
  if (head.rest.length < length) return null;
  return {
    bytes: Buffer.concat([Buffer.from(head.closing, "latin1"), head.rest]),
    label: `${head.method} ${head.path}`,
  };
}

export interface RequestHead {
  method: string;
  /** Without the version and the query. */
  path: string;
  /** The head as it came, without its last empty line. */
  text: string;
  /** The head to be sent on: with `Connection: close`. */
  closing: string;
  /** What has come of the body. */
  rest: Buffer;
}

/** The head of the request that these bytes begin with; null until all of it is there. */
export function requestHead(received: Buffer): RequestHead | null {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const text = received.subarray(0, end).toString("latin1");
  const [line = ""] = text.split("\r\n");
  const [method = "", target = ""] = line.split(" ");
  const path = target.replace(/^\/v[0-9.]+(?=\/)/, "").replace(/\?.*$/, "");
  const closing = `${text.replace(/\r\nconnection:[^\r]*/i, "")}\r\nConnection: close\r\n\r\n`;
  return { method, path, text, closing, rest: received.subarray(end + 4) };
}

function response(status: number, type: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} Broken\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}
