import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { type Clock, toIso } from "../clock.ts";
import { PluginError } from "../errors.ts";
import type { PluginContext } from "../plugin.ts";
import { bareHost, isMetadataAddress, parseAddress } from "./address.ts";
import { discardBody, startBody, streamBody } from "./bounded-body.ts";
import { createDeadlines, type Deadline } from "./deadline.ts";
import { destinationBlocked } from "./destination.ts";
import { bodyOf, describeFailure, exchange, headersOf, StaleConnection } from "./exchange.ts";
import { readOutgoing } from "./outgoing.ts";
import { readRetryAfter } from "./rate-headers.ts";
import type { RateLedger } from "./rate-ledger.ts";
import { type Hop, maxRedirects, nextHop } from "./redirects.ts";
import { lookupFrom, type Resolve, resolveAll, systemResolve } from "./resolve.ts";
import {
  type CachedResponse,
  cacheKey,
  conditionsOf,
  type ResponseCache,
  toCached,
  toResponse,
} from "./response-cache.ts";

/** Upstream JSON. */
export const defaultMaxBytes = 16 * 1024 * 1024;
/** A chart repository's `index.yaml`. */
export const indexMaxBytes = 64 * 1024 * 1024;

const maxRetries = 2;
const minRetryDelayMs = 1_000;
const maxRetryDelayMs = 8_000;
/** Of a refusal's body: enough for its text, little enough to search. */
const judgedTextBytes = 64 * 1024;

export interface HttpOptions {
  clock: Clock;
  cache: ResponseCache;
  ledger: RateLedger;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
  /** From 0 up to 1, for the jitter of retries. */
  random?: () => number;
}

export interface HttpOpen {
  /** For one request with its redirects and body; a retry has it anew. */
  timeout_ms: number;
  credential_id: string | null;
  /** After decompression; default 16 MiB. */
  max_bytes?: number;
  signal: AbortSignal;
}

export interface HttpStats {
  /** Requests that were sent: redirects and retries count, answers from memory do not exist. */
  requests: number;
  /** Body bytes as they came over the wire. */
  bytes: number;
}

/** A plug-in's context over the one pool of connections; `stats` counts what was sent through it. */
export interface HttpContext extends PluginContext {
  stats(): HttpStats;
}

export interface Http {
  open(options: HttpOpen): HttpContext;
  /** Closes the idle connections. */
  close(): void;
}

interface Session {
  options: HttpOpen;
  maxBytes: number;
  stats: HttpStats;
}

/** An answer that a later attempt may better: a 5xx, with its wait where it names one. */
class PassingFault extends Error {
  readonly error: PluginError;
  readonly waitMs: number | null;

  constructor(error: PluginError, waitMs: number | null) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}

function checkScheme(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new PluginError("rejected", `Only http and https are used, not "${url.protocol}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new PluginError(
      "rejected",
      `The address of "${url.host}" has a user name or password; store a credential instead`,
    );
  }
}

function metadataRefused(): PluginError {
  return new PluginError("rejected", destinationBlocked);
}

/**
 * The bounded fetch for sources and every other call to a place that may be private. Connections are kept alive and pinned at
 * once: each is opened to an address that was checked in the same resolution, and only such connections are used again.
 */
export function createHttp(options: HttpOptions): Http {
  const { clock, cache, ledger } = options;
  const resolve = options.resolve ?? systemResolve;
  const random = options.random ?? Math.random;
  const deadlines = createDeadlines(clock);
  const lookup = lookupFrom(async (host) => {
    const answers = await resolveAll(resolve, host);
    if (answers.some(({ address }) => parseAddress(address) === null || isMetadataAddress(address)))
      throw metadataRefused();
    return answers;
  });
  // 32 per host: four checks at once with a few requests each; idle ones end after the server's own time or 15 s.
  const pool = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8, timeout: 15_000 };
  const agents = { "http:": new http.Agent(pool), "https:": new https.Agent(pool) };

  const sendHop = async (hop: Hop, conditions: CachedResponse | null, session: Session, deadline: Deadline) => {
    const headers = conditions === null ? hop.headers : new Headers(hop.headers);
    if (conditions !== null) {
      for (const [name, value] of Object.entries(conditionsOf(conditions))) headers.set(name, value);
    }
    const agent = agents[hop.url.protocol === "https:" ? "https:" : "http:"];
    const request = { url: hop.url, method: hop.method, headers, body: hop.body, agent, lookup, deadline };
    for (;;) {
      session.stats.requests += 1;
      try {
        return await exchange(request);
      } catch (error) {
        // The server had closed the idle connection; at most `maxFreeSockets` of those can be met in a row.
        if (!(error instanceof StaleConnection) || !isRepeatable(hop) || deadline.isOver()) throw error;
      }
    }
  };

  /** One request of a chain: the next hop, or the answer. */
  const takeHop = async (
    hop: Hop,
    init: RequestInit,
    session: Session,
    deadline: Deadline,
  ): Promise<Hop | Response> => {
    checkScheme(hop.url);
    if (isMetadataAddress(bareHost(hop.url.hostname))) throw metadataRefused();
    const blockedUntil = ledger.blockedUntil(hop.url.host, hop.credential_id);
    if (blockedUntil !== null) throw rateLimited(hop.url, blockedUntil - clock.now(), clock.now());
    const key = cacheableKey(hop, init);
    const known = key === null ? null : await cache.find(key);
    const message = await sendHop(hop, known, session, deadline);
    const headers = headersOf(message);
    const status = message.statusCode ?? 0;
    if (status === 304 && known !== null) {
      await discardBody(message, judgedTextBytes);
      ledger.observe(hop.url.host, hop.credential_id, { status, headers, text: "" });
      deadline.end();
      return named(toResponse(known), hop.url);
    }
    const next = init.redirect === "manual" ? null : nextHop(hop, status, headers.get("location"));
    if (next !== null) {
      ledger.observe(hop.url.host, hop.credential_id, { status, headers, text: "" });
      await discardBody(message, judgedTextBytes);
      if (init.redirect === "error")
        throw new PluginError("rejected", `"${hop.url.host}" redirects, which is not followed`);
      return next;
    }
    return await readAnswer(message, { hop, key, status, headers, session, deadline });
  };

  interface Head {
    hop: Hop;
    key: string | null;
    status: number;
    headers: Headers;
    session: Session;
    deadline: Deadline;
  }

  const readAnswer = async (message: IncomingMessage, head: Head): Promise<Response> => {
    const { hop, key, status, headers, session, deadline } = head;
    const { host } = hop.url;
    if (status < 200 || status > 599) throw new PluginError("malformed", `"${host}" answered with status ${status}`);
    const limits = { host, max_bytes: session.maxBytes };
    const isBodiless = hop.method === "HEAD" || status === 204 || status === 205 || status === 304;
    const count = (bytes: number) => {
      session.stats.bytes += bytes;
    };
    const source = isBodiless ? null : bodyOf(message, count);
    if (source === null) await discardBody(message, judgedTextBytes);
    const { start, rest } = source === null ? { start: new Uint8Array(), rest: null } : await startBody(source, limits);
    const isJudged = status >= 400 || hop.method === "POST";
    const text = isJudged ? new TextDecoder().decode(start.subarray(0, judgedTextBytes)) : "";
    const wait = ledger.observe(host, hop.credential_id, { status, headers, text });
    if (wait !== null || status >= 500) message.destroy();
    if (wait !== null) throw rateLimited(hop.url, wait, clock.now());
    if (status >= 500) throw serverFault(hop.url, status, text, readRetryAfter(headers, clock.now()));
    if (source !== null && headers.has("content-encoding")) {
      headers.delete("content-encoding");
      headers.delete("content-length");
    }
    if (rest === null) {
      deadline.end();
      const stored = key === null || status !== 200 ? null : toCached(headers, start);
      if (key !== null && stored !== null) await cache.store(key, stored);
      return named(new Response(isBodiless ? null : start, { status, headers }), hop.url);
    }
    const toError = (cause: unknown) => describeFailure(cause, hop.url, deadline).error;
    const stream = streamBody(start, rest, { ...limits, toError, onEnd: deadline.end });
    return named(new Response(stream, { status, headers }), hop.url);
  };

  /** A request with its redirects, under one deadline. */
  const attempt = async (first: Hop, init: RequestInit, session: Session): Promise<Response> => {
    const { timeout_ms, signal } = session.options;
    const deadline = deadlines.start(timeout_ms, [signal, init.signal]);
    let hop = first;
    try {
      for (let redirects = 0; redirects <= maxRedirects; redirects++) {
        const taken = await takeHop(hop, init, session, deadline);
        if (taken instanceof Response) return taken;
        hop = taken;
      }
      throw new PluginError("rejected", `"${first.url.host}" redirects more than ${maxRedirects} times`);
    } catch (cause) {
      deadline.end();
      if (cause instanceof PassingFault) throw cause;
      const { error, isPassing } = describeFailure(cause, hop.url, deadline);
      throw isPassing ? new PassingFault(error, null) : error;
    }
  };

  const pause = async (ms: number, session: Session, cause: PluginError): Promise<void> => {
    try {
      await clock.sleep(ms, session.options.signal);
    } catch {
      throw cause; // cancelled while waiting: what went wrong before is the better answer
    }
  };

  const fetchBounded = async (url: URL, init: RequestInit, session: Session): Promise<Response> => {
    const outgoing = await readOutgoing(init);
    if (!outgoing.headers.has("accept-encoding") && outgoing.method !== "HEAD" && !outgoing.headers.has("range")) {
      outgoing.headers.set("accept-encoding", "gzip");
    }
    const hop: Hop = { url, ...outgoing, credential_id: session.options.credential_id };
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(hop, init, session);
      } catch (fault) {
        if (!(fault instanceof PassingFault)) throw fault;
        const isLast = tries >= maxRetries || !isRepeatable(hop) || (fault.waitMs ?? 0) > maxRetryDelayMs;
        if (isLast || init.signal?.aborted) throw fault.error;
        const jitter = minRetryDelayMs + random() * (maxRetryDelayMs - minRetryDelayMs);
        await pause(Math.max(fault.waitMs ?? 0, Math.round(jitter)), session, fault.error);
      }
    }
  };

  return {
    open: (open) => {
      const session: Session = {
        options: open,
        maxBytes: open.max_bytes ?? defaultMaxBytes,
        stats: { requests: 0, bytes: 0 },
      };
      return {
        signal: open.signal,
        clock,
        fetch: (url, init = {}) => fetchBounded(url, init, session),
        stats: () => ({ ...session.stats }),
      };
    },
    close: () => {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

/** Sending it twice changes nothing: reads, and GraphQL queries, which are reads sent by POST. */
function isRepeatable(hop: Hop): boolean {
  return (
    hop.method === "GET" || hop.method === "HEAD" || (hop.method === "POST" && hop.url.pathname.endsWith("/graphql"))
  );
}

function cacheableKey(hop: Hop, init: RequestInit): string | null {
  if (hop.method !== "GET" || init.cache === "no-store" || hop.headers.has("range")) return null;
  if (hop.headers.has("if-none-match") || hop.headers.has("if-modified-since")) return null;
  return cacheKey(hop.url, hop.credential_id, hop.headers.get("accept") ?? "");
}

/** `response.url`, as `fetch` would have it: relative links are resolved against it. */
function named(response: Response, url: URL): Response {
  return Object.defineProperty(response, "url", { value: url.href });
}

function rateLimited(url: URL, waitMs: number, now: number): PluginError {
  const message = `"${url.host}" limits the rate of requests, the next one can be sent at ${toIso(now + waitMs)}`;
  return new PluginError("rate_limited", message, { retry_after_ms: waitMs });
}

function serverFault(url: URL, status: number, text: string, waitMs: number | null): PassingFault {
  const said = text.replace(/\s+/g, " ").trim().slice(0, 200);
  const message = `"${url.host}" answered ${status}${said === "" ? "" : `: ${said}`}`;
  return new PassingFault(new PluginError("unreachable", message, { retry_after_ms: waitMs }), waitMs);
}
