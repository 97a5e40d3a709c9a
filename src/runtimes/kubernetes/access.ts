import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { RuntimeContext } from "../runtime.ts";
import { requireTlsMaterial } from "../tls-material.ts";
import { contextsIn, type Kubeconfig, parseKubeconfig, readKubeconfig } from "./kubeconfig.ts";
import { type Config, isServer, type Secret } from "./schema.ts";

/** How the API server is reached. Its certificate is always verified: by `ca`, or by the system's authorities if that is null. */
export interface ClusterAccess {
  server: URL;
  /** The name in the server's certificate, if it is not the one in the address. */
  tls_server_name: string | null;
  /** PEM. */
  ca: string | null;
  cert: string | null;
  key: string | null;
  /** The `Authorization` header; null without one. */
  authorization: string | null;
  /** Reads the header again, before each request: tokens of pods are renewed, and one may expire during a long rollout. */
  renew?(): Promise<void>;
}

const rejected = (said: ReturnType<typeof say>, options: { field?: string; cause?: unknown } = {}) =>
  new PluginError("rejected", said, options);

/** Never reads a kubeconfig or variable of this machine, only the connection and its credential. Throws `rejected`. */
export async function accessOf(
  config: Config,
  secret: Secret | null,
  service_account: RuntimeContext["self"]["service_account"],
): Promise<ClusterAccess> {
  if (config.in_cluster) return await ownAccess(service_account);
  if (secret === null) throw rejected(say("kubernetes.credential_missing"), { field: "credential_id" });
  const { server: named, ...login } = loginOf(secret, kubeconfigOf(secret), config.context);
  const server = config.server === "" ? named : config.server;
  if (server === "") throw rejected(say("kubernetes.server_missing"), { field: "config.server" });
  return { ...login, server: serverOf(server) };
}

/** Throws `rejected` for a secret that no connection can use, whichever context it chooses. */
export function judgeSecret(secret: Secret): void {
  const kubeconfig = kubeconfigOf(secret);
  const { contexts, current } = kubeconfig === null ? { contexts: [], current: "" } : contextsIn(kubeconfig);
  const names = contexts.map(({ name }) => name);
  let problem: PluginError | null = null;
  // With several contexts, the problem of the current one is reported.
  for (const context of names.includes(current) ? [current, ...names] : names.length === 0 ? [""] : names) {
    try {
      loginOf(secret, kubeconfig, context);
      return;
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      problem ??= error;
    }
  }
  if (problem !== null) throw problem;
}

function kubeconfigOf({ kubeconfig }: Secret): Kubeconfig | null {
  return kubeconfig === null ? null : parseKubeconfig(kubeconfig);
}

/** All but where: `server` is that of the kubeconfig, or blank. */
function loginOf(
  secret: Secret,
  kubeconfig: Kubeconfig | null,
  context: string,
): Omit<ClusterAccess, "server" | "renew"> & { server: string } {
  const { token, client_certificate, client_key, ca_certificate } = secret;
  if ((client_certificate === null) !== (client_key === null)) {
    requireTlsMaterial({ ca_certificate, client_certificate, client_key });
  }
  if (kubeconfig === null && token === null && client_certificate === null) {
    throw rejected(say("kubernetes.login_blank"), { field: "secret.kubeconfig" });
  }
  const read = kubeconfig === null ? null : readKubeconfig(kubeconfig, context);
  const login = {
    server: read?.server ?? "",
    tls_server_name: read?.tls_server_name ?? null,
    ca: ca_certificate ?? read?.ca ?? null,
    cert: client_certificate ?? read?.cert ?? null,
    key: client_key ?? read?.key ?? null,
    authorization: authorizationOf(token ?? read?.token ?? null, read?.basic ?? null),
  };
  requireTlsMaterial(
    { ca_certificate: login.ca, client_certificate: login.cert, client_key: login.key },
    (member) => `secret.${secret[member] === null ? "kubeconfig" : member}`,
  );
  if (login.cert === null && login.authorization === null) {
    throw rejected(say("kubernetes.login_missing"), {
      field: "secret.kubeconfig",
    });
  }
  return login;
}

function serverOf(text: string): URL {
  if (!isServer(text)) throw rejected(say("kubernetes.server_wanted"));
  return new URL(text);
}

function authorizationOf(token: string | null, basic: { username: string; password: string } | null): string | null {
  if (token !== null) {
    if (!/^[\x21-\x7e]+$/.test(token.trim())) {
      throw rejected(say("kubernetes.token_with_spaces"), { field: "secret.token" });
    }
    return `Bearer ${token.trim()}`;
  }
  return basic === null ? null : `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
}

/** The service account of our own pod. */
async function ownAccess(account: RuntimeContext["self"]["service_account"]): Promise<ClusterAccess> {
  if (account === undefined) throw rejected(say("kubernetes.not_in_cluster"));
  const read = async (name: string) => {
    const path = join(account.folder, name);
    return await readFile(path, "utf8").catch((cause: unknown) => {
      throw rejected(say("kubernetes.account_unreadable", { path }), { cause });
    });
  };
  const readLogin = async () => authorizationOf(await read("token"), null);
  const [authorization, ca] = await Promise.all([readLogin(), read("ca.crt")]);
  const access: ClusterAccess = {
    server: serverOf(account.server),
    tls_server_name: null,
    ca,
    cert: null,
    key: null,
    authorization,
    renew: async () => {
      // While the file is replaced, the present token is still valid.
      access.authorization = await readLogin().catch(() => access.authorization);
    },
  };
  return access;
}
