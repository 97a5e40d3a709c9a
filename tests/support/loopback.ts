import http, { type IncomingMessage, type ServerResponse } from "node:http";
import net, { type Socket } from "node:net";
import type { Resolve } from "../../src/net/resolve.ts";

/** A server on a free loopback port that counts what reaches it. */
export interface Loopback extends AsyncDisposable {
  port: number;
  connections(): number;
  /** Connections that were opened and have ended. */
  closed(): number;
}

function listen(server: net.Server): Promise<Loopback> {
  let connections = 0;
  let closed = 0;
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      closed += 1;
      open.delete(socket);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        connections: () => connections,
        closed: () => closed,
        async [Symbol.asyncDispose]() {
          for (const socket of open) socket.destroy();
          await new Promise((done) => server.close(done));
        },
      });
    });
  });
}

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface HttpLoopback extends Loopback {
  seen: readonly SeenRequest[];
}

/** An HTTP server; `answer` is called when the whole request was read. */
export async function httpLoopback(
  answer: (request: SeenRequest, response: ServerResponse, count: number) => void,
): Promise<HttpLoopback> {
  const seen: SeenRequest[] = [];
  const server = http.createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const request = { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body };
      seen.push(request);
      answer(request, response, seen.length);
    });
  });
  const loopback = await listen(server);
  return Object.assign(loopback, { seen });
}

/** A server that speaks bytes: `answer` is called with the socket once the first bytes of a request have come. */
export function rawLoopback(answer: (socket: Socket) => void): Promise<Loopback> {
  return listen(
    net.createServer((socket) => {
      socket.once("data", () => answer(socket));
      socket.resume();
    }),
  );
}

export interface FakeResolver {
  resolve: Resolve;
  calls: string[];
}

/** A resolver with fixed answers per name; a name that it does not know has none. Successive answers for a list of lists. */
export function fakeResolver(
  answers: Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>,
): FakeResolver {
  const calls: string[] = [];
  return {
    calls,
    resolve: async (host) => {
      const times = calls.filter((call) => call === host).length;
      calls.push(host);
      const all: readonly (string | readonly string[])[] = answers[host] ?? [];
      const turn = all[Math.min(times, all.length - 1)];
      const addresses = Array.isArray(turn) ? turn : all;
      return addresses.map((address) => ({ address: String(address), family: String(address).includes(":") ? 6 : 4 }));
    },
  };
}
