import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineOptions, TestEngine } from "./engine.ts";
import { engineBridge, watchEngine } from "./engine-bridge.ts";
import { busybox, callEngine, emptyEngine, importImage, pullImage, untilItAnswers } from "./engine-calls.ts";

export type PodmanMode = "podman" | "podman-rootless";

/** Who a rootless Podman runs as: on every Debian, and nobody's home. */
const nobody = { id: 65534, name: "nobody" } as const;

/** Why a Podman of this mode cannot be started here, or null when it can. */
export function podmanMissing(mode: PodmanMode): string | null {
  if (process.platform !== "linux") return "Podman needs Linux";
  if (process.getuid?.() !== 0) return "the tests' Podman is started by root, the rootless one too";
  const needed = [
    ["/usr/bin/podman", "podman"],
    ["/usr/bin/conmon", "conmon"],
    ["/usr/sbin/runc", "runc"],
    ["/usr/lib/podman/netavark", "netavark"],
    ["/usr/lib/podman/aardvark-dns", "aardvark-dns"],
    ["/usr/sbin/iptables", "iptables"],
    ["/usr/sbin/ip", "iproute2"],
    ["/usr/bin/nsenter", "util-linux"],
    [busybox, "busybox-static or busybox"],
    ...(mode === "podman" ? [] : [...rootlessNeeds]),
  ] as const;
  const absent = needed.find(([path]) => !existsSync(path));
  if (absent !== undefined) return `${absent[0]} is not installed (Debian package ${absent[1]})`;
  return mode === "podman" ? null : userNamespacesRefused();
}

const rootlessNeeds = [
  ["/usr/bin/newuidmap", "uidmap"],
  ["/usr/bin/slirp4netns", "slirp4netns"],
  ["/usr/bin/setpriv", "util-linux"],
] as const;

let refusal: string | null | undefined;

/** Whether the kernel lets an ordinary user make a user namespace, asked once. */
function userNamespacesRefused(): string | null {
  if (refusal !== undefined) return refusal;
  const program = ["/usr/bin/unshare", "--user", "--map-root-user", "/bin/true"];
  try {
    execFileSync("/usr/bin/setpriv", [...asNobody, ...program], { stdio: "pipe" });
    refusal = null;
  } catch (error) {
    refusal = `an ordinary user may not make a user namespace here: ${String(error).trim().split("\n").at(-1)}`;
  }
  return refusal;
}

interface Place {
  folder: string;
  /** Where what lasts until the machine's next start is. */
  run: string;
  isRootless: boolean;
}

const libpod = "/v4.0.0/libpod";

/** The machine's, covered by a folder of the engine's own. */
const coveredRun = "/run/containers";
/** Before 5.1, Podman does not clean up behind a container that has ended if the path there is longer than 50 characters. */
const tooLong = "a-folder-whose-name-is-nearly-as-long-as-it-may-be";

const asNobody = [`--reuid=${nobody.id}`, `--regid=${nobody.id}`, "--clear-groups"];

/**
 * Starts a real `podman system service` with storage, settings and networks of its own, and waits until it answers. It lives in a
 * mount namespace in which the machine's own files for Podman are covered by those of this engine, so that several can run
 * beside each other and none sees the machine's. Rootful ones share the firewall: networks of the same name in two of them that
 * run at once would share its chains, too.
 */
export async function startPodman(mode: PodmanMode, options: EngineOptions): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-engine-"));
  const socket = join(folder, "podman.sock");
  const log = join(folder, "log");
  const isRootless = mode === "podman-rootless";
  const run = options.cleansUp === false ? join(folder, "run", tooLong) : coveredRun;
  const place = { folder, run, isRootless };
  const bridge = isRootless ? null : engineBridge(folder, { addressed: false });
  watchEngine(folder, bridge);
  writeSettings(place, bridge);
  const keeper = await startKeeper(folder, isRootless);
  let service: ChildProcess | null = null;

  const start = async () => {
    const output = openSync(log, "a");
    const program = ["/usr/bin/podman", "system", "service", "--time=0", ...(options.args ?? []), `unix://${socket}`];
    const command = isRootless ? ["/usr/bin/setpriv", ...asNobody, ...program] : program;
    // The mask of this process would be that of what containers write.
    const shell = ["/bin/sh", "-c", 'umask 022; exec "$@"', "sh", ...command];
    const started = spawn("/usr/bin/nsenter", ["--mount", `--target=${keeper.pid}`, ...shell], {
      stdio: ["ignore", output, output],
      detached: true,
      cwd: folder,
      env: environment(place),
    });
    service = started;
    await untilItAnswers(socket, () => started.exitCode !== null, log);
  };
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const running = service;
    service = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => running.once("exit", () => resolve()));
    // Rootless, what was started waits for its child, which is the service within the user namespace.
    for (const pid of isRootless ? childrenOf(running.pid) : []) process.kill(pid, signal);
    running.kill(signal);
    await ended;
  };
  const stop = async () => {
    if (service === null) await start();
    await removePods(socket);
    await emptyEngine(socket);
    await end("SIGTERM");
    await endAllOf(folder, keeper.pid);
    rmSync(folder, { recursive: true, force: true });
    bridge?.remove();
  };

  try {
    await start();
  } catch (error) {
    await end("SIGKILL");
    await endAllOf(folder, keeper.pid);
    bridge?.remove();
    throw error;
  }
  return {
    mode,
    socket,
    address: `unix://${socket}`,
    log,
    cli: writeCommand(place, keeper.pid),
    call: (method, path, body) => callEngine(socket, method, path, body),
    importImage: (reference, changes) => importImage(socket, folder, reference, changes ?? []),
    pullImage: (reference, login) => pullImage(socket, reference, login ?? null),
    kill: () => end("SIGKILL"),
    restart: start,
    stop,
  };
}

/** A pod's own container goes with it alone; left running, it would hold the engine's bridge. */
async function removePods(socket: string): Promise<void> {
  const found = await callEngine(socket, "GET", `${libpod}/pods/json`).catch(() => []);
  for (const { Id } of Array.isArray(found) ? found : []) {
    await callEngine(socket, "DELETE", `${libpod}/pods/${Id}?force=true`).catch(() => undefined);
  }
}

/** A program that is `podman` on this engine's storage: without a service between, it knows options that a remote one does not. */
function writeCommand(place: Place, keeper: number): string {
  const path = join(place.folder, "podman");
  const given = Object.entries(environment(place)).map(([name, value]) => `'${name}=${value}'`);
  const words = [
    `/usr/bin/nsenter --mount --target=${keeper} /usr/bin/env -i ${given.join(" ")}`,
    ...(place.isRootless ? [`/usr/bin/setpriv ${asNobody.join(" ")}`] : []),
    '/usr/bin/podman "$@"',
  ];
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(" ")}\n`, { mode: 0o755 });
  return path;
}

/** Podman's settings, which are files: all paths are the engine's own, and every registry on 127.0.0.1 by http. */
function writeSettings({ folder, run }: Place, bridge: { name: string; block: number } | null): void {
  for (const name of ["settings", "networks", "home", "run", `run/${tooLong}`, "covers"]) {
    mkdirSync(join(folder, name), { mode: 0o755 });
  }
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), `${lines.join("\n")}\n`, { mode: 0o644 });
  write("settings/containers.conf", [
    "[containers]",
    'default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]', // The defaults are above what a container's host may allow.
    "[engine]",
    'runtime = "runc"',
    'cgroup_manager = "cgroupfs"', // There may be no systemd.
    'events_logger = "file"',
    `tmp_dir = "${folder}/run/libpod"`,
    `volume_path = "${folder}/volumes"`,
    "[network]",
    'network_backend = "netavark"',
    `network_config_dir = "${folder}/networks"`,
    ...(bridge === null
      ? []
      : [
          `default_subnet_pools = [{ "base" = "10.${bridge.block}.128.0/17", "size" = 24 }]`,
          `default_network = "${defaultNetwork(bridge)}"`,
        ]),
  ]);
  write("settings/storage.conf", [
    "[storage]",
    'driver = "overlay"',
    `graphroot = "${folder}/graph"`,
    `runroot = "${run}/storage"`,
  ]);
  // A prefix without a port stands for all ports.
  write("settings/registries.conf", [
    "[[registry]]",
    'prefix = "127.0.0.1"',
    'location = "127.0.0.1"',
    "insecure = true",
  ]);
  write("settings/policy.json", [JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] })]);
  write("settings/subid", [`${nobody.name}:100000:65536`]);
  if (bridge === null) return;
  const network = {
    name: defaultNetwork(bridge),
    id: createHash("sha256").update(folder).digest("hex"),
    driver: "bridge",
    network_interface: `pm${bridge.block}`,
    created: "2026-01-01T00:00:00Z",
    subnets: [{ subnet: `10.${bridge.block}.0.0/24`, gateway: `10.${bridge.block}.0.1` }],
    ipv6_enabled: false,
    internal: false,
    dns_enabled: false,
    ipam_options: { driver: "host-local" },
  };
  write(`networks/${network.name}.json`, [JSON.stringify(network)]);
}

/** Of its own name, because those of firewall chains follow from it: two that share one cannot both be taken down. */
function defaultNetwork({ block }: { block: number }): string {
  return `podman${block}`;
}

function environment({ folder, run, isRootless }: Place): Record<string, string> {
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: join(folder, "home"),
    TMPDIR: join(folder, "home"),
    CONTAINERS_CONF: join(folder, "settings/containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "settings/storage.conf"),
    CONTAINERS_REGISTRIES_CONF: join(folder, "settings/registries.conf"),
    ...(isRootless ? { USER: nobody.name, XDG_RUNTIME_DIR: run } : {}),
  };
}

/**
 * Starts the process that holds the mount namespace: containers' mounts live there, so that a service that is started again after
 * a crash finds them, and vanish with it.
 */
async function startKeeper(folder: string, isRootless: boolean): Promise<{ pid: number }> {
  const cover = (path: string, by: string) => `mount --bind '${folder}/${by}' ${path}`;
  for (const path of [coveredRun, "/run/netns"]) mkdirSync(path, { recursive: true, mode: 0o755 });
  for (const name of ["containers", "netns"]) mkdirSync(join(folder, "covers", name), { mode: 0o755 });
  mkdirSync("/etc/containers", { recursive: true });
  const lines = [
    "set -e",
    "mount --make-rprivate /",
    "mount --make-rshared /", // A peer group of its own: Podman wants a shared root, and nothing of it is seen outside.
    cover(coveredRun, "covers/containers"),
    cover("/run/netns", "covers/netns"),
    // Asked by each call of its version which Debian package its parts are from, which takes seconds.
    ...["/usr/bin/dpkg", "/usr/bin/dpkg-query"]
      .filter((path) => existsSync(path))
      .map((path) => `mount --bind /bin/false ${path}`),
    ...(existsSync("/etc/containers/policy.json")
      ? [cover("/etc/containers/policy.json", "settings/policy.json")]
      : []),
    ...(isRootless
      ? [
          `mknod -m 666 '${folder}/covers/tun' c 10 200`, // What the system gives may be root's alone.
          cover("/dev/net/tun", "covers/tun"),
          cover("/etc/subuid", "settings/subid"),
          cover("/etc/subgid", "settings/subid"),
          `chown -R ${nobody.id}:${nobody.id} '${folder}'`,
        ]
      : []),
    "echo ready",
    "exec sleep infinity",
  ];
  const keeper = spawn("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", lines.join("\n")], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, TIDEMARK_ENGINE: `${folder}/` },
  });
  let errors = "";
  keeper.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  await new Promise<void>((resolve, reject) => {
    keeper.stdout.once("data", () => resolve());
    keeper.once("exit", () => reject(new Error(`Podman's mounts could not be made: ${errors.trim()}`)));
  });
  return { pid: keeper.pid ?? 0 };
}

function childrenOf(pid: number | undefined): number[] {
  const isChild = (name: string) =>
    /^\d+$/.test(name) &&
    existsSync(`/proc/${name}/status`) &&
    readFileSync(`/proc/${name}/status`, "utf8").includes(`\nPPid:\t${pid}\n`);
  return readdirSync("/proc").filter(isChild).map(Number);
}

/**
 * Ends whatever is left of this engine (the rootless pause process, a name server), and at last the process that holds the mount
 * namespace; the mounts go with them. All of them were started with this engine's folder in their environment or arguments.
 */
async function endAllOf(folder: string, keeper: number): Promise<void> {
  const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOf(folder, name));
  for (const pid of [...left.map(Number), keeper]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!String(error).includes("ESRCH")) throw error; // It ended by itself.
    }
  }
  const deadline = Date.now() + 10_000;
  const isLeft = (pid: string) => isOf(folder, pid);
  while (left.some(isLeft) && Date.now() < deadline) await Bun.sleep(20);
}

function isOf(folder: string, pid: string): boolean {
  try {
    const told = ["environ", "cmdline"].map((name) => readFileSync(`/proc/${pid}/${name}`, "utf8")).join("\0");
    return told.includes(`${folder}/`);
  } catch {
    return false; // It is gone.
  }
}
