import { BlockList, isIP, isIPv4 } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../context.ts";

// More than any chain of proxies; entries that a client writes before them are not read.
const MAXIMUM_HOPS = 20;

/** The shortest text of an IPv6 address, or the IPv4 address it embeds, in any notation. */
function canonicalIPv6(address: string): string {
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  return [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]).join(".");
}

/** Canonical text of an address, with IPv4 extracted from its IPv6 form; null for anything else. */
export function parseAddress(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/%.*$/, "");
  if (isIP(bare) === 0) {
    const [host = "", port = "", ...more] = bare.split(":");
    return more.length === 0 && isIPv4(host) && /^\d{1,5}$/.test(port) ? host : null;
  }
  return isIPv4(bare) ? bare : canonicalIPv6(bare);
}

function trustedList(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [network = "", bits] = proxy.split("/");
    const family = isIPv4(network) ? "ipv4" : "ipv6";
    list.addSubnet(network, Number(bits ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return (address) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/**
 * The client's address: the peer's, or behind trusted proxies the last entry of `X-Forwarded-For` that is not one of them. The header is
 * ignored from an untrusted peer, because anybody can write it.
 */
export function clientAddressOf(
  peer: string | null,
  forwardedFor: string | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = peer === null ? null : parseAddress(peer);
  if (address === null) return "unknown";
  const hops = (forwardedFor ?? "").split(",").slice(-MAXIMUM_HOPS).reverse();
  for (const hop of hops) {
    if (!isTrusted(address)) break;
    const next = parseAddress(hop);
    // A proxy wrote an invalid entry: later entries still count, earlier ones do not.
    if (next === null) break;
    address = next;
  }
  return address;
}

/** Adds the client's address to the request. `trustedProxies` are addresses or CIDR blocks, already validated. */
export function clientAddress(options: { trustedProxies: readonly string[] }): MiddlewareHandler<AppEnv> {
  const isTrusted = trustedList(options.trustedProxies);
  return async function clientAddress(c, next) {
    c.set("address", clientAddressOf(c.env?.peer_address ?? null, c.req.header("x-forwarded-for"), isTrusted));
    await next();
  };
}
