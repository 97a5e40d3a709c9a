import { type DockerMode, dockerMissing, startDocker } from "./docker-engine.ts";
import type { RegistryLogin } from "./engine-calls.ts";
import { type PodmanMode, podmanMissing, startPodman } from "./podman-engine.ts";

export { trapCommand } from "./engine-calls.ts";

/** The engines that people run: Debian's Docker 20.10, the 29 line with its old and its present image store, Podman as root and not. */
export type EngineMode = DockerMode | PodmanMode;

/** All modes, installed or not: for suites by `peerSuite(…, engineMissing(mode), …)`, which fail in CI when one is missing. */
export const allEngineModes = [
  "docker-20",
  "docker-29",
  "docker-29-containerd",
  "podman",
  "podman-rootless",
] as const satisfies readonly EngineMode[];

export interface TestEngine {
  mode: EngineMode;
  socket: string;
  /** The socket's address as a connection's configuration names it. */
  address: string;
  log: string;
  /** A program that is the engine's own command line; only Podman's needs no service. */
  cli?: string;
  /** One call to the engine's own API, unversioned; throws with the engine's text when it refuses. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Imports an image of busybox and nothing else, and answers its id; `changes` are Dockerfile instructions (`CMD …`, `ENV …`). */
  importImage(reference: string, changes?: readonly string[]): Promise<string>;
  /** Pulls an image, from any registry on 127.0.0.1 over http too; throws with the engine's text when it refuses. */
  pullImage(reference: string, login?: RegistryLogin | null): Promise<void>;
  /** `kill -9` of the engine alone, as a crash would be; its containers' shims or monitors go on. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  restart(): Promise<void>;
  /** Stops it and what it started, and removes its data and its networks. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** `docker-20` when left out. */
  mode?: EngineMode;
  /** Further arguments of `dockerd` or of `podman system service`, e.g. `--host tcp://127.0.0.1:PORT --tlsverify …`. */
  args?: readonly string[];
  /** Docker's `--live-restore`: containers outlive the engine's end. Podman's always do. */
  liveRestore?: boolean;
  /** `false`: a Podman before 5.1 does not clean up behind a container that has ended by itself. */
  cleansUp?: boolean;
}

/** Why a real engine of this mode cannot be started here, or null when it can. */
export function engineMissing(mode: EngineMode = "docker-20"): string | null {
  return mode === "podman" || mode === "podman-rootless" ? podmanMissing(mode) : dockerMissing(mode);
}

/** Starts a real engine with folders, process ids and networks of its own, and waits until it answers. Several run beside each other. */
export async function startEngine(options: EngineOptions = {}): Promise<TestEngine> {
  const mode = options.mode ?? "docker-20";
  const missing = engineMissing(mode);
  if (missing !== null) throw new Error(missing);
  return mode === "podman" || mode === "podman-rootless" ? startPodman(mode, options) : startDocker(mode, options);
}

const shared = new Map<EngineMode, Promise<TestEngine>>();

/** One engine of a mode for all suites of a test process; a suite's last hook may end it by `stopSharedEngines`. */
export function sharedEngine(mode: EngineMode = "docker-20"): Promise<TestEngine> {
  const running = shared.get(mode) ?? startEngine({ mode });
  shared.set(mode, running);
  return running;
}

/** Ends the shared engines. Harmless when there is none; the next `sharedEngine` starts another. */
export async function stopSharedEngines(): Promise<void> {
  const running = [...shared.values()];
  shared.clear();
  for (const engine of running) await (await engine).stop();
}

// As a script, with a mode or without: starts an engine, prints where it listens, and stops it on SIGINT or SIGTERM.
if (import.meta.main) {
  const mode = allEngineModes.find((each) => each === (process.argv[2] ?? "docker-20"));
  const missing = mode === undefined ? `A mode is one of ${allEngineModes.join(", ")}` : engineMissing(mode);
  if (mode === undefined || missing !== null) {
    console.error(missing);
    process.exit(1);
  }
  const engine = await startEngine({ mode });
  console.log(engine.address);
  const stop = () => void engine.stop().then(() => process.exit(0));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
