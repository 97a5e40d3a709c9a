import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestEngine } from "./engine.ts";
import type { RegistryLogin } from "./engine-calls.ts";

/** The last of the old line, and the new line, which writes another kind of image id into its label. */
export const composeVersions = ["2.40.3", "5.6.0"] as const;
export type ComposeVersion = (typeof composeVersions)[number];

const peers = process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers");

function programOf(version: ComposeVersion): string {
  return join(peers, `compose-${version}`, "docker-compose");
}

/** Why compose of this version, or of any that the tests use, cannot run here; null when it can. */
export function composeMissing(version?: ComposeVersion): string | null {
  const wanted = version === undefined ? composeVersions : [version];
  const absent = wanted.map(programOf).find((program) => !existsSync(program));
  return absent === undefined ? null : `${absent} is not there (tests/peers/build-compose.sh builds it)`;
}

export interface ComposeOptions {
  engine: Pick<TestEngine, "address">;
  version: ComposeVersion;
  /** Where it is run: the folder of the project's files. */
  folder: string;
  /** Accounts by registry host, as `docker login` would have left them. */
  logins?: Readonly<Record<string, RegistryLogin>>;
}

export interface ComposeResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Compose {
  version: ComposeVersion;
  /** Runs `docker compose ARGS` in the folder; what it says is in the result, also when it fails. */
  run(args: readonly string[]): Promise<ComposeResult>;
  /** The same, but throws with what it said unless it succeeds; answers its standard output. */
  must(args: readonly string[]): Promise<string>;
  /** Removes its configuration; what it has started stays the engine's. */
  stop(): void;
}

/** A real `docker compose` on an engine's socket, with a Docker configuration of its own. */
export function startCompose({ engine, version, folder, logins }: ComposeOptions): Compose {
  const missing = composeMissing(version);
  if (missing !== null) throw new Error(missing);
  const config = mkdtempSync(join(tmpdir(), "tidemark-compose-"));
  const auths = Object.entries(logins ?? {}).map(([host, { username, password }]) => [
    host,
    { auth: Buffer.from(`${username}:${password}`).toString("base64") },
  ]);
  mkdirSync(join(config, "home"));
  writeFileSync(join(config, "config.json"), JSON.stringify({ auths: Object.fromEntries(auths) }));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: join(config, "home"),
    DOCKER_CONFIG: config,
    DOCKER_HOST: engine.address,
    COMPOSE_ANSI: "never",
    COMPOSE_PROGRESS: "plain",
  };
  const run = async (args: readonly string[]): Promise<ComposeResult> => {
    const child = spawn(programOf(version), args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      said.stdout += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
      said.stderr += String(chunk);
    });
    const code = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (status) => resolve(status ?? -1));
    });
    return { code, ...said };
  };
  return {
    version,
    run,
    must: async (args) => {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`compose ${args.join(" ")} ended with ${code}: ${stderr.slice(-2000)}`);
      return stdout;
    },
    stop: () => rmSync(config, { recursive: true, force: true }),
  };
}
