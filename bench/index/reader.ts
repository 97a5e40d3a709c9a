import { readFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { createHttp, indexMaxBytes } from "../../src/net/http.ts";
import { createRateLedger } from "../../src/net/rate-ledger.ts";
import { helm } from "../../src/sources/helm/helm.ts";
import { answerParent, costOf } from "../child.ts";
import { residentBytes } from "../figures.ts";
import { measuredChart } from "./index-text.ts";

const ledger = createRateLedger({
  clock: systemClock,
  store: { load: async () => [], save: async () => undefined },
  onStoreError: () => undefined,
});
const cache = { find: async () => null, store: async () => undefined };
const http = createHttp({ clock: systemClock, cache, ledger });

/** The most that this process ever had resident. */
function peakBytes(): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1] ?? Number.NaN) * 1024;
}

let idle: number | null = null;

answerParent(async ({ url }) => {
  if (idle === null) {
    // A server at rest has sent requests before: what its code takes is not the index's.
    for (let request = 0; request < 20; request++) await check(`${url}/small/`);
    idle = residentBytes(process.pid);
  }
  return { ...(await check(String(url))), idle_bytes: idle, peak_bytes: peakBytes() };
});

async function check(url: string) {
  const context = http.open({
    timeout_ms: 60_000,
    credential_id: null,
    max_bytes: indexMaxBytes,
    signal: new AbortController().signal,
  });
  const source = helm.open({ chart: measuredChart, repository_url: url }, null, context);
  let versions = 0;
  const cost = await costOf(async () => {
    const listing = await source.listReleases({
      limit: 10,
      accepts: [() => true],
      known: new Map(),
      watch: [],
      memo: null,
    });
    versions = listing.total;
  });
  return { ...cost, bytes: context.stats().bytes, versions };
}
