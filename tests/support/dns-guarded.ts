// Runs in a network and a mount namespace of its own, where "public" addresses are on the loopback device and the only DNS server
// is ours: asks the product's guard, with the system's resolver, for one name after another, and prints what came of it as JSON.
import http from "node:http";
import { systemClock } from "../../src/clock.ts";
import { PluginError } from "../../src/errors.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { type DnsName, startDnsServer } from "./dns-server.ts";

export const publicAddress = "93.184.215.14";
export const otherPublicAddress = "93.184.215.15";
export const publicAddress6 = "2606:2800:21f::14";

const publicOnly = { addresses: [publicAddress] };
const loopback = { addresses: ["127.0.0.1"] };

/** Every name that the tests ask for. */
export const names = {
  "good.example.test": { a: publicOnly },
  "two.example.test": { a: { addresses: [publicAddress, otherPublicAddress] } },
  "six.example.test": { aaaa: { addresses: [publicAddress6] } },
  "alias.example.test": { a: { alias: "good.example.test", addresses: [publicAddress] } },
  "rebinds.example.test": { a: [publicOnly, loopback] },
  "turns.example.test": { a: [loopback, publicOnly] },
  "loopback.example.test": { a: loopback },
  "mixed.example.test": { a: { addresses: [publicAddress, "127.0.0.1"] } },
  "mixed-first.example.test": { a: { addresses: ["10.0.0.1", publicAddress] } },
  "many.example.test": {
    a: { addresses: [...Array.from({ length: 20 }, (_, index) => `93.184.215.${index + 20}`), "192.168.1.1"] },
  },
  "aaaa.example.test": { a: publicOnly, aaaa: { addresses: ["::1"] } },
  "aaaa-local.example.test": { a: publicOnly, aaaa: { addresses: ["fd00::1"] } },
  "aaaa-mapped.example.test": { aaaa: { addresses: ["::ffff:5db8:d70e"] } },
  "aaaa-nat64.example.test": { aaaa: { addresses: ["64:ff9b::5db8:d70e"] } },
  "aaaa-6to4.example.test": { aaaa: { addresses: ["2002:5db8:d70e::1"] } },
  "aaaa-link.example.test": { aaaa: { addresses: ["fe80::1"] } },
  "alias-inside.example.test": { a: { alias: "redis.internal", addresses: ["10.1.2.3"] } },
  "metadata.example.test": { a: { addresses: ["169.254.169.254"] } },
  "azure.example.test": { a: { addresses: ["168.63.129.16"] } },
  "zero.example.test": { a: { addresses: ["0.0.0.0"] } },
  "multicast.example.test": { a: { addresses: ["224.0.0.1"] } },
  "broadcast.example.test": { a: { addresses: ["255.255.255.255"] } },
  "shared.example.test": { a: { addresses: ["100.64.0.1"] } },
  "empty.example.test": { a: { addresses: [] }, aaaa: { addresses: [] } },
  "gone.example.test": { a: { code: "nxdomain" }, aaaa: { code: "nxdomain" } },
  "broken.example.test": { a: { code: "servfail" }, aaaa: { code: "servfail" } },
  "refused.example.test": { a: { code: "refused" }, aaaa: { code: "refused" } },
  "silent.example.test": { a: "silent", aaaa: "silent" },
} as const satisfies Record<string, DnsName>;

export interface Attempt {
  status?: number;
  code?: string;
  message?: string;
  /** The addresses at which a server of ours was asked in this attempt. */
  reached: string[];
  /** The DNS questions of this attempt. */
  asked: string[];
}

/** What to try in turn: one request, one TCP probe, or only the judgement of a save. */
export type Trial = readonly [how: "fetch" | "connect" | "judge", name: string];

async function main(): Promise<void> {
  const trials: readonly Trial[] = JSON.parse(process.argv[2] ?? "[]");
  const reached: string[] = [];
  for (const address of ["127.0.0.1", "::1", publicAddress, otherPublicAddress, publicAddress6]) {
    const server = http.createServer((_request, response) => {
      reached.push(address);
      response.end("ok");
    });
    await new Promise<void>((resolve) => server.listen(80, address, resolve));
  }
  const dns = await startDnsServer("127.0.0.1", 53, names);
  const guard = createGuard({ clock: systemClock, allow: parseOutboundAllow(""), ownPort: () => 80 });
  const attempts: Attempt[] = [];
  for (const [how, name] of trials) {
    reached.length = 0;
    dns.asked.length = 0;
    const told: Omit<Attempt, "reached" | "asked"> = {};
    try {
      const signal = AbortSignal.timeout(name.startsWith("silent") ? 1_000 : 60_000);
      if (how === "judge") told.status = guard.judge(`http://${name}/`, "webhook").ok ? 200 : 0;
      else if (how === "connect") await guard.connect(name, 80, signal);
      else {
        const timeout = name.startsWith("silent") ? 1_000 : 60_000;
        const context = guard.open({ purpose: "webhook", timeout_ms: timeout, signal: new AbortController().signal });
        told.status = (await context.fetch(new URL(`http://${name}/`))).status;
      }
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      told.code = error.code;
      told.message = error.message;
    }
    attempts.push({ ...told, reached: [...reached], asked: [...dns.asked] });
  }
  console.log(JSON.stringify(attempts));
  process.exit(0);
}

if (import.meta.main) await main();
