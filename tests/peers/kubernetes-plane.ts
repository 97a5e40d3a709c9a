import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { authorityMissing, createAuthority } from "./authority.ts";
import { freePort } from "./free-port.ts";
import { kubernetesApi } from "./kubernetes-api.ts";
import { nodeName } from "./kubernetes-node.ts";
import { type PeerProcess, startPeerProcess } from "./peer-process.ts";

const peers = process.env.TIDEMARK_PEERS || join(homedir(), ".cache/tidemark-peers");
/** The API server, the controllers, the scheduler and the kubelet, by its first argument. */
export const kubernetes = join(peers, "kubernetes-1.36.3/kubernetes");
const etcd = join(peers, "etcd-3.6.16/etcd");

/** Why no control plane can be started here, or null when it can. */
export function controlPlaneMissing(): string | null {
  if (process.platform !== "linux") return "Kubernetes needs Linux";
  const absent = [kubernetes, etcd].find((program) => !existsSync(program));
  if (absent === undefined) return authorityMissing();
  return `${absent} is not there (run tests/peers/build-kubernetes.sh, ten minutes)`;
}

/** Whoever asks the API server by this name is shown a certificate that ended yesterday. */
export const expiredName = "expired.test";

export type Identity = ReturnType<typeof makeIdentity>;

/** Who is who: the servers, the administrator, the node, and the key that signs accounts' tokens. */
export function makeIdentity(folder: string, addresses: readonly string[]) {
  const authority = createAuthority(folder);
  const names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1", ...addresses];
  const server = authority.issue("127.0.0.1", "server", { names });
  const expired = authority.issue(expiredName, "server", { is_expired: true });
  const admin = authority.issue("admin", "client", { organization: "system:masters" });
  const node = authority.issue(`system:node:${nodeName}`, "client", { organization: "system:nodes" });
  const token = randomBytes(16).toString("hex");
  const tokensFile = join(folder, "tokens.csv");
  writeFileSync(tokensFile, `${token},admin-token,admin-token,"system:masters"\n`);
  const accountsKey = join(folder, "accounts.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(accountsKey, privateKey.export({ type: "sec1", format: "pem" }));
  const text = (file: string) => readFileSync(file, "utf8");
  return {
    ca: authority.ca,
    issue: authority.issue,
    ca_file: authority.ca_file,
    server,
    expired,
    admin_certificate: admin,
    admin: { certificate: text(admin.cert_file), key: text(admin.key_file), token },
    node: { certificate: text(node.cert_file), key: text(node.key_file) },
    tokens_file: tokensFile,
    accounts_key: accountsKey,
  };
}

/** Somebody who proves who they are by a certificate, or else by a token. */
export type User = { certificate: string; key: string } | { token: string };

export function kubeconfigOf(url: string, ca: string, user: User): string {
  const data = (pem: string) => Buffer.from(pem).toString("base64");
  const lines =
    "key" in user
      ? [`client-certificate-data: ${data(user.certificate)}`, `    client-key-data: ${data(user.key)}`]
      : [`token: ${user.token}`];
  return `apiVersion: v1
kind: Config
clusters:
- name: tests
  cluster:
    certificate-authority-data: ${data(ca)}
    server: ${url}
users:
- name: user
  user:
    ${lines.join("\n")}
contexts:
- name: tests
  context:
    cluster: tests
    user: user
current-context: tests
`;
}

/** Starts etcd, the API server, and what places pods and makes them, on free ports of loopback. */
export async function startControlPlane(folder: string, identity: Identity) {
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const api = kubernetesApi(url, identity.ca, identity.admin.token);
  const writeConfig = (name: string, user: User) => {
    const file = join(folder, `${name}.kubeconfig`);
    writeFileSync(file, kubeconfigOf(url, identity.ca, user));
    return file;
  };
  const [adminFile, nodeFile] = [writeConfig("admin", identity.admin), writeConfig("node", identity.node)];

  const store = await startPeerProcess([etcd, ...etcdFlags(folder, etcdPort, peerPort)], {
    env: {},
    isServing: async () => (await fetch(`http://127.0.0.1:${etcdPort}/health`)).ok,
    signal: "SIGKILL",
  });
  const started: PeerProcess[] = [store];
  let server: PeerProcess | null = null;
  const startApiServer = async () => {
    server ??= await startPeerProcess([kubernetes, "apiserver", ...apiServerFlags(port, etcdPort, identity)], {
      env: {},
      isServing: async () => (await api.request("GET", "/readyz")) === "ok",
      signal: "SIGKILL",
    });
  };
  const stopApiServer = async () => {
    await server?.stop();
    server = null;
  };
  const stop = async () => {
    await Promise.all(started.map((each) => each.stop()));
    await stopApiServer();
  };
  /** A program that asks the API server, and serves its health on a port of its own. */
  const startHelper = async (name: string, flags: readonly string[], isServing: () => Promise<boolean>) => {
    const helperPort = await freePort();
    const { cert_file, key_file } = identity.server;
    const own = ["--bind-address=127.0.0.1", `--secure-port=${helperPort}`, "--leader-elect=false"];
    const tls = [`--tls-cert-file=${cert_file}`, `--tls-private-key-file=${key_file}`];
    const config = ["", "authentication-", "authorization-"].map((each) => `--${each}kubeconfig=${adminFile}`);
    const all = [...own, ...tls, ...config, "--authentication-skip-lookup=true", ...flags];
    const health = `https://127.0.0.1:${helperPort}/healthz`;
    const isHealthy = async () => (await fetch(health, { tls: { ca: identity.ca }, keepalive: false })).ok;
    const options = { env: {}, isServing: async () => (await isHealthy()) && (await isServing()) };
    started.push(await startPeerProcess([kubernetes, name, ...all], { ...options, signal: "SIGKILL" }));
  };

  try {
    await startApiServer();
    await Promise.all([
      startHelper("scheduler", [], async () => true),
      startHelper(
        "controllers",
        [`--service-account-private-key-file=${identity.accounts_key}`, `--root-ca-file=${identity.ca_file}`],
        async () => (await api.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")) !== null,
      ),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  const compact = async () => {
    const ask = async (path: string, body: object) => {
      const response = await fetch(`http://127.0.0.1:${etcdPort}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as { header: { revision: string } };
    };
    const { header } = await ask("/v3/maintenance/status", {});
    await ask("/v3/kv/compaction", { revision: header.revision, physical: true });
  };
  return { url, api, adminFile, nodeFile, startApiServer, stopApiServer, compact, stop };
}

function etcdFlags(folder: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    ...["--name=tests", `--data-dir=${join(folder, "etcd")}`, "--unsafe-no-fsync", "--log-level=error"],
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=tests=${peer}`],
  ];
}

function apiServerFlags(port: number, etcdPort: number, identity: Identity): string[] {
  const { server, expired, admin_certificate: admin, ca_file, accounts_key } = identity;
  return [
    ...[`--etcd-servers=http://127.0.0.1:${etcdPort}`, "--bind-address=127.0.0.1", `--secure-port=${port}`],
    // An address of loopback cannot be the endpoint of the service in the cluster.
    ...["--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16"],
    ...[`--tls-cert-file=${server.cert_file}`, `--tls-private-key-file=${server.key_file}`],
    `--tls-sni-cert-key=${expired.cert_file},${expired.key_file}:${expiredName}`,
    ...[`--client-ca-file=${ca_file}`, `--token-auth-file=${identity.tokens_file}`],
    ...["--service-account-issuer=https://kubernetes.default.svc", `--service-account-key-file=${accounts_key}`],
    ...[
      `--service-account-signing-key-file=${accounts_key}`,
      "--authorization-mode=Node,RBAC",
      "--allow-privileged=true",
    ],
    // Else names of nodes would be looked up.
    ...["--kubelet-preferred-address-types=InternalIP", `--kubelet-certificate-authority=${ca_file}`],
    ...[`--kubelet-client-certificate=${admin.cert_file}`, `--kubelet-client-key=${admin.key_file}`],
  ];
}
