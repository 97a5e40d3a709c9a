import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import type { EngineBridge } from "./engine-bridge.ts";
import { startPeerProcess } from "./peer-process.ts";

/** The real node's name. */
export const nodeName = "node-1";
const unshare = "/usr/bin/unshare";
const plugins = "/usr/lib/cni";
/** In a namespace of processes and one of mounts: the end of the first process in it ends all, and unmounts all. */
const ownNamespaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Why no node can be started here, or null when it can. */
export function nodeMissing(): string | null {
  if (process.getuid?.() !== 0) return "a node needs root";
  const needed = [
    ["/usr/bin/containerd", "containerd"],
    ["/usr/sbin/runc", "runc"],
    [join(plugins, "bridge"), "containernetworking-plugins"],
    ["/bin/busybox", "busybox-static or busybox"],
    ["/usr/sbin/ip", "iproute2"],
    [unshare, "util-linux"],
  ] as const;
  const absent = needed.find(([path]) => !existsSync(path));
  return absent === undefined ? namespacesRefused() : `${absent[0]} is not installed (Debian package ${absent[1]})`;
}

let refusal: string | null | undefined;

/** Whether the kernel gives the node namespaces of its own, asked once. */
function namespacesRefused(): string | null {
  if (refusal !== undefined) return refusal;
  try {
    execFileSync(unshare, [...ownNamespaces, "/bin/true"], { stdio: "pipe" });
    refusal = null;
  } catch (error) {
    refusal = `a node needs namespaces of its own: ${String(error).trim().split("\n").at(-1)}`;
  }
  return refusal;
}

export interface NodeOptions {
  /** The cluster's folder. */
  folder: string;
  bridge: EngineBridge;
  kubelet: string;
  kubeconfig: string;
  ca: string;
  certificate: { cert_file: string; key_file: string };
  /** The image of the process that holds a pod's network. */
  pause: string;
  isReady(): Promise<boolean>;
}

/**
 * Starts a containerd and a kubelet, and waits until the node is ready. Its pods get addresses of the bridge's block and reach this
 * machine, and nothing else. A registry on 127.0.0.1 is spoken to by http; all others would be reached by a proxy that is not there.
 */
export async function startNode(options: NodeOptions): Promise<{ stop(): Promise<void> }> {
  const { folder, bridge } = options;
  const script = writeNode(options);
  // Killed, because pods would be given their time to stop.
  const node = await startPeerProcess([unshare, ...ownNamespaces, "/bin/sh", script], {
    env: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1",
    },
    isServing: options.isReady,
    signal: "SIGKILL",
  }).catch(async (error) => {
    await clear(folder, bridge);
    throw error;
  });
  return { stop: () => node.stop().finally(() => clear(folder, bridge)) };
}

/** The kernel takes what the processes had away a moment after them. */
async function clear(folder: string, bridge: EngineBridge): Promise<void> {
  execFileSync("/bin/sh", [join(import.meta.dir, "clear-cgroups.sh"), bridge.name], { stdio: "pipe" });
  await eventually(`the pods' links of ${folder} to be gone`, () => {
    return readdirSync(`/sys/class/net/${bridge.name}/brif`).length === 0;
  });
}

function writeNode({ folder, bridge, ...options }: NodeOptions): string {
  const root = join(folder, "node");
  const at = (...names: string[]) => join(root, ...names);
  for (const name of ["kubelet", "pod-logs", "networks", "plug-ins", "settings"]) {
    mkdirSync(at(name), { recursive: true, mode: 0o755 });
  }
  const socket = at("containerd.sock");
  writeFileSync(at("containerd.toml"), containerdSettings(root, socket, options.pause));
  writeFileSync(at("networks/10-tests.conflist"), JSON.stringify(networkOf(root, bridge)));
  writeFileSync(at("resolv.conf"), "nameserver 127.0.0.1\n");
  writeFileSync(at("kubelet.json"), JSON.stringify(kubeletSettings(root, socket, bridge, options)));
  const sysctls = Object.entries(kernelSettings).map(([name, value]) => {
    const file = at("settings", name.replaceAll("/", "."));
    writeFileSync(file, `${value}\n`);
    return `mount --bind '${file}' /proc/sys/${name}`;
  });
  const lines = [
    "set -e",
    "umask 022",
    "mount --make-rshared /", // Its own by now: nothing of it is seen outside.
    // Where the two programs and runc write without being asked.
    ...["/run", "/var/lib", "/var/log"].map((path) => `mount -t tmpfs tmpfs ${path}`),
    // The kubelet sets the whole machine's settings where they are not as it wants them.
    ...sysctls,
    // All hierarchies of the first version, or the only one of the second, whose controllers are handed down.
    "if [ -e /sys/fs/cgroup/cgroup.controllers ]; then",
    `  for each in cpuset cpu io memory hugetlb pids; do echo "+$each" >/sys/fs/cgroup/cgroup.subtree_control || true; done`,
    `  mkdir /sys/fs/cgroup/${bridge.name}`,
    `else for each in /sys/fs/cgroup/*/; do mkdir -p "\${each}${bridge.name}"; done; fi`,
    `containerd --config '${at("containerd.toml")}' &`,
    `until [ -S '${socket}' ]; do kill -0 $!; sleep 0.05; done`,
    `'${options.kubelet}' kubelet --config='${at("kubelet.json")}' --kubeconfig='${options.kubeconfig}' \\`,
    `  --root-dir='${at("kubelet")}' --hostname-override=${nodeName} --node-ip=10.${bridge.block}.0.1 &`,
    "wait $!", // And collects, as the first process has to, whatever else ends meanwhile.
  ];
  const script = at("start.sh");
  writeFileSync(script, `${lines.join("\n")}\n`);
  return script;
}

/** What the kubelet wants. */
const kernelSettings = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
} as const;

function containerdSettings(root: string, socket: string, pause: string): string {
  return `version = 2
root = "${root}/containerd"
state = "${root}/containerd-state"
oom_score = 0
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${root}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${root}/networks"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}

function networkOf(root: string, { name, block }: EngineBridge) {
  const ipam = {
    type: "host-local",
    dataDir: `${root}/addresses`,
    ranges: [[{ subnet: `10.${block}.0.0/24` }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  // The bridge has its address already; as a gateway the machine's forwarding would be switched on.
  return { cniVersion: "0.4.0", name: "tests", plugins: [{ type: "bridge", bridge: name, isGateway: false, ipam }] };
}

function kubeletSettings(
  root: string,
  socket: string,
  { name, block }: EngineBridge,
  { ca, certificate }: Pick<NodeOptions, "ca" | "certificate">,
) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${name}`,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: ["pods"],
    containerRuntimeEndpoint: `unix://${socket}`,
    address: `10.${block}.0.1`,
    readOnlyPort: 0,
    healthzPort: 0,
    tlsCertFile: certificate.cert_file,
    tlsPrivateKeyFile: certificate.key_file,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false }, x509: { clientCAFile: ca } },
    authorization: { mode: "AlwaysAllow" },
    oomScoreAdj: 0, // A container's root may not set another, nor open more files.
    maxOpenFiles: 20_000,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    resolvConf: `${root}/resolv.conf`,
    podLogsDir: `${root}/pod-logs`,
    volumePluginDir: `${root}/plug-ins`,
    registerNode: true,
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    imagePullCredentialsVerificationPolicy: "NeverVerify",
    nodeStatusUpdateFrequency: "5s",
    syncFrequency: "10s",
    clusterDomain: "cluster.local",
  };
}
