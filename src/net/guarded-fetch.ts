import type { IncomingMessage } from "node:http";
import net from "node:net";
import os from "node:os";
import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import type { PluginContext } from "../plugin.ts";
import { bareHost, classifyAddress, isLinkLocalAddress, isMetadataAddress, parseAddress } from "./address.ts";
import { type Deadline, orAborted, startDeadline } from "./deadline.ts";
import {
  destinationBlocked,
  isAddressAllowed,
  type Judgement,
  judgeDestination,
  type Purpose,
  portOf,
} from "./destination.ts";
import { describeFailure, exchange, headersOf } from "./exchange.ts";
import type { OutboundAllow } from "./outbound-allow.ts";
import { readOutgoing } from "./outgoing.ts";
import { lookupFrom, type Resolve, type ResolvedAddress, resolveAll, systemResolve } from "./resolve.ts";

/** How much of an answer's body is kept; what follows is not read, the connection is destroyed. */
const keptBytes: Readonly<Record<Purpose, number>> = { probe: 64 * 1024, webhook: 8 * 1024 };

export interface GuardOptions {
  clock: Clock;
  allow: OutboundAllow;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
  /** The port that this process listens on, once it does; a TCP probe of ourselves would prove nothing. */
  ownPort?: () => number | null;
}

export interface GuardedOpen {
  purpose: Purpose;
  /** One limit for connecting, headers and body together. */
  timeout_ms: number;
  signal: AbortSignal;
}

export interface Guard {
  /** At save: syntax, scheme, port, literals and known names; asks no DNS. */
  judge(url: string, purpose: Purpose): Judgement;
  /**
   * A context whose `fetch` reaches public destinations only: one resolution, every answer checked, the connection goes to one
   * of them; no redirect, no reuse, no decompression. Throws `rejected` ("Destination blocked", or a redirect) and `unreachable`.
   */
  open(options: GuardedOpen): PluginContext;
  /** One TCP connection, closed at once. Private addresses are allowed; metadata, link-local and our own port are not. */
  connect(host: string, port: number, signal: AbortSignal): Promise<void>;
}

function blocked(): PluginError {
  return new PluginError("rejected", destinationBlocked);
}

function literalAddress(host: string): ResolvedAddress | null {
  const bytes = parseAddress(host);
  return bytes === null ? null : { address: host, family: bytes.length === 4 ? 4 : 6 };
}

export function createGuard(options: GuardOptions): Guard {
  const { clock, allow } = options;
  const resolve = options.resolve ?? systemResolve;

  /** The addresses that a request may connect to: all that the name has, or nothing when one of them is refused. */
  const admit = async (url: URL): Promise<readonly ResolvedAddress[]> => {
    const host = bareHost(url.hostname);
    const isNamed = allow.hasHost(host, portOf(url));
    const isAllowed = ({ address }: ResolvedAddress) =>
      isNamed ? !isMetadataAddress(address) && parseAddress(address) !== null : isAddressAllowed(address, allow);
    const literal = literalAddress(host);
    const answers = literal === null ? await resolveAll(resolve, host) : [literal];
    if (!answers.every(isAllowed)) throw blocked();
    return answers;
  };

  const send = async (url: URL, init: RequestInit, purpose: Purpose, deadline: Deadline): Promise<Response> => {
    const judgement = judgeDestination(url.href, purpose, allow);
    if (!judgement.ok) throw blocked();
    const { method, headers, body } = await readOutgoing(init);
    const answers = await orAborted(admit(url), deadline.signal);
    const lookup = lookupFrom(async () => answers);
    const message = await exchange({ url, method, headers, body, agent: false, lookup, signal: deadline.signal });
    const status = message.statusCode ?? 0;
    try {
      if ([301, 302, 303, 307, 308].includes(status)) {
        throw new PluginError("rejected", `The destination answered ${status}, a redirect, which is not followed`);
      }
      if (status < 200 || status > 599)
        throw new PluginError("malformed", `The destination answered with status ${status}`);
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
        const deadline = startDeadline(clock, timeout_ms, [signal, init.signal]);
        try {
          return await send(url, init, purpose, deadline);
        } catch (error) {
          throw describeFailure(error, url, deadline).error;
        } finally {
          deadline.end();
        }
      },
    }),
    connect: async (host, port, signal) => {
      const literal = literalAddress(host);
      const answers = literal === null ? await orAborted(resolveAll(resolve, host), signal) : [literal];
      const ownPort = options.ownPort?.() ?? null;
      if (!answers.every(({ address }) => isProbeable(address, port, ownPort))) throw blocked();
      await openAndClose(host, port, answers, signal);
    },
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

/** Private addresses are what TCP probes are for; of what is ours, only our own listening port is refused. */
function isProbeable(address: string, port: number, ownPort: number | null): boolean {
  const kind = classifyAddress(address);
  if (kind === "invalid" || kind === "multicast" || isMetadataAddress(address) || isLinkLocalAddress(address))
    return false;
  return port !== ownPort || !isOwnAddress(address);
}

function isOwnAddress(address: string): boolean {
  const kind = classifyAddress(address);
  if (kind === "loopback" || kind === "unspecified" || kind === "embedded") return true;
  return Object.values(os.networkInterfaces()).some((all) => all?.some((own) => own.address === address));
}

function openAndClose(
  host: string,
  port: number,
  answers: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (phrase: string, cause: unknown) =>
      reject(new PluginError("unreachable", `Connection to "${host}" port ${port} ${phrase}`, { cause }));
    if (signal.aborted) return fail("was cancelled", signal.reason);
    const [first] = answers;
    // A literal is connected to as it is: `lookup` is not asked for those.
    const socket = net.connect({
      host: first && answers.length === 1 ? first.address : host,
      port,
      lookup: lookupFrom(async () => answers),
    });
    const onAbort = () => {
      socket.destroy();
      fail("timed out or was cancelled", signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("connect", () => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve();
    });
    socket.once("error", (error) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      fail("failed", error);
    });
  });
}
