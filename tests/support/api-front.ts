import { readFileSync } from "node:fs";
import { Agent, createServer, request } from "node:https";
import type { Cluster } from "../peers/kubernetes.ts";

export interface ApiFront {
  url: string;
  /** What was asked, in the order in which it came. */
  asked: { method: string; path: string; query: URLSearchParams; status: number; bytes: number }[];
  stop(): Promise<void>;
}

/**
 * Ends TLS before a cluster's API server, by the same authority, and passes everything on as it came. `before` may hold a request up; it
 * gets how many came before.
 */
export async function startApiFront(
  cluster: Pick<Cluster, "issue" | "url" | "ca">,
  before: (count: number) => Promise<void> = async () => undefined,
): Promise<ApiFront> {
  const { cert_file, key_file } = cluster.issue("127.0.0.1", "server");
  const asked: ApiFront["asked"] = [];
  const agent = new Agent({ ca: cluster.ca, keepAlive: false });
  const server = createServer({ cert: readFileSync(cert_file), key: readFileSync(key_file) }, (incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const { pathname: path, searchParams: query } = new URL(url, cluster.url);
    const entry = { method, path, query, status: 0, bytes: 0 };
    const count = asked.push(entry) - 1;
    before(count).then(
      () => {
        const passed = request(`${cluster.url}${url}`, { method, headers, agent }, (answer) => {
          entry.status = answer.statusCode ?? 502;
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.on("data", (bytes: Uint8Array) => {
            entry.bytes += bytes.byteLength;
          });
          answer.pipe(outgoing);
        });
        passed.on("error", () => outgoing.destroy());
        outgoing.on("close", () => passed.destroy());
        incoming.pipe(passed);
      },
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return {
    url: `https://127.0.0.1:${address.port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
