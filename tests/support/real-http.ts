import type { Clock } from "../../src/clock.ts";
import { createHttp, type HttpContext } from "../../src/net/http.ts";
import { createRateLedger, type RateLedger } from "../../src/net/rate-ledger.ts";
import type { Resolve } from "../../src/net/resolve.ts";
import type { CachedResponse } from "../../src/net/response-cache.ts";

export interface RealHttp {
  /** A context as a check gets it, over the product's own bounded fetch with memories of its own. */
  open(options?: { credential_id?: string | null; max_bytes?: number; timeout_ms?: number }): HttpContext;
  /** Answers with a validator that are kept for the next request. */
  stored: ReadonlyMap<string, CachedResponse>;
  ledger: RateLedger;
  close(): void;
}

/** The product's own bounded, conditional, paced fetch; only the stores behind it are in memory. */
export function realHttp(clock: Clock, resolve?: Resolve): RealHttp {
  const stored = new Map<string, CachedResponse>();
  const ledger = createRateLedger({
    clock,
    store: { load: async () => [], save: async () => undefined },
    onStoreError: (error) => {
      throw error;
    },
  });
  const http = createHttp({
    clock,
    ledger,
    random: () => 0.5,
    ...(resolve === undefined ? {} : { resolve }),
    cache: {
      find: async (key) => stored.get(key) ?? null,
      store: async (key, response) => {
        stored.set(key, response);
      },
    },
  });
  return {
    stored,
    ledger,
    open: ({ credential_id = null, timeout_ms = 10_000, max_bytes } = {}) =>
      http.open({
        timeout_ms,
        credential_id,
        ...(max_bytes === undefined ? {} : { max_bytes }),
        signal: new AbortController().signal,
      }),
    close: http.close,
  };
}
