import * as http from "node:http";
import * as https from "node:https";
import { createRequire } from "node:module";
import { inspect } from "node:util";
import type DockerModem from "docker-modem";
import { errorMessage, PluginError } from "../../errors.ts";
import { destinationBlocked, isMetadataHost } from "../../net/destination.ts";
import { lookupFrom, type Resolve, resolveBeyondMetadata, systemResolve } from "../../net/resolve.ts";
import type { EngineAddress } from "./address.ts";

/** Larger than any inspect seen (an engine with 1,000 containers lists in about 2 MB); an answer beyond it is broken. */
const maxBodyBytes = 16 * 1024 * 1024;

export interface EngineRequest {
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** With a leading slash, already encoded. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** An archive as the body, in place of `body`. */
  archive?: Uint8Array;
  /** Asks for the answer as `bytes`, which are at most so many. */
  maxBytes?: number;
  headers?: Readonly<Record<string, string>>;
  /** For the whole exchange; for a stream the longest silence. */
  deadlineMs: number;
}

export interface EngineResponse {
  status: number;
  contentType: string;
  text: string;
  /** In place of `text`, where a request asked for bytes and succeeded. */
  bytes?: Uint8Array;
  /** What an engine tells of a file beside its archive: JSON in base64. */
  pathStat?: string;
}

export interface EngineTransport {
  /** The whole answer, whatever its status. Throws `unreachable` when there is none, or only a part of one. */
  send(request: EngineRequest): Promise<EngineResponse>;
  /** Like `send`, but hands a successful body over piece by piece as it comes; `text` is then empty. */
  stream(request: EngineRequest, onChunk: (chunk: string) => void): Promise<EngineResponse>;
}

/** Every status is an answer for us to judge; dockerode would turn most into errors with the body lost. */
const anyStatus: Record<number, boolean> = Object.fromEntries(
  Array.from({ length: 500 }, (_, index) => [index + 100, true]),
);

/**
 * Loaded with the first connection: dockerode brings gRPC and SSH, which cost 38 MB that an installation without engines
 * need not have. Its redirects are switched off, because it would follow them to other hosts.
 */
async function openModem(address: EngineAddress, resolve: Resolve): Promise<DockerModem> {
  const { default: Docker } = await import("dockerode");
  const requireModem = createRequire(createRequire(import.meta.url).resolve("dockerode"));
  requireModem("docker-modem/lib/http").maxRedirects = 0;
  return new Docker(connectionOptions(address, resolve)).modem;
}

/**
 * HTTP to one engine through dockerode's modem: raw answers, a fresh connection for each call, so that a restarted engine never
 * meets a stale one. It reads nothing from the environment, follows no redirect, and an answer that ends early is an error.
 * A cloud's metadata address is refused with `rejected`, also behind a name: it is judged by the resolution that is connected to.
 */
export function engineTransport(
  address: EngineAddress,
  signal: AbortSignal,
  resolve: Resolve = systemResolve,
): EngineTransport {
  let opened: Promise<DockerModem> | null = null;

  const exchange = async (request: EngineRequest, onChunk: ((chunk: string) => void) | null) => {
    const label = `${request.method} ${request.path}`;
    // `lookup` is asked for names alone, never for what is an address already.
    if (address.kind === "tcp" && isMetadataHost(address.host)) throw new PluginError("rejected", destinationBlocked);
    opened ??= openModem(address, resolve);
    const modem = await opened;
    if (signal.aborted) {
      throw new PluginError("unreachable", `${label} was not sent: the work was stopped`, { cause: signal.reason });
    }
    return await new Promise<EngineResponse>((resolve, reject) => {
      const ending = new AbortController();
      brief(ending.signal);
      const end = (error: PluginError | null, response?: EngineResponse) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        if (error === null && response !== undefined) return resolve(response);
        reject(error);
        ending.abort();
      };
      const unreachable = (detail: string, cause?: unknown) => {
        end(new PluginError("unreachable", `The engine did not answer ${label}: ${detail}`, { cause }));
      };
      const onDeadline = () => unreachable(`nothing within ${request.deadlineMs} ms`);
      const onAbort = () => unreachable("the work was stopped", signal.reason);
      let timer = setTimeout(onDeadline, request.deadlineMs);
      signal.addEventListener("abort", onAbort, { once: true });

      // `_query` must be there, or the last character of the path is cut; an empty `_body` sends none.
      const dial: DockerModem.DialOptions = {
        path: `${request.path}?${new URLSearchParams(request.query)}`,
        method: request.method,
        headers: { "User-Agent": "tidemark", ...request.headers },
        options: { _query: {}, _body: request.body ?? {} },
        ...(request.archive === undefined ? {} : { file: Buffer.from(request.archive) }),
        isStream: true,
        statusCodes: anyStatus,
        abortSignal: ending.signal,
      };
      modem.dial(dial, (error, incoming) => {
        if (error instanceof PluginError && error.code === "rejected") return end(error);
        if (error !== null) return unreachable(errorMessage(error), error);
        if (!(incoming instanceof http.IncomingMessage)) return unreachable("its answer is no HTTP");
        ending.signal.addEventListener("abort", () => incoming.destroy(), { once: true });
        const status = incoming.statusCode ?? 0;
        const isStreamed = onChunk !== null && status < 300;
        const isBinary = request.maxBytes !== undefined && status < 300;
        const limit = isBinary ? (request.maxBytes ?? 0) : maxBodyBytes;
        const decoder = new TextDecoder();
        const pieces: Buffer[] = [];
        let text = "";
        let bytes = 0;
        incoming.on("data", (chunk: Buffer) => {
          if (isStreamed) {
            clearTimeout(timer);
            timer = setTimeout(onDeadline, request.deadlineMs);
            onChunk(decoder.decode(chunk, { stream: true }));
            return;
          }
          bytes += chunk.byteLength;
          if (bytes > limit) unreachable(`more than ${limit} bytes`);
          else if (isBinary) pieces.push(chunk);
          else text += decoder.decode(chunk, { stream: true });
        });
        incoming.on("error", (cause) => unreachable("the connection broke in the middle of the answer", cause));
        incoming.on("end", () => {
          if (!incoming.complete) return unreachable("the answer ended early");
          const pathStat = incoming.headers["x-docker-container-path-stat"];
          end(null, {
            status,
            contentType: incoming.headers["content-type"] ?? "",
            text,
            ...(isBinary ? { bytes: Buffer.concat(pieces) } : {}),
            ...(typeof pathStat === "string" ? { pathStat } : {}),
          });
        });
        incoming.on("close", () => unreachable("the answer ended early"));
      });
    });
  };

  return {
    send: (request) => exchange(request, null),
    stream: (request, onChunk) => exchange(request, onChunk),
  };
}

/** Every option that dockerode would otherwise take from `DOCKER_HOST` and its like is given, blank where it has none. */
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
  const plain = brief(new http.Agent({ keepAlive: false, lookup }));
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
  const agent = brief(new https.Agent({ keepAlive: false, lookup, ...security }));
  return { ...target, protocol: "https" as const, ...material, agent };
}

/**
 * The modem writes out the options of every request in full depth for a log, also where nobody reads it. Agents and signals lead
 * to everything that is going on: that took 14 ms of CPU for each call.
 */
function brief<T extends object>(each: T): T {
  Object.defineProperty(each, inspect.custom, { value: () => each.constructor.name });
  return each;
}
