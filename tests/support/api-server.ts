import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { systemClock } from "../../src/clock.ts";
import type { ClusterAccess } from "../../src/runtimes/kubernetes/access.ts";
import { type Cluster, openCluster } from "../../src/runtimes/kubernetes/client.ts";
import { createAuthority } from "../peers/authority.ts";

export interface ApiServer extends AsyncDisposable {
  access: ClusterAccess;
  cluster: Cluster;
  /** `METHOD path`, in the order in which they came. */
  asked: string[];
}

/** A server over TLS that answers like a broken or hostile API server; `answer` gets each request. */
export async function startApiServer(
  answer: (request: IncomingMessage, response: ServerResponse, url: URL) => void,
  { name = "localhost", is_expired = false } = {},
): Promise<ApiServer> {
  const authority = createAuthority();
  const { cert_file, key_file } = authority.issue(name, "server", { is_expired });
  const asked: string[] = [];
  const server = createServer({ cert: readFileSync(cert_file), key: readFileSync(key_file) }, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response, new URL(request.url ?? "/", "https://localhost"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  const access = {
    server: new URL(`https://localhost:${address.port}`),
    tls_server_name: null,
    ca: authority.ca,
    cert: null,
    key: null,
    authorization: "Bearer very-secret-token",
  };
  const cluster = openCluster(access, { clock: systemClock, signal: new AbortController().signal });
  return {
    access,
    cluster,
    asked,
    [Symbol.asyncDispose]: async () => {
      cluster.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      authority.remove();
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
