import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EngineOptions, TestEngine } from "./engine.ts";
import { engineBridge, watchEngine } from "./engine-bridge.ts";
import { busybox, callEngine, emptyEngine, importImage, pullImage, untilItAnswers } from "./engine-calls.ts";

/** The line of an engine, and where it keeps images: 20 knows only its own store, 29 both. */
export type DockerMode = "docker-20" | "docker-29" | "docker-29-containerd";

const debian = "/usr/sbin/dockerd";
const built = join(process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers"), "engine-29.0.0");

function dockerdOf(mode: DockerMode): string {
  return mode === "docker-20" ? debian : join(built, "dockerd");
}

/** Why a `dockerd` of this mode cannot be started here, or null when it can. */
export function dockerMissing(mode: DockerMode): string | null {
  if (process.platform !== "linux") return "a Docker engine needs Linux";
  if (process.getuid?.() !== 0) return "dockerd needs root";
  const needed: (readonly [path: string, where: string])[] = [
    [debian, "Debian package docker.io"], // Of which 29 needs containerd.
    [busybox, "Debian package busybox-static or busybox"],
    ["/usr/sbin/ip", "Debian package iproute2"],
  ];
  if (mode !== "docker-20") {
    for (const name of ["dockerd", "docker-proxy", "runc"]) {
      needed.push([join(built, name), "tests/peers/build-engine.sh builds it"]);
    }
  }
  const absent = needed.find(([path]) => !existsSync(path));
  return absent === undefined ? null : `${absent[0]} is not installed (${absent[1]})`;
}

/**
 * Starts a real `dockerd` with data, sockets, process ids and bridge of its own, and waits until it answers. Several can run
 * beside each other: firewall rules are off, because engines in one network namespace wipe each other's chains, and published
 * ports then go through docker-proxy, which is what a client on loopback reaches anyway.
 */
export async function startDocker(mode: DockerMode, options: EngineOptions): Promise<TestEngine> {
  const dockerd = dockerdOf(mode);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-engine-"));
  const socket = join(folder, "docker.sock");
  const log = join(folder, "log");
  const bridge = engineBridge(folder, { addressed: true });
  watchEngine(folder, bridge);
  const daemonArgs = [
    ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec"), "--pidfile", join(folder, "pid")],
    ...["--host", `unix://${socket}`, "--bridge", bridge.name],
    ...["--default-address-pool", `base=10.${bridge.block}.128.0/17,size=24`],
    ...["--iptables=false", "--ip6tables=false", "--insecure-registry", "127.0.0.0/8"],
    ...(mode === "docker-29" ? ["--feature", "containerd-snapshotter=false"] : []),
    ...(options.liveRestore === true ? ["--live-restore"] : []),
    ...(options.args ?? []),
  ];
  let daemon: ChildProcess | null = null;

  const start = async () => {
    const output = openSync(log, "a");
    // Its own folder first, for the runc and docker-proxy beside it: Debian's are too old for 29.
    const env = { ...process.env, PATH: `${dirname(dockerd)}:${process.env.PATH ?? ""}` };
    const started = spawn(dockerd, daemonArgs, { stdio: ["ignore", output, output], detached: true, env });
    daemon = started;
    await untilItAnswers(socket, () => started.exitCode !== null, log);
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
    await emptyEngine(socket);
    await end("SIGTERM");
    await endLeftContainerd(folder);
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
    bridge.remove();
  };

  mkdirSync(join(folder, "exec"), { recursive: true });
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    mode,
    socket,
    address: `unix://${socket}`,
    log,
    call: (method, path, body) => callEngine(socket, method, path, body),
    importImage: (reference, changes) => importImage(socket, folder, reference, changes ?? []),
    pullImage: (reference, login) => pullImage(socket, reference, login ?? null),
    kill: () => end("SIGKILL"),
    restart,
    stop,
  };
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
