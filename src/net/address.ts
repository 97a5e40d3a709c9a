import { isIP } from "node:net";
import { withoutRoot } from "./web-url.ts";

/** Classifies an address for outbound requests. A guarded request may only reach `public`. */
export type AddressKind =
  | "public"
  | "private"
  | "loopback"
  | "link_local"
  | "metadata"
  | "multicast"
  | "unspecified"
  | "embedded"
  | "reserved"
  | "invalid";

/** Addresses where clouds hand out credentials: refused for every outbound call, even with an allow list. */
const metadataAddresses: readonly string[] = [
  "169.254.169.254", // AWS, GCP, Azure, OpenStack, DigitalOcean
  "169.254.170.2", // AWS container credentials
  "100.100.100.200", // Alibaba
  "192.0.0.192", // Oracle
  "168.63.129.16", // Azure wire server
  "fd00:ec2::254", // AWS over IPv6
  "fd20:ce::254", // GCP over IPv6
];

type Block = readonly [network: string, prefix: number, kind: AddressKind];

/** IANA's special-purpose registry (non-global blocks), 6to4 relays, multicast and class E. */
const blocks4: readonly Block[] = [
  ["0.0.0.0", 32, "unspecified"],
  ["0.0.0.0", 8, "reserved"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link_local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "reserved"],
  ["198.51.100.0", 24, "reserved"],
  ["203.0.113.0", 24, "reserved"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

/** In order, first match wins; anything outside 2000::/3 and without a row is `reserved`. */
const blocks6: readonly Block[] = [
  ["::", 128, "unspecified"],
  ["::1", 128, "loopback"],
  ["::", 96, "embedded"], // IPv4-compatible, deprecated
  ["::ffff:0:0", 96, "embedded"], // IPv4-mapped
  ["::ffff:0:0:0", 96, "embedded"], // IPv4-translated (SIIT)
  ["64:ff9b::", 96, "embedded"], // NAT64
  ["64:ff9b:1::", 48, "embedded"], // NAT64 of a local network
  ["2002::", 16, "embedded"], // 6to4
  ["2001::", 32, "embedded"], // Teredo
  ["2001::", 23, "reserved"],
  ["2001:db8::", 32, "reserved"],
  ["3fff::", 20, "reserved"],
  ["fe80::", 10, "link_local"],
  ["fec0::", 10, "private"],
  ["fc00::", 7, "private"],
  ["ff00::", 8, "multicast"],
];

function parse4(text: string): Uint8Array {
  return Uint8Array.from(text.split(".").map(Number));
}

function parse6(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const withoutZone = text.split("%", 1)[0] ?? "";
  // A dotted tail (`::ffff:127.0.0.1`) is two groups written as four bytes.
  const dotted = withoutZone.match(/^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/);
  const group = (high: string | undefined, low: string | undefined) => (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted ? `${dotted[1]}${group(dotted[2], dotted[3])}:${group(dotted[4], dotted[5])}` : withoutZone;
  const [head = "", tail] = plain.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((each) => Number.parseInt(each, 16)));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  all.forEach((value, index) => {
    bytes[index * 2] = value >> 8;
    bytes[index * 2 + 1] = value & 0xff;
  });
  return bytes;
}

/** The 4 or 16 bytes of a canonical address text (a zone such as `%eth0` is dropped), or null for any other text. */
export function parseAddress(text: string): Uint8Array | null {
  const version = isIP(text);
  if (version === 4) return parse4(text);
  return version === 6 ? parse6(text) : null;
}

/** True when the first `prefix` bits are the same; false for addresses of different families. */
export function isInBlock(address: Uint8Array, network: Uint8Array, prefix: number): boolean {
  if (address.length !== network.length) return false;
  const whole = prefix >> 3;
  for (let index = 0; index < whole; index++) if (address[index] !== network[index]) return false;
  const mask = (0xff << (8 - (prefix & 7))) & 0xff;
  return mask === 0 || ((address[whole] ?? 0) & mask) === ((network[whole] ?? 0) & mask);
}

function compile(blocks: readonly Block[]) {
  return blocks.map(([network, prefix, kind]) => ({
    network: parseAddress(network) ?? new Uint8Array(),
    prefix,
    kind,
  }));
}

const compiled4 = compile(blocks4);
const compiled6 = compile(blocks6);
const compiledMetadata = metadataAddresses.map((text) => parseAddress(text) ?? new Uint8Array());
const globalUnicast = parse6("2000::");
/** IPv6 forms that embed an IPv4 address: prefix, and the offset of its first byte. */
const embeddings = (
  [
    ["::", 96, 12],
    ["::ffff:0:0", 96, 12],
    ["::ffff:0:0:0", 96, 12],
    ["64:ff9b::", 96, 12],
    ["64:ff9b:1::", 48, 12],
    ["2002::", 16, 2],
  ] as const
).map(([network, prefix, offset]) => ({ network: parse6(network), prefix, offset }));

// RFC 5214: an ISATAP interface identifier is 0000:5efe or 0200:5efe followed by the IPv4 address, below any prefix.
function isIsatap(bytes: Uint8Array): boolean {
  return ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** The IPv4 addresses that an IPv6 address may lead to. Teredo stores the client's address inverted (RFC 4380, 4). */
function embedded4(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length !== 16) return [];
  const found = embeddings
    .filter(({ network, prefix }) => isInBlock(bytes, network, prefix))
    .map(({ offset }) => bytes.slice(offset, offset + 4));
  if (isIsatap(bytes)) found.push(bytes.slice(12, 16));
  if (isInBlock(bytes, parse6("2001::"), 32)) {
    found.push(
      bytes.slice(4, 8),
      bytes.slice(12, 16).map((byte) => byte ^ 0xff),
    );
  }
  return found;
}

/** A cloud's credential service, including its IPv4 address in an IPv6 form. */
export function isMetadataAddress(text: string): boolean {
  const bytes = parseAddress(text);
  if (bytes === null) return false;
  return [bytes, ...embedded4(bytes)].some((each) =>
    compiledMetadata.some((metadata) => isInBlock(each, metadata, metadata.length * 8)),
  );
}

/** Link-local, including an IPv4 address in an IPv6 form. */
export function isLinkLocalAddress(text: string): boolean {
  const bytes = parseAddress(text);
  if (bytes === null) return false;
  return [bytes, ...embedded4(bytes)].some((each) => classifyBytes(each) === "link_local");
}

function classifyBytes(bytes: Uint8Array): AddressKind {
  if (bytes.length === 4) {
    return compiled4.find(({ network, prefix }) => isInBlock(bytes, network, prefix))?.kind ?? "public";
  }
  const block = compiled6.find(({ network, prefix }) => isInBlock(bytes, network, prefix));
  if (block !== undefined) return block.kind;
  if (isIsatap(bytes)) return "embedded";
  return isInBlock(bytes, globalUnicast, 3) ? "public" : "reserved";
}

/**
 * Classifies an address text; `invalid` when it is no address. Takes canonical notation only, as resolvers and the WHATWG URL parser write
 * it: `new URL` must turn `0x7f.1` and the like into `127.0.0.1` first.
 */
export function classifyAddress(text: string): AddressKind {
  const bytes = parseAddress(text);
  if (bytes === null) return "invalid";
  return isMetadataAddress(text) ? "metadata" : classifyBytes(bytes);
}

/** The host of a URL for checking and connecting: without the brackets of an IPv6 literal and the trailing root dot. */
export function bareHost(hostname: string): string {
  return hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : withoutRoot(hostname);
}

// Names that always mean "internal": RFC 6761, RFC 8375, Kubernetes, and what routers hand out.
const innerSuffixes = [
  "localhost",
  "local",
  "internal",
  "lan",
  "svc",
  "cluster.local",
  "localdomain",
  "home.arpa",
] as const;

/**
 * True for a name that may be public: at least two labels, no internal suffix, no trailing dot, at most 253 characters. Takes the canonical
 * (lower-case, ASCII) host of a URL; does not resolve it.
 */
export function isPublicName(name: string): boolean {
  if (name.length > 253 || !name.includes(".") || name.startsWith(".") || name.endsWith(".")) return false;
  return !innerSuffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
