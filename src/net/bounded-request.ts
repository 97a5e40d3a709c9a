import type http from "node:http";
import type { IncomingMessage } from "node:http";
import type https from "node:https";
import type { LookupFunction } from "node:net";
import { type Clock, toIso } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { bareHost, isMetadataAddress } from "./address.ts";
import { discardBody, startBody, streamBody } from "./bounded-body.ts";
import { type ClockDifferences, explainedByClocks } from "./clock-difference.ts";
import type { Deadline, Deadlines } from "./deadline.ts";
import { neverAllowed } from "./destination.ts";
import { bodyOf, describeFailure, exchange, headersOf, isReadable, StaleConnection, wantsHttps } from "./exchange.ts";
import { readRetryAfter } from "./rate-headers.ts";
import type { RateLedger } from "./rate-ledger.ts";
import { type Hop, maxRedirects, nextHop } from "./redirects.ts";
import {
  type CachedResponse,
  cacheKey,
  conditionsOf,
  type ResponseCache,
  toCached,
  toResponse,
} from "./response-cache.ts";

/** Of an error response's body: enough for its text, little enough to search. */
const judgedTextBytes = 64 * 1024;

/** What all requests share. */
export interface Wire {
  clock: Clock;
  cache: ResponseCache;
  ledger: RateLedger;
  deadlines: Deadlines;
  differences: ClockDifferences;
  lookup: LookupFunction;
  agents: Readonly<Record<"http:" | "https:", http.Agent | https.Agent>>;
}

export interface BoundedRequest {
  first: Hop;
  init: RequestInit;
  timeout_ms: number;
  max_bytes: number;
  signal: AbortSignal;
  onRequest: () => void;
  onBytes: (count: number) => void;
}

interface Attempt extends BoundedRequest {
  wire: Wire;
  deadline: Deadline;
}

/** A failure that a retry may fix: a reset, a timeout, or a 5xx with its wait if it gives one. */
export class PassingFault extends Error {
  readonly error: PluginError;
  readonly wait_ms: number | null;

  constructor(error: PluginError, waitMs: number | null) {
    super(error.message);
    this.error = error;
    this.wait_ms = waitMs;
  }
}

/** Safe to send twice: reads, and reads by POST such as GraphQL queries and git's upload-pack requests. */
export function isRepeatable(hop: Hop): boolean {
  const isQuery = hop.method === "POST" && /\/(?:graphql|git-upload-pack)$/.test(hop.url.pathname);
  return hop.method === "GET" || hop.method === "HEAD" || isQuery;
}

/** One request with its redirects under one deadline, which includes reading a large body. */
export async function sendBounded(wire: Wire, request: BoundedRequest): Promise<Response> {
  const deadline = wire.deadlines.start(request.timeout_ms, [request.signal, request.init.signal]);
  const attempt: Attempt = { ...request, wire, deadline };
  let hop = request.first;
  try {
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const taken = await takeHop(hop, attempt);
      if (taken instanceof Response) return taken;
      hop = taken;
    }
    throw new PluginError(
      "rejected",
      say("net.too_many_redirects", { host: request.first.url.host, limit: maxRedirects }),
    );
  } catch (error) {
    deadline.end();
    throw error;
  }
}

/** Maps network failures to plug-in errors; other failures pass unchanged. */
async function overNetwork<T>(work: Promise<T>, hop: Hop, { wire, deadline }: Attempt): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const { error, isPassing } = describeFailure(cause, hop.url, deadline);
    if (isPassing) throw new PassingFault(error, null);
    throw await explainedByClocks(error, hop.url, { ...wire, deadline });
  }
}

function admit(hop: Hop, { wire }: Attempt): void {
  const { protocol, username, password, host, hostname } = hop.url;
  if (protocol !== "http:" && protocol !== "https:") {
    throw new PluginError("rejected", say("net.scheme_unusable", { scheme: protocol }));
  }
  if (username !== "" || password !== "") {
    throw new PluginError("rejected", say("net.user_in_address", { host }));
  }
  if (isMetadataAddress(bareHost(hostname))) throw new PluginError("rejected", neverAllowed);
  const blockedUntil = wire.ledger.blockedUntil(host, hop.credential_id);
  if (blockedUntil !== null)
    throw notYet(blockedUntil - wire.clock.now(), wire.clock, (at) => say("net.waiting_for_rate_limit", { host, at }));
}

/** One request of a chain: returns the next hop, or the response. */
async function takeHop(hop: Hop, attempt: Attempt): Promise<Hop | Response> {
  const { wire, init, deadline } = attempt;
  admit(hop, attempt);
  const key = cacheableKey(hop, init);
  const known = key === null ? null : await wire.cache.find(key);
  const message = await overNetwork(sendHop(hop, known, attempt), hop, attempt);
  const headers = headersOf(message);
  wire.differences.observe(hop.url.host, headers);
  const status = message.statusCode ?? 0;
  const isUnchanged = status === 304 && known !== null;
  const next = isUnchanged || init.redirect === "manual" ? null : nextHop(hop, status, headers.get("location"));
  if (!isUnchanged && next === null) return await readAnswer(message, { hop, key, status, headers }, attempt);
  wire.ledger.observe(hop.url.host, hop.credential_id, { status, headers, text: "" });
  await discardBody(message, judgedTextBytes);
  if (isUnchanged) {
    deadline.end();
    return named(toResponse(known), hop.url);
  }
  if (next === null || init.redirect === "error") {
    throw new PluginError("rejected", say("net.redirect_not_followed", { host: hop.url.host }));
  }
  return next;
}

async function sendHop(hop: Hop, known: CachedResponse | null, attempt: Attempt): Promise<IncomingMessage> {
  const { wire, deadline } = attempt;
  const headers = known === null ? hop.headers : new Headers(hop.headers);
  if (known !== null) for (const [name, value] of Object.entries(conditionsOf(known))) headers.set(name, value);
  const agent = wire.agents[hop.url.protocol === "https:" ? "https:" : "http:"];
  const request = { url: hop.url, method: hop.method, headers, body: hop.body, agent, lookup: wire.lookup, deadline };
  for (;;) {
    attempt.onRequest();
    try {
      return await exchange(request);
    } catch (error) {
      // The server closed the idle connection; at most the agent's free connections can fail this way in a row.
      if (!(error instanceof StaleConnection) || !isRepeatable(hop) || deadline.isOver()) throw error;
    }
  }
}

interface Head {
  hop: Hop;
  key: string | null;
  status: number;
  headers: Headers;
}

async function readAnswer(message: IncomingMessage, head: Head, attempt: Attempt): Promise<Response> {
  const { hop, key, status, headers } = head;
  const { wire, deadline } = attempt;
  const { host } = hop.url;
  if (status < 200 || status > 599) {
    message.destroy();
    throw new PluginError("malformed", say("net.unusable_status", { host, status }));
  }
  const limits = { host, max_bytes: attempt.max_bytes };
  const hasNone = hop.method === "HEAD" || status === 204 || status === 205 || status === 304;
  // An error is judged by its status and headers, even when its body cannot be read.
  const isBodiless = hasNone || (status >= 400 && !isReadable(message));
  // Compressed although not accepted: some servers describe a compressed file this way, and its bytes are the requested ones.
  const isRaw = status < 400 && hop.headers.get("accept-encoding") === "identity";
  const begun = isBodiless ? skipBody(message) : startBody(bodyOf(message, attempt.onBytes, isRaw), limits);
  const { start, rest } = await overNetwork(begun, hop, attempt);
  const isJudged = status >= 400 || hop.method === "POST";
  const text = isJudged ? new TextDecoder().decode(start.subarray(0, judgedTextBytes)) : "";
  const wait = wire.ledger.observe(host, hop.credential_id, { status, headers, text });
  if (wait !== null || status >= 500) rest?.destroy();
  if (wait !== null) {
    throw notYet(wait, wire.clock, (at) => say("net.rate_limited", { host, at }));
  }
  if (status >= 500) throw serverFault(host, status, text, readRetryAfter(headers, wire.clock.now()));
  if (hop.url.protocol === "http:" && wantsHttps({ status, text })) {
    rest?.destroy();
    throw new PluginError("rejected", say("net.request_failed", { host, cause: say("net.wants_https") }));
  }
  if (!hasNone && headers.has("content-encoding")) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  if (rest === null) {
    deadline.end();
    const stored = key === null || status !== 200 ? null : toCached(headers, start);
    if (key !== null && stored !== null) await wire.cache.store(key, stored);
    return named(new Response(isBodiless ? null : start, { status, headers }), hop.url);
  }
  const toError = (cause: unknown) => describeFailure(cause, hop.url, deadline).error;
  const stream = streamBody(start, rest, { ...limits, toError, onEnd: deadline.end });
  return named(new Response(stream, { status, headers }), hop.url);
}

async function skipBody(message: IncomingMessage) {
  await discardBody(message, judgedTextBytes);
  return { start: new Uint8Array(), rest: null };
}

function cacheableKey(hop: Hop, init: RequestInit): string | null {
  if (hop.method !== "GET" || init.cache === "no-store" || hop.headers.has("range")) return null;
  if (hop.headers.has("if-none-match") || hop.headers.has("if-modified-since")) return null;
  return cacheKey(hop.url, hop.credential_id, hop.headers.get("accept") ?? "");
}

/** `response.url` as `fetch` sets it: relative links are resolved against it. */
function named(response: Response, url: URL): Response {
  return Object.defineProperty(response, "url", { value: url.href });
}

function notYet(waitMs: number, clock: Clock, tell: (at: string) => Message): PluginError {
  return new PluginError("rate_limited", tell(toIso(clock.now() + waitMs)), { retry_after_ms: waitMs });
}

function serverFault(host: string, status: number, text: string, waitMs: number | null): PassingFault {
  const line = text.replace(/\s+/g, " ").trim();
  // Marked as cut, so that the redactor looks for the beginning of a secret before the mark.
  const said = line.length > 200 ? `${line.slice(0, 199)}…` : line;
  const answered = say("net.answered", { host, status, said });
  return new PassingFault(new PluginError("unreachable", answered, { retry_after_ms: waitMs }), waitMs);
}
