import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { PluginError, type PluginErrorCode } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { bareHost } from "./address.ts";
import type { Deadline } from "./deadline.ts";

/** All response headers together; a server that sends more is disconnected. */
const maxHeaderBytes = 32 * 1024;
/** 1xx responses before the real one: `Early Hints` and the like come once or twice. */
const maxAnnouncements = 20;

export interface ExchangeRequest {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | null;
  /** From `createAgent`; its protocol must be the URL's. */
  agent: http.Agent | https.Agent;
  lookup: LookupFunction;
  /** Destroys the connection when it passes, during the head or the body. */
  deadline: Deadline;
}

/**
 * An agent that ignores proxy variables. A proxy would resolve the name again and go anywhere; `agent: false` and plain agents follow
 * NODE_USE_ENV_PROXY on Deno and Node.js, and only an empty `proxyEnv` prevents that.
 */
export function createAgent(protocol: string, options: https.AgentOptions): http.Agent | https.Agent {
  const direct = { ...options, proxyEnv: {} };
  return protocol === "https:" ? new https.Agent(direct) : new http.Agent(direct);
}

/** A failed exchange on a kept-alive connection that the server had closed: repeatable requests are sent again at once. */
export class StaleConnection extends Error {
  readonly code = "ECONNRESET";
}

/** The bytes are not an HTTP response; the message is the end of a sentence. */
class MalformedAnswer extends Error {
  constructor(readonly said: Message) {
    super(said.code);
  }
}

function isStale(request: ClientRequest, error: unknown): boolean {
  const code = codeOf(error);
  return request.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
}

/**
 * One request and the head of its response over node:http, which, unlike `fetch`, connects where `lookup` says, follows and decodes
 * nothing, and ignores proxy variables on every runtime. Host header, SNI and certificate name are the URL's.
 */
export function exchange(options: ExchangeRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, agent, lookup, deadline } = options;
  const isTls = url.protocol === "https:";
  const sent: Record<string, string> = {};
  headers.forEach((value, name) => {
    sent[name] = value;
  });
  if (body !== null) sent["content-length"] = String(body.byteLength);
  if (deadline.isOver()) return Promise.reject(new Error("The deadline is over"));
  const request = {
    protocol: url.protocol,
    hostname: bareHost(url.hostname),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    headers: sent,
    agent,
    lookup,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
    ...(isTls ? { rejectUnauthorized: true } : {}),
  };
  return answerHead(request, body, (sent) => deadline.watch(() => sent.destroy()));
}

/**
 * Sends one request over node:http and resolves with the response head, whatever its status: follows nothing, never switches protocols, and
 * limits the head and the 1xx responses before it. Every failure is a rejection, never an unhandled event.
 */
export function answerHead(
  options: http.RequestOptions,
  body: Uint8Array | string | null,
  onSent: (request: ClientRequest) => void = () => undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (options.protocol === "https:" ? https : http).request({
      ...options,
      maxHeaderSize: maxHeaderBytes,
    });
    let announcements = 0;
    request.on("response", (response) => {
      // The body's reader gets the errors too; without this listener, they would end the process while there is no reader.
      response.on("error", () => undefined);
      resolve(response);
    });
    request.on("information", () => {
      announcements += 1;
      if (announcements > maxAnnouncements) request.destroy(new MalformedAnswer(say("net.answer_only_announced")));
    });
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new MalformedAnswer(say("net.protocol_switched")));
    });
    request.on("error", (error) => reject(isStale(request, error) ? new StaleConnection() : error));
    request.end(body ?? undefined);
    onSent(request);
  });
}

/** The response headers for the Web API, without those that `Headers` cannot hold. */
export function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    const name = message.rawHeaders[index] ?? "";
    const value = (message.rawHeaders[index + 1] ?? "").trim();
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && isHeaderValue(value)) headers.append(name, value);
  }
  return headers;
}

function isHeaderValue(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code === 0 || code === 10 || code === 13 || code > 255) return false;
  }
  return true;
}

function encodingOf(message: IncomingMessage): string {
  return (message.headers["content-encoding"] ?? "").trim().toLowerCase();
}

/** Plain, or compressed as requested. Brotli and the like are never requested, so they are refused. */
export function isReadable(message: IncomingMessage): boolean {
  return ["", "identity", "gzip", "x-gzip"].includes(encodingOf(message));
}

/**
 * The body's bytes as they arrive, decompressed if needed and not `isRaw`; `onBytes` counts bytes on the wire. It flows from the next tick
 * on: read it at once.
 */
export function bodyOf(message: IncomingMessage, onBytes: (count: number) => void, isRaw = false): Readable {
  message.on("data", (chunk: Uint8Array) => onBytes(chunk.byteLength));
  const encoding = encodingOf(message);
  if (isRaw || encoding === "identity" || encoding === "") return message;
  if (!isReadable(message)) {
    message.destroy();
    throw new PluginError("malformed", say("net.unasked_compression", { encoding: encoding.slice(0, 40) }));
  }
  const gunzip = createGunzip();
  // A reader adds its own listener; without any listener, an error would end the process.
  gunzip.on("error", () => undefined);
  message.on("error", (error) => gunzip.destroy(error));
  message.on("aborted", () => gunzip.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" })));
  gunzip.on("close", () => message.destroy());
  return message.pipe(gunzip);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const phrases: Readonly<Record<string, Message>> = {
  ECONNREFUSED: say("net.connection_refused"),
  ENOENT: say("net.no_socket"),
  EACCES: say("net.socket_denied"),
  ECONNRESET: say("net.connection_closed"),
  EPIPE: say("net.connection_closed"),
  ETIMEDOUT: say("net.connection_timed_out"),
  EHOSTUNREACH: say("net.host_unreachable"),
  ENETUNREACH: say("net.network_unreachable"),
  ERR_TLS_CERT_ALTNAME_INVALID: say("net.certificate_for_another_name"),
  CERT_HAS_EXPIRED: say("net.certificate_expired"),
  CERT_NOT_YET_VALID: say("net.certificate_not_yet_valid"),
  ERR_SSL_WRONG_VERSION_NUMBER: say("net.answers_plain_http"),
  DEPTH_ZERO_SELF_SIGNED_CERT: say("net.certificate_self_signed"),
  SELF_SIGNED_CERT_IN_CHAIN: say("net.certificate_untrusted"),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: say("net.certificate_untrusted"),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: say("net.certificate_untrusted"),
};

/** Failures that may pass in a moment: a reset or a timeout, not a refusal, a bad certificate or a broken response. */
const passingCodes = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"]);

/** Whether a server that speaks TLS refused what came without, in words as Go and nginx do. */
export function wantsHttps({ status, text }: { status: number; text: string }): boolean {
  return status === 400 && /HTTP request to an HTTPS server|plain HTTP request was sent to HTTPS port/i.test(text);
}

/** The first bytes of an alert: its content type, and the major version of every TLS. */
const [tlsAlert, tlsMajor] = [0x15, 0x03];

/** How a response violated HTTP, as the end of a sentence; null for every other failure. */
export function malformation(cause: unknown): Message | null {
  if (cause instanceof MalformedAnswer) return cause.said;
  const code = codeOf(cause);
  if (code === "HPE_HEADER_OVERFLOW") return say("net.headers_too_large", { kib: maxHeaderBytes / 1024 });
  if (!code.startsWith("HPE_")) return null;
  const packet = cause instanceof Error && "rawPacket" in cause ? cause.rawPacket : null;
  const isAlert = packet instanceof Uint8Array && packet[0] === tlsAlert && packet[1] === tlsMajor;
  return isAlert ? say("net.wants_https") : say("net.not_http");
}

/** Why a connection failed or broke off, as the end of a sentence; null for every other failure. */
export function connectionFault(cause: unknown): Message | null {
  return phrases[codeOf(cause)] ?? null;
}

export interface Failure {
  error: PluginError;
  /** Worth a retry. */
  isPassing: boolean;
}

/** Turns any failure of an exchange into a PluginError that names the requested host, and no address. */
export function describeFailure(cause: unknown, url: URL, deadline: Deadline): Failure {
  if (cause instanceof PluginError) return { error: cause, isPassing: false };
  const { host } = url;
  const fail = (code: PluginErrorCode, said: Message, isPassing: boolean): Failure => ({
    error: new PluginError(code, said, { cause }),
    isPassing,
  });
  const failed = (why: Message) => say("net.request_failed", { host, cause: why });
  if (deadline.hasPassed()) {
    return fail("unreachable", say("net.timed_out", { host, seconds: deadline.timeout_ms / 1000 }), true);
  }
  if (deadline.isOver()) return fail("unreachable", say("net.cancelled", { host }), false);
  const malformed = malformation(cause);
  if (malformed !== null) return fail("malformed", failed(malformed), false);
  const code = codeOf(cause);
  if (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE") {
    return fail("malformed", failed(say("net.gzip_damaged")), false);
  }
  const why = connectionFault(cause) ?? say("net.not_sent", { code: code === "" ? null : code });
  return fail("unreachable", failed(why), passingCodes.has(code));
}
