import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { plain, say } from "../../messages/message.ts";
import { startBody, streamBody } from "../../net/bounded-body.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { codeOfStatus } from "../../net/code-of-status.ts";
import { createDeadlines, type Deadline } from "../../net/deadline.ts";
import { isMetadataHost } from "../../net/destination.ts";
import { bodyOf, createAgent, describeFailure, exchange, StaleConnection } from "../../net/exchange.ts";
import { readJson } from "../../net/read-json.ts";
import { lookupFrom, type Resolve, resolveBeyondMetadata, systemResolve } from "../../net/resolve.ts";
import { Refusal, Stack } from "./objects.ts";

/** A list of a thousand containers has about 3 MB. */
const maxBodyBytes = 32 * 1024 * 1024;
const requestMs = 30_000;
/** Of what Portainer says about a refusal: compose tells all its steps first, and the reason at the end. */
const maxSaidLength = 500;
const maxSaidStart = 100;

export interface PortainerAccess {
  /** Without a slash at its end. */
  server: URL;
  /** PEM; null for the system's authorities. */
  ca: string | null;
  api_key: string;
  endpoint_id: number;
}

/** Portainer's own answer to a request that it refused or could not carry out. */
export class Refused extends PluginError {
  constructor(
    readonly status: number,
    code: PluginErrorCode,
    said: PluginError["said"],
  ) {
    super(code, said);
  }
}

/** What an update sends: file and environment are always whole. */
export interface StackContent {
  file: string;
  env: readonly { name: string; value: string }[];
}

/**
 * Requests to one Portainer. Everything throws `PluginError`. Portainer's own refusals are `Refused`; for every other failure it is unknown
 * what became of the request.
 */
export interface Portainer {
  get<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S>>;
  /** A read on the environment's engine. */
  engine<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S>>;
  /** Portainer answers once its compose has ended. Never sent twice. */
  update(stack: number, content: StackContent & { pull: boolean }, timeoutMs: number): Promise<Stack>;
  close(): void;
}

export interface PortainerOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
}

interface Sent {
  method: "GET" | "PUT";
  path: string;
  body: string | null;
  timeout_ms: number;
}

export function openPortainer(
  { server, ca, api_key, endpoint_id }: PortainerAccess,
  { clock, signal, resolve = systemResolve }: PortainerOptions,
): Portainer {
  const deadlines = createDeadlines(clock);
  const lookup = lookupFrom((host) => resolveBeyondMetadata(resolve, host));
  const tls = ca === null ? {} : { ca };
  const agent = createAgent(server.protocol, { keepAlive: true, maxSockets: 8, ...tls });
  // A connection of its own: on one that is kept, nobody knows whether the server had closed it before the request arrived.
  const ownAgent = createAgent(server.protocol, { keepAlive: false, ...tls });

  const dial = async ({ method, path, body }: Sent, deadline: Deadline): Promise<IncomingMessage> => {
    const headers = new Headers({ accept: "application/json", "user-agent": "Tidemark", "x-api-key": api_key });
    if (body !== null) headers.set("content-type", "application/json");
    const sent = {
      ...{ url: new URL(`${server.href.replace(/\/$/, "")}/api${path}`), method, headers, lookup, deadline },
      body: body === null ? null : new TextEncoder().encode(body),
      agent: method === "GET" ? agent : ownAgent,
    };
    try {
      return await exchange(sent);
    } catch (error) {
      if (error instanceof StaleConnection && method === "GET") return await exchange(sent);
      throw error;
    }
  };
  const readAll = async (message: IncomingMessage): Promise<Response> => {
    const limits = { host: server.host, max_bytes: maxBodyBytes };
    const body = bodyOf(message, () => undefined);
    const { start, rest } = await startBody(body, limits);
    const toError = (cause: unknown) =>
      cause instanceof PluginError ? cause : new PluginError("unreachable", say("portainer.broken_off"), { cause });
    return new Response(
      rest === null ? start : streamBody(start, rest, { ...limits, toError, onEnd: () => undefined }),
    );
  };
  /** Redirects are not followed: the key goes to this server alone. */
  const send = async <S extends v.GenericSchema>(sent: Sent, schema: S): Promise<v.InferOutput<S>> => {
    // `lookup` is asked for names alone, never for what is an address already.
    if (isMetadataHost(server.hostname)) throw new PluginError("rejected", say("net.destination_blocked"));
    const deadline = deadlines.start(sent.timeout_ms, [signal]);
    try {
      const message = await dial(sent, deadline);
      const status = message.statusCode ?? 0;
      const response = await readAll(message);
      if (status < 200 || status > 299) throw refusedBy(status, await response.text());
      return await readJson(response, schema);
    } catch (error) {
      throw describeFailure(error, server, deadline).error;
    } finally {
      deadline.end();
    }
  };
  const get: Portainer["get"] = (path, schema) =>
    send({ method: "GET", path, body: null, timeout_ms: requestMs }, schema);

  return {
    get,
    engine: (path, schema) => get(`/endpoints/${endpoint_id}/docker${path}`, schema),
    update: (stack, { file, env, pull }, timeoutMs) => {
      const body = JSON.stringify({ stackFileContent: file, env, prune: false, pullImage: pull });
      const path = `/stacks/${stack}?endpointId=${endpoint_id}`;
      return send({ method: "PUT", path, body, timeout_ms: timeoutMs }, Stack);
    },
    close: () => {
      agent.destroy();
      ownAgent.destroy();
    },
  };
}

/** A proxy before Portainer answers in words of its own: then nobody knows what Portainer did. */
function refusedBy(status: number, text: string): PluginError {
  if (status === 401) return new Refused(status, "unauthorized", say("portainer.unauthenticated"));
  if (status >= 300 && status < 400) return new Refused(status, "rejected", say("portainer.redirected", { status }));
  const said = saidIn(text);
  if (said === null) {
    const code = status === 404 ? "not_found" : "unreachable";
    return new PluginError(code, say("portainer.not_portainer", { status }));
  }
  return new Refused(status, codeOfStatus(status), say("portainer.refused", { status, said: plain(said) }));
}

/** What Portainer says; null for a body that is not Portainer's. */
function saidIn(text: string): string | null {
  try {
    const { message, details } = v.parse(Refusal, parseBoundedJson(text));
    const isSame = details === "" || details === message;
    const whole = isSame ? message : message === "" ? details : `${message}: ${details}`;
    const said = whole.replace(/\s+/g, " ").trim();
    if (said === "") return null;
    const rest = maxSaidLength - maxSaidStart;
    return said.length <= maxSaidLength ? said : `${said.slice(0, maxSaidStart)} … ${said.slice(-rest)}`;
  } catch {
    return null;
  }
}
