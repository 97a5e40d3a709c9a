import { systemClock } from "../../../src/clock.ts";
import { createHttp, indexMaxBytes } from "../../../src/net/http.ts";
import { createRateLedger } from "../../../src/net/rate-ledger.ts";

/** The real bounded fetch, with memory for validators, so that what it would add of its own is seen too. */
export function realContext(credentialId: string | null = null) {
  const ledger = createRateLedger({
    clock: systemClock,
    store: { load: async () => [], save: async () => undefined },
    onStoreError: () => undefined,
  });
  const stored: string[] = [];
  const cache = {
    find: async () => null,
    store: async (key: string) => {
      stored.push(key);
    },
  };
  // Retries need not be waited for; deadlines look at the time themselves.
  const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 5), signal);
  const http = createHttp({ clock: { ...systemClock, sleep }, cache, ledger });
  const { signal } = new AbortController();
  const context = http.open({ timeout_ms: 10_000, credential_id: credentialId, max_bytes: indexMaxBytes, signal });
  return { context, stored };
}
