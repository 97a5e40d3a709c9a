import { isIPv6 } from "node:net";
import { bareHost, isInBlock, isMetadataAddress, parseAddress } from "./address.ts";

/** The operator's exceptions for guarded requests, from `OUTBOUND_ALLOW`. Metadata addresses stay refused. */
export interface OutboundAllow {
  /** As the operator wrote them, for the warning at start. */
  entries: readonly string[];
  /** Exactly this host and port, whatever it resolves to; the port need not be a usual one. */
  hasHost(host: string, port: number): boolean;
  /** The address is in a CIDR entry; ports stay limited, and internal names need their own entry. */
  hasAddress(address: string): boolean;
}

interface Network {
  bytes: Uint8Array;
  prefix: number;
}

function parseNetwork(entry: string): Network {
  const [address = "", length = "", ...rest] = entry.split("/");
  const bytes = parseAddress(address);
  const prefix = Number(length);
  if (bytes === null || address.includes("%") || rest.length > 0 || !/^\d{1,3}$/.test(length)) {
    throw new Error(
      `OUTBOUND_ALLOW has "${entry}", which is not a network; use for example "10.20.0.0/16" or "fd12::/32"`,
    );
  }
  if (prefix > bytes.length * 8) {
    throw new Error(`OUTBOUND_ALLOW has "${entry}"; the prefix of such an address is at most ${bytes.length * 8}`);
  }
  if (bytes.some((byte, index) => (byte & ~maskByte(prefix, index) & 0xff) !== 0)) {
    throw new Error(
      `OUTBOUND_ALLOW has "${entry}", which has bits beyond its prefix; use the first address of the network`,
    );
  }
  return { bytes, prefix };
}

function maskByte(prefix: number, index: number): number {
  const bits = Math.min(8, Math.max(0, prefix - index * 8));
  return (0xff << (8 - bits)) & 0xff;
}

function parseHostAndPort(entry: string): string {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@?#\\%*\s]+):(\d{1,5})$/i.exec(entry);
  const port = Number(match?.[2]);
  const url = match === null || !URL.canParse(`http://${match[1]}`) ? null : new URL(`http://${match[1]}`);
  if (url === null || url.hostname === "" || port < 1 || port > 65_535) {
    throw new Error(
      `OUTBOUND_ALLOW has "${entry}"; use a host with its port ("hooks.lan:8080", "[fd12::5]:443") or a network ("10.20.0.0/16")`,
    );
  }
  const host = bareHost(url.hostname);
  if (isMetadataAddress(host)) {
    throw new Error(`OUTBOUND_ALLOW has "${entry}"; a cloud's metadata address cannot be allowed`);
  }
  return `${host} ${port}`;
}

/**
 * Parses `OUTBOUND_ALLOW`: entries separated by commas or white space, each an exact `host:port` or a CIDR network. Throws an Error that
 * says what would be valid.
 */
export function parseOutboundAllow(text: string): OutboundAllow {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    if (entry.includes("/")) networks.push(parseNetwork(entry));
    else if (isIPv6(entry) || parseAddress(entry) !== null) {
      const example = isIPv6(entry) ? `"[${entry}]:443" or "${entry}/128"` : `"${entry}:443" or "${entry}/32"`;
      throw new Error(`OUTBOUND_ALLOW has "${entry}" without a port or prefix; use ${example}`);
    } else hosts.add(parseHostAndPort(entry));
  }
  return {
    entries,
    hasHost: (host, port) => hosts.has(`${host} ${port}`),
    hasAddress: (address) => {
      const bytes = parseAddress(address);
      return bytes !== null && networks.some((network) => isInBlock(bytes, network.bytes, network.prefix));
    },
  };
}
