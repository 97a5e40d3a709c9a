import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What counts the processor time of a process and of all that come from it, daemons too. */
export interface ProcessorTime {
  /** Whole seconds so far, null where they cannot be read. The group may be removed from now on. */
  end(): number | null;
}

/** Where control groups count, by their generation: the file, and how many of its units a second has. */
const counters = [
  { hierarchy: /^\d+:(?:[a-z_,]+,)?cpuacct(?:,[a-z_,]+)?:(.*)$/m, mount: "cpuacct", file: "cpuacct.usage", unit: 1e9 },
  { hierarchy: /^0::(.*)$/m, mount: "", file: "cpu.stat", unit: 1e6 },
] as const;

const prefix = "tidemark-tests-";
let folder = "";
let made = 0;
/** The groups still to be read. One whose process is over is empty, and looks as if nobody needed it. */
const counting = new Set<string>();

/** Counts a process from now on, by a control group of its own; null where none can be made. */
export function countProcessorTime(pid: number | undefined): ProcessorTime | null {
  for (const { hierarchy, mount, file, unit } of counters) {
    try {
      const own = hierarchy.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
      if (own === undefined || pid === undefined) continue;
      made += 1;
      folder = join("/sys/fs/cgroup", mount, own);
      const name = `${prefix}${process.pid}-${made}`;
      const group = join(folder, name);
      mkdirSync(group);
      const seconds = () => {
        const counted = /\d+/.exec(readFileSync(join(group, file), "utf8"))?.[0];
        return Math.round(Number(counted) / unit);
      };
      seconds();
      writeFileSync(join(group, "cgroup.procs"), String(pid));
      counting.add(name);
      const end = () => {
        counting.delete(name);
        try {
          return seconds();
        } catch {
          return null;
        }
      };
      return { end };
    } catch {
      // The machine counts in another way, or not for us.
    }
  }
  return null;
}

/** Removes the groups of processes that are over, an earlier run's too: what watches over a peer is there for a moment longer. */
export function forgetProcessorTimes(): void {
  if (folder === "") return;
  for (const name of readdirSync(folder).filter((each) => each.startsWith(prefix) && !counting.has(each))) {
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Something still runs there.
    }
  }
}
