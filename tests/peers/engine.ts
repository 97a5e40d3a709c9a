import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Debian's, or another line's: its folder then comes first in the PATH, for the runc and docker-proxy beside it. */
const dockerd = process.env.TIDEMARK_DOCKERD ?? "/usr/sbin/dockerd";
const busybox = "/usr/bin/busybox";
const readyTimeoutMs = 60_000;

/** PID 1 that ends at once on TERM, so that a stop costs nothing. */
export const trapCommand = "trap exit TERM; while :; do sleep 1 & wait; done";

export interface TestEngine {
  socket: string;
  /** The socket's address as a connection's configuration names it. */
  address: string;
  log: string;
  /** One call to the engine's own API, unversioned; throws with the engine's text when it refuses. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Imports an image of busybox and nothing else; `changes` are Dockerfile instructions (`CMD …`, `ENV …`). */
  importImage(reference: string, changes?: readonly string[]): Promise<string>;
  /** `kill -9` of the engine alone, as a crash would be; its containers' shims go on. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  restart(): Promise<void>;
  /** Stops it and what it started, and removes its data and its bridge. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Further arguments, e.g. `--host tcp://127.0.0.1:PORT --tlsverify …`. */
  args?: readonly string[];
}

/** Why a real engine cannot be started here, or null when it can. */
export function engineMissing(): string | null {
  if (process.platform !== "linux") return "a Docker engine needs Linux";
  if (process.getuid?.() !== 0) return "dockerd needs root";
  for (const [path, name] of [
    [dockerd, "docker.io"],
    [busybox, "busybox-static or busybox"],
    ["/usr/sbin/ip", "iproute2"],
  ] as const) {
    if (!existsSync(path)) return `${path} is not installed (Debian package ${name})`;
  }
  return null;
}

/**
 * Starts a real `dockerd` with data, sockets, process ids and bridge of its own, and waits until it answers. Several can run
 * beside each other: firewall rules are off, because engines in one network namespace wipe each other's chains, and published
 * ports then go through docker-proxy, which is what a client on loopback reaches anyway.
 */
export async function startEngine(options: EngineOptions = {}): Promise<TestEngine> {
  const missing = engineMissing();
  if (missing !== null) throw new Error(missing);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-engine-"));
  const socket = join(folder, "docker.sock");
  const log = join(folder, "log");
  const bridge = bridgeFor(folder);
  const daemonArgs = [
    ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec"), "--pidfile", join(folder, "pid")],
    ...["--host", `unix://${socket}`, "--bridge", bridge.name, "--default-address-pool", bridge.pool],
    ...["--iptables=false", "--ip6tables=false", "--insecure-registry", "127.0.0.0/8", ...(options.args ?? [])],
  ];
  let daemon: ChildProcess | null = null;

  const start = async () => {
    const output = openSync(log, "a");
    const env = { ...process.env, PATH: `${dirname(dockerd)}:${process.env.PATH ?? ""}` };
    daemon = spawn(dockerd, daemonArgs, { stdio: ["ignore", output, output], detached: true, env });
    await untilItAnswers(socket, daemon, log);
  };
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const running = daemon;
    daemon = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => running.once("exit", () => resolve()));
    running.kill(signal);
    await ended;
  };
  const restart = async () => {
    await forgetDeadContainerd(folder);
    await start();
  };
  const stop = async () => {
    // Containers outlive an engine that was killed; only an engine can end them properly.
    if (daemon === null && existsSync(join(folder, "data"))) await restart();
    const ids = await call(socket, "GET", "/containers/json?all=1").catch(() => []);
    for (const { Id } of Array.isArray(ids) ? ids : []) {
      await call(socket, "DELETE", `/containers/${Id}?force=1&v=1`).catch(() => undefined);
    }
    await end("SIGTERM");
    await endLeftContainerd(folder);
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
    execFileSync("/usr/sbin/ip", ["link", "del", bridge.name]);
  };

  mkdirSync(join(folder, "exec"), { recursive: true });
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    socket,
    address: `unix://${socket}`,
    log,
    call: (method, path, body) => call(socket, method, path, body),
    importImage: (reference, changes) => importImage(socket, folder, reference, changes ?? []),
    kill: () => end("SIGKILL"),
    restart,
    stop,
  };
}

let shared: Promise<TestEngine> | null = null;

/** One engine for all suites of a test process; it ends with the process. */
export function sharedEngine(): Promise<TestEngine> {
  shared ??= startEngine();
  return shared;
}

/** Ends the shared engine; for the preload's or a suite's last hook. Harmless when there is none. */
export async function stopSharedEngine(): Promise<void> {
  const engine = shared;
  shared = null;
  if (engine !== null) await (await engine).stop();
}

/** A bridge of its own: 10.N.0.1/24 with a free N, from which the address pool for other networks follows. */
function bridgeFor(folder: string): { name: string; pool: string } {
  const used = execFileSync("/usr/sbin/ip", ["-4", "-o", "addr"], { encoding: "utf8" });
  const offset = [...folder].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 100, 0);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const block = 100 + ((offset + attempt) % 100);
    const name = `tm${block}`;
    if (used.includes(` 10.${block}.`)) continue;
    try {
      execFileSync("/usr/sbin/ip", ["link", "add", name, "type", "bridge"], { stdio: "pipe" });
    } catch {
      continue; // Another engine took the name between the look and the leap.
    }
    execFileSync("/usr/sbin/ip", ["addr", "add", `10.${block}.0.1/24`, "dev", name]);
    execFileSync("/usr/sbin/ip", ["link", "set", name, "up"]);
    return { name, pool: `base=10.${block}.128.0/17,size=24` };
  }
  throw new Error("No free 10.N.0.0/24 block for the engine's bridge");
}

async function untilItAnswers(socket: string, daemon: ChildProcess, log: string): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    if (daemon.exitCode !== null) break;
    const answer = await call(socket, "GET", "/_ping").catch(() => null);
    if (answer === "OK") return;
    await Bun.sleep(50);
  }
  throw new Error(`dockerd did not answer; the end of its log:\n${readFileSync(log, "utf8").slice(-2000)}`);
}

/** After a `kill -9` the engine's own containerd may be left; its process id is in the exec-root. */
async function endLeftContainerd(folder: string): Promise<void> {
  const file = join(folder, "exec", "containerd", "containerd.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").trim());
  const commandLine = () => (existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "");
  if (!commandLine().includes(folder)) return;
  process.kill(pid, "SIGTERM");
  // A dead one that nobody collected has an empty command line.
  const deadline = Date.now() + 10_000;
  while (commandLine() !== "" && Date.now() < deadline) await Bun.sleep(20);
}

/**
 * The engine's containerd dies with it, a moment later. Where process 1 does not collect the dead, its id stays taken, and the
 * engine would wait for it instead of starting another.
 */
async function forgetDeadContainerd(folder: string): Promise<void> {
  const file = join(folder, "exec", "containerd", "containerd.pid");
  if (!existsSync(file)) return;
  const status = `/proc/${readFileSync(file, "utf8").trim()}/status`;
  const isDead = () => !existsSync(status) || /^State:\s+[ZX]/m.test(readFileSync(status, "utf8"));
  const deadline = Date.now() + 5_000;
  while (!isDead() && Date.now() < deadline) await Bun.sleep(10);
  if (isDead()) rmSync(file);
}

function unmountBelow(folder: string): void {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length);
  for (const path of mounts) execFileSync("/usr/bin/umount", ["-l", path]);
}

async function call(socket: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const init: BunFetchRequestInit = { method, unix: socket, keepalive: false };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json", "x-registry-auth": "e30=" };
  }
  const response = await fetch(`http://localhost${path}`, init);
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function importImage(socket: string, folder: string, reference: string, changes: readonly string[]) {
  const tar = join(folder, "busybox.tar");
  if (!existsSync(tar)) {
    const root = join(folder, "root");
    mkdirSync(join(root, "bin"), { recursive: true });
    await copyFile(busybox, join(root, "bin", "busybox"));
    for (const applet of execFileSync(busybox, ["--list"], { encoding: "utf8" }).split("\n")) {
      if (applet !== "" && applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
    }
    for (const each of ["tmp", "etc", "var", "www"]) mkdirSync(join(root, each));
    execFileSync("tar", ["-C", root, "-cf", tar, "."]);
  }
  const cut = reference.lastIndexOf(":");
  const query = new URLSearchParams({ fromSrc: "-", repo: reference.slice(0, cut), tag: reference.slice(cut + 1) });
  const withCommand = changes.some((change) => change.startsWith("CMD"))
    ? changes
    : [...changes, `CMD ["/bin/sh","-c","${trapCommand}"]`];
  for (const change of withCommand) query.append("changes", change);
  const init: BunFetchRequestInit = { method: "POST", unix: socket, body: Bun.file(tar) };
  const response = await fetch(`http://localhost/images/create?${query}`, init);
  const text = await response.text();
  if (!response.ok || text.includes('"error"')) throw new Error(`Import of ${reference}: ${text.slice(0, 500)}`);
  const found = await call(socket, "GET", `/images/${reference}/json`);
  return String((found as { Id: string }).Id);
}

// As a script: starts an engine, prints where it listens, and stops it on SIGINT or SIGTERM.
if (import.meta.main) {
  const missing = engineMissing();
  if (missing !== null) {
    console.error(missing);
    process.exit(1);
  }
  const engine = await startEngine();
  console.log(engine.address);
  const stop = () => void engine.stop().then(() => process.exit(0));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
