import type { Clock } from "../clock.ts";
import type { PluginError } from "../errors.ts";
import type { PluginContext } from "../plugin.ts";
import { type BoundedRequest, isRepeatable, PassingFault, sendBounded, type Wire } from "./bounded-request.ts";
import { type ClockDifferences, clockDifferences } from "./clock-difference.ts";
import { createDeadlines } from "./deadline.ts";
import { createAgent } from "./exchange.ts";
import { readOutgoing } from "./outgoing.ts";
import { noLedger, type RateLedger } from "./rate-ledger.ts";
import { lookupFrom, type Resolve, resolveBeyondMetadata, systemResolve } from "./resolve.ts";
import type { ResponseCache } from "./response-cache.ts";

/** Upstream JSON. */
export const defaultMaxBytes = 16 * 1024 * 1024;
/** A chart repository's `index.yaml`. */
export const indexMaxBytes = 64 * 1024 * 1024;

const maxRetries = 2;
const minRetryDelayMs = 1_000;
const maxRetryDelayMs = 8_000;
export interface HttpOptions {
  clock: Clock;
  cache: ResponseCache;
  ledger: RateLedger;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
  /** From 0 to 1 (exclusive), for the jitter of retries. */
  random?: () => number;
}

export interface HttpOpen {
  /** For one request with its redirects and body; each retry has its own. */
  timeout_ms: number;
  credential_id: string | null;
  /** After decompression; default 16 MiB. */
  max_bytes?: number;
  /** Ignores the ledger, records nothing there, and returns a 429 as it is; default false. */
  is_unrated?: boolean;
  signal: AbortSignal;
}

export interface HttpStats {
  /** Requests sent, including redirects and retries; nothing is served from memory. */
  requests: number;
  /** Body bytes on the wire. */
  bytes: number;
}

/** A plug-in's context over the shared connection pool; `stats` counts what it sent. */
export interface HttpContext extends PluginContext {
  stats(): HttpStats;
}

export interface Http {
  open(options: HttpOpen): HttpContext;
  /** By the responses so far. */
  clocks: Pick<ClockDifferences, "of" | "explain" | "all">;
  /** Closes the idle connections. */
  close(): void;
}

/**
 * The bounded fetch for sources and every other call to a place that may be private. Connections are kept alive and pinned: each is opened
 * to an address checked in the same resolution, and only such connections are reused. docs/decisions/0004-requests-over-node-http.md says
 * why it is not the global fetch.
 */
export function createHttp(options: HttpOptions): Http {
  const { clock, cache, ledger } = options;
  const random = options.random ?? Math.random;
  // 32 per host: four parallel checks with a few requests each. Idle connections close after the server's own time or 15 s.
  const pool = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8, timeout: 15_000 };
  const agents = { "http:": createAgent("http:", pool), "https:": createAgent("https:", pool) };
  const lookup = lookupFrom((host) => resolveBeyondMetadata(options.resolve ?? systemResolve, host));
  const differences = clockDifferences(clock);
  const rated: Wire = { clock, cache, ledger, deadlines: createDeadlines(clock), differences, lookup, agents };
  const unrated: Wire = { ...rated, ledger: noLedger };

  const pause = async (ms: number, signal: AbortSignal, cause: PluginError): Promise<void> => {
    try {
      await clock.sleep(ms, signal);
    } catch {
      // Cancelled while waiting: the earlier failure says more.
      throw cause;
    }
  };

  const sendRetried = async (wire: Wire, request: BoundedRequest): Promise<Response> => {
    for (let tries = 0; ; tries++) {
      try {
        return await sendBounded(wire, request);
      } catch (fault) {
        if (!(fault instanceof PassingFault)) throw fault;
        const wish = fault.wait_ms ?? 0;
        const isLast = tries >= maxRetries || !isRepeatable(request.first) || wish > maxRetryDelayMs;
        if (isLast || request.init.signal?.aborted) throw fault.error;
        const jitter = minRetryDelayMs + random() * (maxRetryDelayMs - minRetryDelayMs);
        // Jitter is added because a timer that fires a moment early would run into the same wait.
        await pause(wish + Math.round(jitter), request.signal, fault.error);
      }
    }
  };

  return {
    open: (open) => {
      const stats: HttpStats = { requests: 0, bytes: 0 };
      const session = {
        timeout_ms: open.timeout_ms,
        max_bytes: open.max_bytes ?? defaultMaxBytes,
        signal: open.signal,
        onRequest: () => {
          stats.requests += 1;
        },
        onBytes: (count: number) => {
          stats.bytes += count;
        },
      };
      return {
        signal: open.signal,
        clock,
        fetch: async (url, init = {}) => {
          const outgoing = await readOutgoing(init);
          const { headers, method } = outgoing;
          const isPackable = method !== "HEAD" && !headers.has("accept-encoding") && !headers.has("range");
          if (isPackable) headers.set("accept-encoding", "gzip");
          return await sendRetried(open.is_unrated === true ? unrated : rated, {
            ...session,
            init,
            first: { url, ...outgoing, credential_id: open.credential_id },
          });
        },
        stats: () => ({ ...stats }),
      };
    },
    clocks: differences,
    close: () => {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}
