import net, { type Server, type Socket } from "node:net";
import type { HeardRequest } from "./hostile-responses.ts";

/** A request as far as a good answer depends on it. */
export interface AskedFor extends HeardRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
}

export interface HostileServer extends AsyncDisposable {
  /** Zero where it listens on a socket's path. */
  port: number;
  connections(): number;
}

/**
 * A stand-in that speaks bytes: what `good` answers is answered so, everything else by `play`. On a free port of loopback, or on a
 * unix socket where a path is given.
 */
export async function hostileServer(options: {
  path?: string;
  play: (socket: Socket, heard: HeardRequest) => void;
  good?: (request: AskedFor, count: number) => { type: string; text: string | Uint8Array } | null;
}): Promise<HostileServer> {
  let connections = 0;
  let count = 0;
  const open = new Set<Socket>();
  const answer = (socket: Socket, request: AskedFor) => {
    count += 1;
    const good = options.good?.(request, count) ?? null;
    if (good === null) return options.play(socket, request);
    const length = Buffer.byteLength(good.text);
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: ${good.type}\r\nContent-Length: ${length}\r\nDocker-Content-Digest: sha256:${"0".repeat(64)}\r\n\r\n`,
    );
    socket.write(good.text);
  };
  const server: Server = net.createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = wholeRequest(received);
      if (request === null) return;
      received = Buffer.alloc(0);
      answer(socket, request);
    });
  });
  await new Promise<void>((resolve) => {
    if (options.path === undefined) server.listen(0, "127.0.0.1", resolve);
    else server.listen(options.path, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** The request that these bytes are; null until all of it is there. What is no HTTP is taken as it comes. */
function wholeRequest(received: Buffer): AskedFor | null {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) {
    const isHttp = /^[A-Z]{3,7} /.test(received.subarray(0, 8).toString("latin1"));
    return isHttp ? null : { head: received.toString("latin1"), body: "", method: "", path: "", headers: {} };
  }
  const head = received.subarray(0, end).toString("latin1");
  const [line = "", ...rest] = head.split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.fromEntries(
    rest.map((each) => [each.slice(0, each.indexOf(":")).toLowerCase(), each.slice(each.indexOf(":") + 1).trim()]),
  );
  const body = received.subarray(end + 4);
  if (body.length < Number(headers["content-length"] ?? "0")) return null;
  return { head, body: body.toString("utf8"), method, path, headers };
}
