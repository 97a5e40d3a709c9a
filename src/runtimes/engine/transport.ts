import * as http from "node:http";
import * as https from "node:https";
import { errorMessage, PluginError } from "../../errors.ts";
import type { EngineAddress } from "./address.ts";

/** Larger than any inspect seen (an engine with 1,000 containers lists in about 2 MB); an answer beyond it is broken. */
const maxBodyBytes = 16 * 1024 * 1024;

export interface EngineRequest {
  method: "GET" | "POST" | "DELETE";
  /** With a leading slash, already encoded. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** For the whole exchange; for a stream the longest silence. */
  deadlineMs: number;
}

export interface EngineResponse {
  status: number;
  contentType: string;
  text: string;
}

export interface EngineTransport {
  /** The whole answer, whatever its status. Throws `unreachable` when there is none, or only a part of one. */
  send(request: EngineRequest): Promise<EngineResponse>;
  /** Like `send`, but hands a successful body over piece by piece as it comes; `text` is then empty. */
  stream(request: EngineRequest, onChunk: (chunk: string) => void): Promise<EngineResponse>;
}

/**
 * HTTP to one engine, a fresh connection for each call, so that a restarted engine never meets a stale one. It reads nothing
 * from the environment, follows no redirect, and an answer that ends early is an error.
 */
export function engineTransport(address: EngineAddress, signal: AbortSignal): EngineTransport {
  const connection = connectionOptions(address);
  const client = address.kind === "tcp" && address.tls !== null ? https : http;

  const exchange = (request: EngineRequest, onChunk: ((chunk: string) => void) | null) =>
    new Promise<EngineResponse>((resolve, reject) => {
      const label = `${request.method} ${request.path}`;
      if (signal.aborted) {
        reject(new PluginError("unreachable", `${label} was not sent: the work was stopped`, { cause: signal.reason }));
        return;
      }
      const body = request.body === undefined ? null : JSON.stringify(request.body);
      const outgoing = client.request({
        ...connection,
        agent: false,
        method: request.method,
        path: request.path + queryString(request.query),
        headers: {
          host: address.kind === "unix" ? "localhost" : hostHeader(address),
          "user-agent": "tidemark",
          ...(body === null
            ? { "content-length": "0" }
            : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
          ...request.headers,
        },
      });
      const end = (error: PluginError | null, response?: EngineResponse) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        if (error !== null) outgoing.destroy();
        if (error !== null || response === undefined) reject(error);
        else resolve(response);
      };
      const unreachable = (detail: string, cause?: unknown) => {
        end(new PluginError("unreachable", `The engine did not answer ${label}: ${detail}`, { cause }));
      };
      const onDeadline = () => unreachable(`nothing within ${request.deadlineMs} ms`);
      const onAbort = () => unreachable("the work was stopped", signal.reason);
      let timer = setTimeout(onDeadline, request.deadlineMs);
      signal.addEventListener("abort", onAbort, { once: true });

      outgoing.on("error", (error) => unreachable(errorMessage(error), error));
      outgoing.on("response", (incoming) => {
        const status = incoming.statusCode ?? 0;
        const isStreamed = onChunk !== null && status < 300;
        const decoder = new TextDecoder();
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
          if (bytes > maxBodyBytes) unreachable(`more than ${maxBodyBytes} bytes`);
          else text += decoder.decode(chunk, { stream: true });
        });
        incoming.on("error", (error) => unreachable("the connection broke in the middle of the answer", error));
        incoming.on("end", () => {
          if (!incoming.complete) return unreachable("the answer ended early");
          end(null, { status, contentType: incoming.headers["content-type"] ?? "", text });
        });
        incoming.on("close", () => unreachable("the answer ended early"));
      });
      outgoing.end(body ?? undefined);
    });

  return {
    send: (request) => exchange(request, null),
    stream: (request, onChunk) => exchange(request, onChunk),
  };
}

function connectionOptions(address: EngineAddress): https.RequestOptions {
  if (address.kind === "unix") return { socketPath: address.path };
  const target = { hostname: address.host, port: address.port };
  if (address.tls === null) return target;
  return {
    ...target,
    rejectUnauthorized: address.tls.is_verified,
    ...(address.tls.ca_certificate === null ? {} : { ca: address.tls.ca_certificate }),
    ...(address.tls.client_certificate === null ? {} : { cert: address.tls.client_certificate }),
    ...(address.tls.client_key === null ? {} : { key: address.tls.client_key }),
  };
}

function hostHeader(address: { host: string; port: number }): string {
  return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
}

function queryString(query: EngineRequest["query"]): string {
  return query === undefined ? "" : `?${new URLSearchParams(query)}`;
}
