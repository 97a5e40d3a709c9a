import net from "node:net";
import os from "node:os";
import { PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { classifyAddress, isLinkLocalAddress, isMetadataAddress } from "./address.ts";
import { canonicalHost, isMetadataHost, neverAllowed } from "./destination.ts";
import { literalAddress, lookupFrom, type Resolve, type ResolvedAddress, resolveAll } from "./resolve.ts";

export interface ConnectOptions {
  resolve: Resolve;
  /** The port this process listens on; null before that. */
  ownPort: number | null;
  /** Ends the attempt; the caller's deadline. */
  signal: AbortSignal;
}

/** TCP probes are meant for private addresses; of our own, only the listening port is refused. */
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

/** Checks the typed place of a TCP probe without DNS: null, or why it is refused. */
export function judgeConnect(host: string, port: number, ownPort: number | null): Message | null {
  const literal = literalAddress(canonicalHost(host));
  const isAllowed = literal === null ? !isMetadataHost(host) : isProbeable(literal.address, port, ownPort);
  return isAllowed ? null : neverAllowed;
}

/**
 * Opens one TCP connection to an address of one resolution, whose addresses must all be allowed, and closes it. Throws `rejected`
 * ("Destination blocked") and `unreachable`; the messages name no address.
 */
export async function connectOnce(host: string, port: number, options: ConnectOptions): Promise<void> {
  const { resolve, ownPort, signal } = options;
  const failed = (code: "net.connection_failed" | "net.connection_over", cause: unknown) =>
    new PluginError("unreachable", say(code, { host, port }), { cause });
  const over = Promise.withResolvers<never>();
  const onAbort = () => over.reject(failed("net.connection_over", signal.reason));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const sockets: net.Socket[] = [];
  const open = async () => {
    const literal = literalAddress(host);
    const answers = literal === null ? await resolveAll(resolve, host) : [literal];
    if (!answers.every(({ address }) => isProbeable(address, port, ownPort))) {
      throw new PluginError("rejected", neverAllowed);
    }
    if (signal.aborted) return;
    const socket = connectTo(host, port, answers);
    sockets.push(socket);
    await opened(socket).catch((cause: unknown) => {
      throw failed("net.connection_failed", cause);
    });
  };
  try {
    await Promise.race([over.promise, open()]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    for (const socket of sockets) socket.destroy();
  }
}

function connectTo(host: string, port: number, answers: readonly ResolvedAddress[]): net.Socket {
  const socket = net.connect({ host, port, lookup: lookupFrom(async () => answers) });
  // Ignores errors after the attempt has ended.
  socket.on("error", () => undefined);
  return socket;
}

function opened(socket: net.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("The connection was closed")));
  });
}
