import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Registry } from "../peers/registry.ts";

export interface LeavingRegistry {
  /** `127.0.0.1:PORT`, as image references have it. */
  host: string;
  /** The next answer with a layer goes out half and then nothing more; resolves when that has happened. */
  stallNextLayer(): Promise<void>;
  /** Breaks every connection and answers nobody any more, until `comeBack`. */
  leave(): void;
  comeBack(): void;
  stop(): Promise<void>;
}

/** Smaller blobs are configs: these pass. */
const leastLayerBytes = 2_000;

/** Stands before a real registry and can go away in the middle of a layer. */
export async function startLeavingRegistry(registry: Registry): Promise<LeavingRegistry> {
  const open = new Set<Socket>();
  let stalling: (() => void) | null = null;
  let isGone = false;

  const pass = async (method: string, path: string, accept: string, answer: ServerResponse) => {
    const upstream = await fetch(`${registry.url}${path}`, { method, headers: { accept }, redirect: "manual" });
    const bytes = Buffer.from(await upstream.arrayBuffer());
    for (const name of ["content-type", "docker-content-digest", "docker-distribution-api-version", "etag"]) {
      const value = upstream.headers.get(name);
      if (value !== null) answer.setHeader(name, value);
    }
    const length = method === "HEAD" ? (upstream.headers.get("content-length") ?? "0") : String(bytes.byteLength);
    answer.writeHead(upstream.status, { "content-length": length });
    const isLayer = method === "GET" && path.includes("/blobs/") && bytes.byteLength > leastLayerBytes;
    if (stalling === null || !isLayer) {
      answer.end(bytes);
      return;
    }
    answer.write(bytes.subarray(0, Math.floor(bytes.byteLength / 2)));
    stalling();
  };

  const server = createServer((request, answer) => {
    if (isGone) {
      request.socket.destroy();
      return;
    }
    pass(request.method ?? "GET", request.url ?? "/", request.headers.accept ?? "*/*", answer).catch(() => {
      request.socket.destroy();
    });
  });
  server.on("connection", (socket: Socket) => {
    if (isGone) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("The system gave no port");

  return {
    host: `127.0.0.1:${at.port}`,
    stallNextLayer: () =>
      new Promise((resolve) => {
        stalling = resolve;
      }),
    leave: () => {
      isGone = true;
      for (const socket of open) socket.destroy();
    },
    comeBack: () => {
      isGone = false;
      stalling = null;
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
