import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ip = "/usr/sbin/ip";
/** It complains when links come and go while it looks. */
const quiet = { encoding: "utf8", stdio: "pipe" } as const;

/** A bridge of its own, by which an engine holds the addresses 10.`block`.0.0/16 against all others on this machine. */
export interface EngineBridge {
  name: string;
  block: number;
  remove(): void;
}

/**
 * Makes a bridge `tmN` with a free N for the engine in `folder`. Its name is what holds the block, also between processes;
 * `addressed` gives it 10.N.0.1/24 and brings it up.
 */
export function engineBridge(folder: string, { addressed }: { addressed: boolean }): EngineBridge {
  clearAbandoned();
  const used = execFileSync(ip, ["-4", "-o", "addr"], quiet);
  const offset = [...folder].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 100, 0);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const block = 100 + ((offset + attempt) % 100);
    const name = `tm${block}`;
    if (used.includes(` 10.${block}.`)) continue;
    try {
      execFileSync(ip, ["link", "add", name, "type", "bridge"], { stdio: "pipe" });
    } catch {
      continue; // Another engine took the name between the look and the leap.
    }
    execFileSync(ip, ["link", "set", "dev", name, "alias", `${process.pid} ${folder}`]);
    if (addressed) {
      execFileSync(ip, ["addr", "add", `10.${block}.0.1/24`, "dev", name]);
      execFileSync(ip, ["link", "set", name, "up"]);
    }
    return {
      name,
      block,
      remove: () => {
        execFileSync(ip, ["link", "del", name]);
        execFileSync("/bin/sh", [join(import.meta.dir, "clear-firewall.sh"), String(block)], { stdio: "ignore" });
      },
    };
  }
  throw new Error("No free 10.N.0.0/16 block for the engine's networks");
}

const warden = join(import.meta.dir, "engine-warden.sh");

/** Clears away what engines left whose test process and warden are both gone; each bridge names its process and folder. */
function clearAbandoned(): void {
  const links: { ifname: string; ifalias?: string }[] = JSON.parse(execFileSync(ip, ["-j", "link"], quiet));
  for (const { ifname, ifalias } of links) {
    const [, pid, folder] = /^(\d+) (\/.+)$/.exec(ifalias ?? "") ?? [];
    if (pid === undefined || folder === undefined || !/^tm\d+$/.test(ifname) || existsSync(`/proc/${pid}`)) continue;
    execFileSync("/bin/sh", [warden, pid, folder, ifname.slice(2)], { stdio: "ignore" });
  }
}

/** Clears away what the engine in `folder` leaves when this process ends without having stopped it. */
export function watchEngine(folder: string, bridge: EngineBridge | null): void {
  const args = [warden, String(process.pid), folder, String(bridge?.block ?? "")];
  // By way of a shell that ends at once: the test runner kills its own children when a test has timed out.
  spawn("/bin/sh", ["-c", 'setsid "$@" </dev/null >/dev/null 2>&1 &', "sh", ...args], { stdio: "ignore", cwd: "/" });
}
