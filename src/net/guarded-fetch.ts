import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import type { PluginContext } from "../plugin.ts";
import { bareHost, isMetadataAddress, parseAddress } from "./address.ts";
import { type ClockDifferences, clockDifferences, explainedByClocks } from "./clock-difference.ts";
import { createDeadlines, type Deadline, orOver } from "./deadline.ts";
import { blockedAt, isAddressAllowed, type Judgement, judgeDestination, type Purpose, portOf } from "./destination.ts";
import { createAgent, describeFailure, exchange, headersOf } from "./exchange.ts";
import { connectOnce, judgeConnect } from "./guarded-connect.ts";
import type { OutboundAllow } from "./outbound-allow.ts";
import { readOutgoing } from "./outgoing.ts";
import {
  literalAddress,
  lookupFrom,
  type Resolve,
  type ResolvedAddress,
  resolveAll,
  systemResolve,
} from "./resolve.ts";

/** How much of a response body is read; then the connection is destroyed. */
const keptBytes: Readonly<Record<Purpose, number>> = { probe: 64 * 1024, webhook: 8 * 1024 };

export interface GuardOptions {
  clock: Clock;
  allow: OutboundAllow;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
  /** The port this process listens on, if it does; a TCP probe of ourselves would prove nothing. */
  ownPort?: () => number | null;
}

export interface GuardedOpen {
  purpose: Purpose;
  /** One limit for connecting, headers and body together. */
  timeout_ms: number;
  signal: AbortSignal;
}

export interface Guard {
  /** On saving: checks syntax, scheme, port, literals and known names, without DNS. */
  judge(url: string, purpose: Purpose): Judgement;
  /**
   * A context whose `fetch` reaches public destinations only: resolves once, checks every address, and connects to one of them; no
   * redirects, reuse or decompression. Throws `rejected` ("Destination blocked", or a redirect) and `unreachable`.
   */
  open(options: GuardedOpen): PluginContext;
  /** By the responses so far. */
  clocks: Pick<ClockDifferences, "explain">;
  /** On saving, for `connect`: null, or why the place is refused, without DNS. */
  judgeConnect(host: string, port: number): Message | null;
  /** One TCP connection, closed at once. Private addresses are allowed; metadata, link-local and our own port are not. */
  connect(host: string, port: number, signal: AbortSignal): Promise<void>;
}

export function createGuard(options: GuardOptions): Guard {
  const { clock, allow } = options;
  const resolve = options.resolve ?? systemResolve;
  const deadlines = createDeadlines(clock);
  const differences = clockDifferences(clock);

  /** The addresses that a request may connect to: all of the name's, or none when one of them is refused. */
  const admit = async (url: URL): Promise<readonly ResolvedAddress[]> => {
    const host = bareHost(url.hostname);
    const isNamed = allow.hasHost(host, portOf(url));
    const isAllowed = ({ address }: ResolvedAddress) =>
      isNamed ? !isMetadataAddress(address) && parseAddress(address) !== null : isAddressAllowed(address, allow);
    const literal = literalAddress(host);
    const answers = literal === null ? await resolveAll(resolve, host) : [literal];
    if (!answers.every(isAllowed)) throw new PluginError("rejected", blockedAt(url));
    return answers;
  };

  const send = async (url: URL, init: RequestInit, purpose: Purpose, deadline: Deadline): Promise<Response> => {
    const judgement = judgeDestination(url.href, purpose, allow);
    if (!judgement.ok) throw new PluginError("rejected", blockedAt(url));
    const { method, headers, body } = await readOutgoing(init);
    const answers = await orOver(admit(url), deadline);
    const lookup = lookupFrom(async () => answers);
    // An agent per request: only the first use of a connection calls `lookup`, so none is reused.
    const agent = createAgent(url.protocol, { keepAlive: false });
    const message = await exchange({ url, method, headers, body, agent, lookup, deadline }).catch(async (cause) => {
      throw await explainedByClocks(describeFailure(cause, url, deadline).error, url, {
        differences,
        lookup,
        deadline,
      });
    });
    differences.observe(url.host, headersOf(message));
    const status = message.statusCode ?? 0;
    try {
      if ([301, 302, 303, 307, 308].includes(status)) {
        throw new PluginError("rejected", say("net.destination_redirects", { status }));
      }
      if (status < 200 || status > 599) throw new PluginError("malformed", say("net.destination_status", { status }));
      const kept = method === "HEAD" ? new Uint8Array() : await readStart(message, keptBytes[purpose]);
      const isBodiless = status === 204 || status === 205 || status === 304;
      return new Response(isBodiless ? null : kept, { status, headers: headersOf(message) });
    } finally {
      message.destroy();
    }
  };

  return {
    judge: (url, purpose) => judgeDestination(url, purpose, allow),
    open: ({ purpose, timeout_ms, signal }) => ({
      signal,
      clock,
      fetch: async (url, init = {}) => {
        const deadline = deadlines.start(timeout_ms, [signal, init.signal]);
        try {
          return await send(url, init, purpose, deadline);
        } catch (error) {
          throw describeFailure(error, url, deadline).error;
        } finally {
          deadline.end();
        }
      },
    }),
    clocks: differences,
    judgeConnect: (host, port) => judgeConnect(host, port, options.ownPort?.() ?? null),
    connect: (host, port, signal) => connectOnce(host, port, { resolve, ownPort: options.ownPort?.() ?? null, signal }),
  };
}

async function readStart(message: IncomingMessage, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const kept = new Uint8Array(limit);
  let length = 0;
  for await (const chunk of message) {
    const part: Uint8Array = chunk;
    const taken = part.subarray(0, limit - length);
    kept.set(taken, length);
    length += taken.byteLength;
    if (length === limit) break;
  }
  return kept.slice(0, length);
}
