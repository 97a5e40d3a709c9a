import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type Message, say } from "../../../messages/message.ts";
import type { ComposeContainer } from "./labels.ts";

/** Where compose is searched: the usual PATH, and the folders of docker's plug-ins, which also run by themselves. */
export const composeFolders: readonly string[] = [
  ...["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
  ...["/usr/local/lib/docker/cli-plugins", "/usr/local/libexec/docker/cli-plugins"],
  ...["/usr/lib/docker/cli-plugins", "/usr/libexec/docker/cli-plugins"],
];

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const deadlineMs = 20_000;
const maxOutputBytes = 256 * 1024;

/** The path of a runnable compose, or null. */
export async function findComposeCommand(folders: readonly string[] = composeFolders): Promise<string | null> {
  for (const folder of [...folders, join(homedir(), ".docker", "cli-plugins")]) {
    const path = join(folder, "docker-compose");
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // Not here; the next folder is tried.
    }
  }
  return null;
}

/** Compose's own rule for projects and service names: nothing that an option or list could begin with. */
const projectName = /^[a-z0-9][a-z0-9_-]{0,254}$/;
const serviceName = /^[A-Za-z0-9_.][A-Za-z0-9._-]{0,254}$/;

export function isServiceName(name: string): boolean {
  return serviceName.test(name);
}

export interface HashRun {
  compose: ComposeContainer;
  services: readonly string[];
  /** Replaces the project's own environment files, in this order; null for those in the labels. */
  environment: readonly string[] | null;
  /** A further file that is merged last, as text; null for none. */
  override: string | null;
}

export type Hashes = { hashes: ReadonlyMap<string, string>; reason: null } | { hashes: null; reason: Message };

/**
 * The output of `docker compose config --hash` for services. Labels name the files and the project, so nothing from them may act as an
 * option; compose gets none of our environment, no login, and no network access.
 */
export async function configHashes(command: string, run: HashRun): Promise<Hashes> {
  const { compose, services } = run;
  const workingDir = compose.working_dir ?? "";
  const environment = run.environment ?? compose.environment_files;
  const paths = [workingDir, ...compose.config_files, ...environment];
  const isFit = projectName.test(compose.project) && services.every(isServiceName) && paths.every(isPlainPath);
  if (!isFit || services.length === 0) return { hashes: null, reason: say("compose.odd_names") };
  const folder = await mkdtemp(join(tmpdir(), "tidemark-compose-"));
  try {
    const override = join(folder, "override.yaml");
    if (run.override !== null) await writeFile(override, run.override, { mode: 0o600, flag: "wx" });
    const files = [...compose.config_files, ...(run.override === null ? [] : [override])];
    const args = [
      ...["-p", compose.project, "--project-directory", workingDir],
      ...files.flatMap((path) => ["-f", path]),
      ...environment.flatMap((path) => ["--env-file", path]),
      ...["config", "--hash", services.join(",")],
    ];
    const output = await runBounded(command, args, folder, workingDir);
    if (output === null) return { hashes: null, reason: say("compose.no_hashes") };
    const lines = [...output.matchAll(/^(\S+) ([0-9a-f]{64})\r?$/gm)];
    return { hashes: new Map(lines.map(([, service = "", hash = ""]) => [service, hash])), reason: null };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isPlainPath(path: string): boolean {
  return path.startsWith("/") && path.length <= 4096 && ![...path].some((letter) => letter < " " || letter === "\x7f");
}

/** Null for any failure; its message can quote the files, so it is dropped. */
function runBounded(command: string, args: readonly string[], home: string, cwd: string): Promise<string | null> {
  return new Promise((resolve) => {
    const env = {
      PATH: searchPath,
      HOME: homedir(),
      DOCKER_CONFIG: home,
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
    };
    const child = spawn(command, [...args], { cwd, env, stdio: ["ignore", "pipe", "ignore"], shell: false });
    const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
    const end = (output: string | null) => {
      clearTimeout(timer);
      resolve(output);
    };
    const pieces: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > maxOutputBytes) child.kill("SIGKILL");
      else pieces.push(chunk);
    });
    child.on("error", () => end(null));
    child.on("close", (code) => end(code === 0 ? Buffer.concat(pieces).toString("utf8") : null));
  });
}
