import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { plain, say } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { codeOfStatus } from "../../net/code-of-status.ts";
import { openNamedServer } from "../../net/named-server.ts";
import type { Resolve } from "../../net/resolve.ts";
import { Refusal, Stack } from "./objects.ts";

const requestMs = 30_000;
/** For logs that are followed; their readers end earlier. */
const flowMs = 3_600_000;
/** Of Portainer's message about a refusal: compose prints all its steps first, and the reason at the end. */
const maxSaidLength = 500;
const maxSaidStart = 100;
/**
 * What a gateway returns when it stops waiting for a server that may still be working. Some say so in JSON with a `message`, as Portainer
 * does; Portainer itself returns 500 for a failed update.
 */
const gatewayStatuses: readonly number[] = [408, 502, 503, 504];

export interface PortainerAccess {
  /** Without a slash at its end. */
  server: URL;
  /** PEM; null for the system's authorities. */
  ca: string | null;
  api_key: string;
  endpoint_id: number;
}

/** Portainer's own response to a request that it refused or could not carry out. */
export class Refused extends PluginError {
  constructor(
    readonly status: number,
    code: PluginErrorCode,
    said: PluginError["said"],
  ) {
    super(code, said);
  }
}

/** File and environment are always whole. */
export interface StackContent {
  file: string;
  env: readonly { name: string; value: string }[];
}

/** What an update sends. `webhook`: the stack's own, which Portainer removes from a stack whose update does not name it; blank for none. */
export interface StackUpdate extends StackContent {
  webhook: string;
  pull: boolean;
}

/**
 * Requests to one Portainer. Everything throws `PluginError`. Portainer's own refusals are `Refused`; for every other failure the
 * outcome of the request is unknown.
 */
export interface Portainer {
  get<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S>>;
  /** A read on the environment's engine. */
  engine<S extends v.GenericSchema>(path: string, schema: S): Promise<v.InferOutput<S>>;
  /** The bytes of such a read as they arrive, for as long as they do. Ends without an error once `stop` is aborted. */
  flow(path: string, stop: AbortSignal): AsyncGenerator<Uint8Array>;
  /** Portainer responds once its compose has ended. Never sent twice. */
  update(stack: number, content: StackUpdate, timeoutMs: number): Promise<Stack>;
  close(): void;
}

export interface PortainerOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
}

export function openPortainer(
  { server, ca, api_key, endpoint_id }: PortainerAccess,
  { clock, signal, resolve }: PortainerOptions,
): Portainer {
  const api = openNamedServer(server, {
    ...{ clock, signal, resolve },
    tls: ca === null ? {} : { ca },
    headers: () => ({ accept: "application/json", "x-api-key": api_key }),
    broken_off: say("portainer.broken_off"),
    refuse: refusedBy,
  });
  const urlOf = (path: string) => new URL(`${server.href.replace(/\/$/, "")}/api${path}`);
  const get: Portainer["get"] = (path, schema) =>
    api.send({ method: "GET", url: urlOf(path), timeout_ms: requestMs }, schema);

  return {
    get,
    engine: (path, schema) => get(`/endpoints/${endpoint_id}/docker${path}`, schema),
    async *flow(path, stop) {
      const url = urlOf(`/endpoints/${endpoint_id}/docker${path}`);
      try {
        // On its own connection, because many are open for long.
        yield* api.stream({ method: "GET", url, timeout_ms: flowMs, is_once: true }, stop);
      } catch (error) {
        if (!stop.aborted) throw error;
      }
    },
    update: async (stack, { file, env, webhook, pull }, timeout_ms) => {
      const own = webhook === "" ? {} : { webhook };
      const body = JSON.stringify({ stackFileContent: file, env, ...own, prune: false, pullImage: pull });
      const url = urlOf(`/stacks/${stack}?endpointId=${endpoint_id}`);
      const headers = { "content-type": "application/json" };
      try {
        return await api.send({ method: "PUT", url, headers, body, timeout_ms, is_once: true }, Stack);
      } catch (error) {
        if (!(error instanceof Refused && gatewayStatuses.includes(error.status))) throw error;
        throw new PluginError("unreachable", error.said, { cause: error });
      }
    },
    close: api.close,
  };
}

/** A proxy in front of Portainer returns its own text: then it is unknown what Portainer did. */
function refusedBy(status: number, text: string): PluginError {
  if (status === 401) return new Refused(status, "unauthorized", say("portainer.unauthenticated"));
  if (status >= 300 && status < 400) return new Refused(status, "rejected", say("portainer.redirected", { status }));
  const said = saidIn(text);
  if (said === null) return new PluginError("unreachable", say("portainer.not_portainer", { status }));
  return new Refused(status, codeOfStatus(status), say("portainer.refused", { status, said: plain(said) }));
}

const pulling = "Pulling|Pulled|Interrupted|Skipped";
const states = `${pulling}|Creat(?:ing|ed)|Recreated?|Start(?:ing|ed)|Running|Waiting|Healthy|Exited|Stopp(?:ing|ed)|Kill(?:ing|ed)|Remov(?:ing|ed)|Restart(?:ing|ed)|Error`;
/** " Container shop-web-1  Starting" and " web Pulling", also after "failed to deploy a stack:". */
const progress = new RegExp(
  `(^|:)\\s+(?:(?:Container|Network|Volume|Image)\\s+\\S+\\s+(?:${states})|[\\w.-]+\\s+(?:${pulling}))\\s*$`,
);
/** A layer of an image that is pulled. */
const layer = /^\s*[0-9a-f]{12}\s/;

/** Portainer quotes all that compose writes, and the error is its last line. */
function withoutProgress(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !layer.test(line));
  return lines.map((line) => line.replace(progress, "$1")).join("\n");
}

/** Without compose's output about its steps, if anything else is left; null for a blank text. */
export function shortened(whole: string): string | null {
  const said = [withoutProgress(whole), whole].map((each) => each.replace(/\s+/g, " ").trim()).find(Boolean);
  if (said === undefined) return null;
  const rest = maxSaidLength - maxSaidStart;
  return said.length <= maxSaidLength ? said : `${said.slice(0, maxSaidStart)} … ${said.slice(-rest)}`;
}

/** What Portainer says; null for a body that is not Portainer's. */
function saidIn(text: string): string | null {
  try {
    const { message, details } = v.parse(Refusal, parseBoundedJson(text));
    const isSame = details === "" || details === message;
    const whole = isSame ? message : message === "" ? details : `${message}: ${details}`;
    return shortened(whole);
  } catch {
    return null;
  }
}
