import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

const ip = "/usr/sbin/ip";

/** A bridge of its own, by which an engine holds the addresses 10.`block`.0.0/16 against all others on this machine. */
export interface EngineBridge {
  name: string;
  block: number;
  remove(): void;
}

/**
 * Makes a bridge `tmN` with a free N. Its name is what holds the block, also between processes; `addressed` gives it 10.N.0.1/24
 * and brings it up.
 */
export function engineBridge(seed: string, { addressed }: { addressed: boolean }): EngineBridge {
  const used = execFileSync(ip, ["-4", "-o", "addr"], { encoding: "utf8" });
  const offset = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 100, 0);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const block = 100 + ((offset + attempt) % 100);
    const name = `tm${block}`;
    if (used.includes(` 10.${block}.`)) continue;
    try {
      execFileSync(ip, ["link", "add", name, "type", "bridge"], { stdio: "pipe" });
    } catch {
      continue; // Another engine took the name between the look and the leap.
    }
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

/** Clears away what the engine in `folder` leaves when this process ends without having stopped it. */
export function watchEngine(folder: string, bridge: EngineBridge | null): void {
  const args = [join(import.meta.dir, "engine-warden.sh"), String(process.pid), folder, String(bridge?.block ?? "")];
  // By way of a shell that ends at once: the test runner kills its own children when a test has timed out.
  spawn("/bin/sh", ["-c", 'setsid "$@" </dev/null >/dev/null 2>&1 &', "sh", ...args], { stdio: "ignore", cwd: "/" });
}
