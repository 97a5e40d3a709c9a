import * as http from "node:http";
import * as https from "node:https";
import type DockerModem from "docker-modem";
import { PluginError, type PluginErrorCode, saidBy } from "../../errors.ts";
import { inEnglish, type Message, say } from "../../messages/message.ts";
import { isMetadataHost, neverAllowed } from "../../net/destination.ts";
import { answerHead, connectionFault, malformation, wantsHttps } from "../../net/exchange.ts";
import { lookupFrom, type Resolve, resolveBeyondMetadata, systemResolve } from "../../net/resolve.ts";
import type { EngineAddress } from "./address.ts";

/** Larger than any inspection seen (a list of 1,000 containers has about 2 MB); a larger response is broken. */
const maxBodyBytes = 16 * 1024 * 1024;
/** For the events of a pull: about 100 MB if it has many layers and takes hours. */
const maxStreamBytes = 512 * 1024 * 1024;

export interface EngineRequest {
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** With a leading slash, already encoded. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** An archive as the body, in place of `body`. */
  archive?: Uint8Array;
  /** Requests the response as `bytes`, at most this many. */
  maxBytes?: number;
  headers?: Readonly<Record<string, string>>;
  /** For the whole exchange; for a stream, the longest silence. */
  deadlineMs: number;
  /** For the whole of a stream. */
  totalMs?: number;
}

export interface EngineResponse {
  status: number;
  contentType: string;
  text: string;
  /** Instead of `text`, if the request asked for bytes and succeeded. */
  bytes?: Uint8Array;
  /** What an engine reports about a file beside its archive: JSON in base64. */
  pathStat?: string;
}

export interface EngineTransport {
  /** The whole response, whatever its status. Throws `unreachable` if there is none, or only a part. */
  send(request: EngineRequest): Promise<EngineResponse>;
  /** Like `send`, but passes a successful body on piece by piece; `text` is then empty. */
  stream(request: EngineRequest, onChunk: (chunk: string) => void): Promise<EngineResponse>;
  /**
   * The bytes of a successful body as they arrive, for as long as they do; `deadlineMs` is for its beginning. Ends without an error once
   * `stop` is aborted. `refuse` throws the error for another status. Absent if bytes cannot be passed on like that.
   */
  flow?(
    request: EngineRequest,
    stop: AbortSignal,
    refuse: (response: EngineResponse) => void,
  ): AsyncGenerator<Uint8Array>;
}

/** We judge every status ourselves; dockerode would turn most into errors without the body. */
const anyStatus: Record<number, boolean> = Object.fromEntries(
  Array.from({ length: 1000 }, (_, status) => [status, true]),
);

/**
 * Loaded with the first connection: dockerode includes gRPC and SSH, 38 MB that an installation without engines does not need.
 * It composes each request, and our code sends it: dockerode's own code follows redirects, even to other hosts, and throws an error
 * that cannot be caught if a redirect has no address.
 */
async function openModem(address: EngineAddress, resolve: Resolve): Promise<DockerModem> {
  const { default: Docker } = await import("dockerode");
  const { modem } = new Docker(connectionOptions(address, resolve));
  const protocol = address.kind === "tcp" && address.tls !== null ? "https:" : "http:";
  const buildRequest = (
    options: http.RequestOptions,
    _dial: DockerModem.DialOptions,
    body: Buffer | string | undefined,
    callback: DockerModem.RequestCallback,
  ) => {
    answerHead({ ...options, protocol }, body ?? null).then(
      (answer) => callback(null, answer),
      (error: Error) => callback(error, null),
    );
  };
  return Object.defineProperty(modem, "buildRequest", { value: buildRequest });
}

/**
 * HTTP to one engine through dockerode's modem: raw responses, and a new connection for each call, so that a restarted engine never
 * gets a stale one. Reads nothing from the environment and follows no redirects; a response that ends early is an error.
 * A cloud's metadata address is `rejected`, even behind a name: the address that is connected to is judged.
 */
export function engineTransport(
  address: EngineAddress,
  signal: AbortSignal,
  resolve: Resolve = systemResolve,
): EngineTransport {
  let opened: Promise<DockerModem> | null = null;

  const ready = async (label: string): Promise<DockerModem> => {
    // `lookup` is only called for names, not for addresses.
    if (address.kind === "tcp" && isMetadataHost(address.host)) throw new PluginError("rejected", neverAllowed);
    opened ??= openModem(address, resolve);
    const modem = await opened;
    if (!signal.aborted) return modem;
    throw new PluginError("unreachable", say("engine.not_sent", { request: label }), { cause: signal.reason });
  };
  const exchange = async (request: EngineRequest, onChunk: ((chunk: string) => void) | null) => {
    const label = labelOf(request);
    const modem = await ready(label);
    const ending = new AbortController();
    const over = Promise.withResolvers<never>();
    const late = (limitMs: number) => over.reject(new Fault("unreachable", say("engine.silent", { ms: limitMs })));
    const onAbort = () => over.reject(new Fault("unreachable", say("engine.stopped"), signal.reason));
    const arm = () => setTimeout(late, request.deadlineMs, request.deadlineMs);
    let silence = arm();
    const { totalMs } = request;
    const tooLong = (ms: number) => over.reject(new Fault("unreachable", say("engine.endless", { ms })));
    const whole = totalMs === undefined ? undefined : setTimeout(tooLong, totalMs, totalMs);
    signal.addEventListener("abort", onAbort, { once: true });
    const take =
      onChunk === null
        ? null
        : (chunk: string) => {
            clearTimeout(silence);
            silence = arm();
            onChunk(chunk);
          };
    try {
      const answered = dial(modem, request, ending.signal).then((answer) => readAnswer(answer, request, take));
      return await Promise.race([over.promise, answered]);
    } catch (cause) {
      throw failureOf(address, label, cause);
    } finally {
      clearTimeout(silence);
      clearTimeout(whole);
      signal.removeEventListener("abort", onAbort);
      ending.abort();
    }
  };

  return {
    send: (request) => exchange(request, null),
    stream: (request, onChunk) => exchange(request, onChunk),
    flow: async function* (request, stop, refuse) {
      const label = labelOf(request);
      const modem = await ready(label);
      const ending = new AbortController();
      const until = AbortSignal.any([signal, stop, ending.signal]);
      const late = new Fault("unreachable", say("engine.silent", { ms: request.deadlineMs }));
      const begun = setTimeout(() => ending.abort(late), request.deadlineMs);
      try {
        const answer = await dial(modem, request, until);
        answer.on("error", () => undefined);
        if ((answer.statusCode ?? 0) >= 300) refuse(await readAnswer(answer, request, null));
        clearTimeout(begun);
        for await (const chunk of answer) yield new Uint8Array(chunk);
        if (!answer.complete) throw new Fault("unreachable", say("engine.ended_early"));
      } catch (cause) {
        if (stop.aborted || signal.aborted) return;
        throw failureOf(address, label, ending.signal.aborted ? late : cause);
      } finally {
        clearTimeout(begun);
        ending.abort();
      }
    },
  };
}

function labelOf({ method, path }: EngineRequest): string {
  return `${method} ${path}`;
}

/** Why there is no response, as the end of a sentence. */
class Fault extends Error {
  readonly code: PluginErrorCode;
  readonly said: Message;

  constructor(code: PluginErrorCode, said: Message, cause?: unknown) {
    super(inEnglish(said), { cause });
    this.code = code;
    this.said = said;
  }
}

/** What a connection's fault means for an engine. */
function engineFault({ kind }: EngineAddress, fault: Message | null): Message | null {
  // An engine's address has no scheme to check.
  if (fault?.code === "net.answers_plain_http") return say("engine.answers_plain_http");
  // Also what is mounted in place of a socket that does not exist: a folder.
  return kind === "unix" && fault?.code === "net.connection_refused" ? say("engine.socket_unused") : fault;
}

function failureOf(address: EngineAddress, label: string, cause: unknown): PluginError {
  if (cause instanceof PluginError) return cause;
  const malformed = malformation(cause);
  const code = cause instanceof Fault ? cause.code : malformed === null ? "unreachable" : "malformed";
  const found = engineFault(address, connectionFault(cause));
  const said = malformed ?? (cause instanceof Fault ? cause.said : (found ?? saidBy(cause)));
  return new PluginError(code, say("engine.no_answer", { request: label, cause: said }), { cause });
}

/** Sends a request and resolves with the head of the response. */
function dial(modem: DockerModem, request: EngineRequest, signal: AbortSignal): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Without `_query`, the last character of the path would be cut; an empty `_body` sends none.
    const dialled: DockerModem.DialOptions = {
      path: `${request.path}?${new URLSearchParams(request.query)}`,
      method: request.method,
      headers: { "User-Agent": "tidemark", ...request.headers },
      options: { _query: {}, _body: request.body ?? {} },
      ...(request.archive === undefined ? {} : { file: Buffer.from(request.archive) }),
      isStream: true,
      statusCodes: anyStatus,
      abortSignal: signal,
    };
    modem.dial(dialled, (error, answer) => {
      if (answer instanceof http.IncomingMessage) resolve(answer);
      else reject(error);
    });
  });
}

/** Reads a whole response; `take` gets a successful body piece by piece. A response that ends early is a failure. */
function readAnswer(
  answer: http.IncomingMessage,
  { maxBytes }: EngineRequest,
  take: ((chunk: string) => void) | null,
): Promise<EngineResponse> {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599) throw new Fault("malformed", say("engine.odd_status", { status }));
  if (status >= 300 && status < 400 && status !== 304) {
    throw new Fault("rejected", say("engine.redirects", { status }));
  }
  const isStreamed = take !== null && status < 300;
  const isBinary = maxBytes !== undefined && status < 300;
  const limit = isBinary ? maxBytes : isStreamed ? maxStreamBytes : maxBodyBytes;
  const decoder = new TextDecoder();
  const pieces: Buffer[] = [];
  let text = "";
  let bytes = 0;
  const onData = (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new Fault("malformed", say("engine.too_large", { limit }));
    if (isBinary) pieces.push(chunk);
    else if (isStreamed) take(decoder.decode(chunk, { stream: true }));
    else text += decoder.decode(chunk, { stream: true });
  };
  return new Promise((resolve, reject) => {
    answer.on("data", (chunk: Buffer) => {
      try {
        onData(chunk);
      } catch (error) {
        reject(error);
      }
    });
    answer.on("error", (cause) => reject(new Fault("unreachable", say("engine.broken_off"), cause)));
    answer.on("close", () => reject(new Fault("unreachable", say("engine.ended_early"))));
    answer.on("end", () => {
      if (!answer.complete) return reject(new Fault("unreachable", say("engine.ended_early")));
      if (wantsHttps({ status, text })) return reject(new Fault("rejected", say("net.wants_https")));
      const pathStat = answer.headers["x-docker-container-path-stat"];
      resolve({
        status,
        contentType: answer.headers["content-type"] ?? "",
        text,
        ...(isBinary ? { bytes: Buffer.concat(pieces) } : {}),
        ...(typeof pathStat === "string" ? { pathStat } : {}),
      });
    });
  });
}

/** Sets every option that dockerode would otherwise read from `DOCKER_HOST` and similar variables, blank if unused. */
function connectionOptions(address: EngineAddress, resolve: Resolve) {
  const nothing = {
    host: undefined,
    port: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeout: undefined,
  };
  const lookup = lookupFrom((host) => resolveBeyondMetadata(resolve, host));
  const plain = new http.Agent({ keepAlive: false, lookup });
  if (address.kind === "unix") {
    return { ...nothing, protocol: "http" as const, socketPath: address.path, agent: plain };
  }
  const target = { ...nothing, host: address.host, port: address.port };
  if (address.tls === null) return { ...target, protocol: "http" as const, agent: plain };
  const material = {
    ...(address.tls.ca_certificate === null ? {} : { ca: address.tls.ca_certificate }),
    ...(address.tls.client_certificate === null ? {} : { cert: address.tls.client_certificate }),
    ...(address.tls.client_key === null ? {} : { key: address.tls.client_key }),
  };
  const security = { rejectUnauthorized: address.tls.is_verified, ...material };
  const agent = new https.Agent({ keepAlive: false, lookup, ...security });
  return { ...target, protocol: "https" as const, ...material, agent };
}
