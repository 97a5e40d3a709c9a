import type { IncomingMessage } from "node:http";
import type { AgentOptions } from "node:https";
import type * as v from "valibot";
import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { startBody, streamBody } from "./bounded-body.ts";
import { clockDifferences, explainedByClocks } from "./clock-difference.ts";
import { createDeadlines, type Deadline } from "./deadline.ts";
import { isMetadataHost, neverAllowed } from "./destination.ts";
import { bodyOf, createAgent, describeFailure, exchange, headersOf, StaleConnection } from "./exchange.ts";
import { readJson } from "./read-json.ts";
import { lookupFrom, type Resolve, resolveBeyondMetadata, systemResolve } from "./resolve.ts";

/** A page of 50 workloads has about 0.5 MB, a list of a thousand containers about 3 MB. */
export const maxBodyBytes = 32 * 1024 * 1024;
/** Of an error's body. */
const maxRefusalBytes = 1024 * 1024;

interface NamedServerOptions {
  clock: Clock;
  signal: AbortSignal;
  /** The certificate is always verified; by default by the system's authorities. */
  tls: Pick<AgentOptions, "ca" | "cert" | "key" | "servername">;
  /** Sent with every request, as they are then. */
  headers(): Readonly<Record<string, string>>;
  /** Said of a body that breaks off. */
  broken_off: Message;
  /**
   * The error for every status but 2xx. Redirects are not followed: the login goes to this server alone. `explain`: for what may be refused
   * because the clocks differ.
   */
  refuse(status: number, body: string, explain: (reason: Message) => Message): PluginError;
  /** The error for a request without a response. Default: `describeFailure`. */
  fail?(cause: unknown, deadline: Deadline): PluginError;
  /** Default: the operating system's resolver. */
  resolve?: Resolve | undefined;
}

export interface ServerRequest {
  method: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: string | null;
  timeout_ms: number;
  /** Never sent twice: on its own connection, because a kept one may have been closed before the request arrived. */
  is_once?: boolean;
}

/** Requests to a server with its own API, which the administrator named. Everything throws `PluginError`. */
export interface NamedServer {
  send<S extends v.GenericSchema>(request: ServerRequest, schema: S): Promise<v.InferOutput<S>>;
  /** The body as it arrives, without a limit. */
  stream(request: ServerRequest, stop: AbortSignal): AsyncGenerator<Uint8Array>;
  close(): void;
}

export function openNamedServer(server: URL, options: NamedServerOptions): NamedServer {
  const { clock, signal, tls, resolve = systemResolve } = options;
  const deadlines = createDeadlines(clock);
  const lookup = lookupFrom((host) => resolveBeyondMetadata(resolve, host));
  const agent = createAgent(server.protocol, { keepAlive: true, maxSockets: 8, ...tls });
  const ownAgent = createAgent(server.protocol, { keepAlive: false, ...tls });
  const differences = clockDifferences(clock);
  const describe = options.fail ?? ((cause, deadline) => describeFailure(cause, server, deadline).error);
  const fail = (cause: unknown, deadline: Deadline): Promise<PluginError> =>
    explainedByClocks(describe(cause, deadline), server, { differences, lookup, deadline });

  const dial = async (
    { method, url, body = null, headers = {}, is_once = false }: ServerRequest,
    deadline: Deadline,
  ): Promise<IncomingMessage> => {
    // `lookup` is called for names alone, never for addresses.
    if (isMetadataHost(server.hostname)) throw new PluginError("rejected", neverAllowed);
    const sent = {
      ...{ url, method, lookup, deadline },
      headers: new Headers({ ...headers, "user-agent": "Tidemark", ...options.headers() }),
      body: body === null ? null : new TextEncoder().encode(body),
      agent: is_once ? ownAgent : agent,
    };
    try {
      return await exchange(sent);
    } catch (error) {
      // Nothing was read yet, and the server had closed the connection before.
      if (error instanceof StaleConnection && !is_once) return await exchange(sent);
      throw error;
    }
  };
  /** With the server's address, by which `readJson` names it. */
  const read = async (message: IncomingMessage, maxBytes: number): Promise<Response> => {
    const limits = { host: server.host, max_bytes: maxBytes };
    const { start, rest } = await startBody(
      bodyOf(message, () => undefined),
      limits,
    );
    const toError = (cause: unknown) =>
      cause instanceof PluginError ? cause : new PluginError("unreachable", options.broken_off, { cause });
    const body = rest === null ? start : streamBody(start, rest, { ...limits, toError, onEnd: () => undefined });
    return Object.defineProperty(new Response(body), "url", { value: server.href });
  };
  const requireDone = async (message: IncomingMessage): Promise<void> => {
    const status = message.statusCode ?? 0;
    if (status >= 200 && status <= 299) return;
    differences.observe(server.host, headersOf(message));
    const body = await (await read(message, maxRefusalBytes)).text();
    throw options.refuse(status, body, (reason) => differences.explain(reason, server.host));
  };

  return {
    send: async (request, schema) => {
      const deadline = deadlines.start(request.timeout_ms, [signal]);
      try {
        const message = await dial(request, deadline);
        await requireDone(message);
        return await readJson(await read(message, maxBodyBytes), schema);
      } catch (error) {
        throw await fail(error, deadline);
      } finally {
        deadline.end();
      }
    },
    async *stream(request, stop) {
      const deadline = deadlines.start(request.timeout_ms, [signal, stop]);
      try {
        const message = await dial(request, deadline);
        deadline.watch(() => message.destroy());
        await requireDone(message);
        yield* bodyOf(message, () => undefined);
      } catch (error) {
        throw await fail(error, deadline);
      } finally {
        deadline.end();
      }
    },
    close: () => {
      agent.destroy();
      ownAgent.destroy();
    },
  };
}
