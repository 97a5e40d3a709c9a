import { spawn } from "node:child_process";
import { once } from "node:events";

export interface PeerProcess {
  pid: number;
  /** Asks it to end, and resolves when it has. It ends with a script too; `bun test` tells nobody of its own end. */
  stop(): Promise<void>;
}

interface PeerProcessOptions {
  env: Readonly<Record<string, string>>;
  /** Whether it answers by now; what it throws counts as no. */
  isServing: () => Promise<boolean>;
  /** Default: SIGTERM. */
  signal?: "SIGTERM" | "SIGKILL";
}

/** How often it is asked, and for how long: far longer than any of them takes to start. */
const [betweenMs, limitMs] = [50, 60_000];

/** Starts a peer's program; resolves when it serves, and rejects with the end of what it said when it ends before or never does. */
export async function startPeerProcess(
  [program, ...args]: readonly [string, ...string[]],
  { env, isServing, signal = "SIGTERM" }: PeerProcessOptions,
): Promise<PeerProcess> {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-20_000);
    });
  }
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    process.removeListener("exit", killAtExit);
    if (hasEnded()) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  let last: unknown = null;
  for (const endsAt = performance.now() + limitMs; performance.now() < endsAt; await Bun.sleep(betweenMs)) {
    if (hasEnded()) {
      await stop();
      throw new Error(`${program} ended with ${child.exitCode ?? child.signalCode}: ${log.slice(-2_000)}`);
    }
    try {
      if (await isServing()) return { pid: child.pid ?? 0, stop };
    } catch (error) {
      last = error;
    }
  }
  await stop();
  throw new Error(`${program} did not answer in a minute (${String(last)}): ${log.slice(-2_000)}`);
}
