import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Several times what all processes of the tests keep in files at once. */
const plentyBytes = 8 * 2 ** 30;

/** What may still be taken, by the machine and by what it allows us. */
function freeMemory(): number {
  const available = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
  return Math.min(Number(available ?? 0) * 1024, process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * A folder for the temporary files of a process and of its peers. It is kept in memory where there is plenty and we may mount: what
 * databases and engines sync, for every row that a test writes, takes a disk twice the time, and a fifth more of the processor.
 */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tm-"));
  const canMount = process.platform === "linux" && process.getuid?.() === 0;
  if (canMount && freeMemory() > plentyBytes) spawnSync("mount", ["-t", "tmpfs", "tidemark-tests", folder]);
  // Users that own a peer's container need to pass through it.
  chmodSync(folder, 0o1777);
  return folder;
}

/** As far as it goes: what a peer has still mounted there stays. */
export function removeTemporaryFolder(folder: string): void {
  if (process.platform === "linux") spawnSync("umount", ["-l", folder]);
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    console.log(`left behind: ${error}`);
  }
}
