import { createConnection, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  port: number;
  /** From now on every connection over which nothing went for so long since the server's last bytes is cut; null for none. */
  cutAfter(ms: number | null): void;
  /** How many it has cut. */
  cuts(): number;
  stop(): Promise<void>;
}

/** Passes bytes on between a port of loopback and a server's, so that TLS is the server's own, and cuts what is told to be cut. */
export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let limit: number | null = null;
  let count = 0;
  const server = createServer((client) => {
    const upstream = createConnection({ host: "127.0.0.1", port: serverPort });
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      for (const each of [client, upstream]) {
        each.destroy();
        open.delete(each);
      }
    };
    for (const each of [client, upstream]) {
      open.add(each);
      each.on("error", end);
      each.on("close", end);
    }
    client.on("data", (bytes) => {
      clearTimeout(timer);
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      client.write(bytes);
      clearTimeout(timer);
      if (limit === null || client.destroyed) return;
      timer = setTimeout(() => {
        count += 1;
        end();
      }, limit);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return {
    port: address.port,
    cutAfter: (ms) => {
      limit = ms;
    },
    cuts: () => count,
    stop: async () => {
      for (const each of open) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
