import { systemClock } from "../../src/clock.ts";
import { kubernetes } from "../../src/runtimes/kubernetes/index.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";

/** A session as the product opens it, for workloads in all namespaces, by a token. */
export async function openClusterSession(server: string, token: string, ca: string): Promise<RuntimeSession> {
  return await kubernetes.open(
    { server, helm: false },
    { token, ca_certificate: ca },
    {
      clock: systemClock,
      signal: new AbortController().signal,
      fetch: () => Promise.reject(new Error("Clusters bring their own transport")),
      self: { hostname: "somewhere-else", data_dir: "/nowhere/tidemark" },
    },
  );
}
