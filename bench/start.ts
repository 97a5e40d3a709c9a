// From the start of the process to its first answer, and what it holds in memory while nothing happens. See README.md.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../tests/peers/free-port.ts";
import { countOption, type Figure, median, megabytes, ms, printFigures, residentBytes } from "./figures.ts";
import { createInstallation, thousandTrackers } from "./installation.ts";

const root = join(import.meta.dir, "..");
const answerLimitMs = 30_000;

async function untilReady(port: number): Promise<void> {
  const until = performance.now() + answerLimitMs;
  while (performance.now() < until) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    if (answer?.ok) return;
    await Bun.sleep(2);
  }
  throw new Error(`The server did not answer within ${answerLimitMs / 1000} s`);
}

/** One start and stop; answers how long the first answer took, and the resident memory after `idleMs`. */
async function startOnce(dataDir: string, idleMs: number): Promise<{ ready_ms: number; rss: number }> {
  const port = await freePort();
  const from = performance.now();
  const child = Bun.spawn([process.execPath, "src/main.ts"], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", DATA_DIR: dataDir, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    await untilReady(port);
    const ready_ms = performance.now() - from;
    await Bun.sleep(idleMs);
    return { ready_ms, rss: residentBytes(child.pid) };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

const starts = countOption("starts", 5, 50);
const idleSeconds = countOption("idle", 30, 600);
const figures: Figure[] = [];
for (const [what, size] of [
  ["empty database", null],
  ["1,000 trackers", thousandTrackers],
] as const) {
  const { data_dir } = await createInstallation(size);
  try {
    const times: number[] = [];
    for (let start = 0; start < starts; start += 1) times.push((await startOnce(data_dir, 0)).ready_ms);
    const { rss } = await startOnce(data_dir, idleSeconds * 1_000);
    const spread = `${ms(median(times))} (${ms(Math.min(...times))} to ${ms(Math.max(...times))})`;
    figures.push({ what: `start to first answer, ${what}`, measured: spread });
    figures.push({
      what: `resident memory after ${idleSeconds} s idle, ${what}`,
      measured: megabytes(rss),
      goal: "100 MB or less",
      met: rss <= 100e6,
    });
  } finally {
    rmSync(data_dir, { recursive: true, force: true });
  }
}
printFigures(`Start and idle memory, median of ${starts} starts`, figures);
