import { type Message, say } from "../messages/message.ts";
import type { HttpDestination } from "../plugin.ts";
import { bareHost, classifyAddress, isMetadataAddress, isPublicName, parseAddress } from "./address.ts";
import type { OutboundAllow } from "./outbound-allow.ts";
import { webUrl } from "./web-url.ts";

/** The purpose of a guarded request; it decides the ports. */
export type Purpose = HttpDestination["purpose"];

/** An accepted destination, or why it was refused: `reason` speaks only of what the administrator entered. */
export type Judgement = { ok: true; url: URL } | { ok: false; reason: Message };

/** Forbidden destinations. */
export const neverAllowed: Message = say("net.destination_blocked", { entry: null });

/**
 * The only message for a blocked destination: of what was typed, never what it resolves to, so that internal names cannot be mapped by
 * trial.
 */
export function blockedAt(url: URL): Message {
  return isMetadataHost(url.hostname) ? neverAllowed : say("net.destination_blocked", { entry: entryOf(url) });
}

/** As `OUTBOUND_ALLOW` would name it. */
function entryOf(url: URL): string {
  return `${hostInUrl(bareHost(url.hostname))}:${portOf(url)}`;
}

/** RFC 9110 recommends supporting 8,000 octets; a typed destination never needs more than this. */
const maxUrlLength = 2_048;

/** Names of cloud credential services. Single labels are left out: they may be somebody's container. */
const metadataNames: readonly string[] = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

const webhookPorts = [80, 443, 8080, 8443, 9443];
const probePorts = { "http:": [80, 8080], "https:": [443, 8443, 9443] } as const;

/** The effective port of an http or https URL. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Control characters, including C1, and all white space: the URL parser silently drops or trims some of them. */
export function hasHiddenCharacters(text: string): boolean {
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code <= 0x20 || (code >= 0x7f && code <= 0xa0) || /\s/.test(char)) return true;
  }
  return false;
}

/**
 * Parses typed text as an http or https URL. Refuses everything that the lenient WHATWG parser would repair: control characters, spaces,
 * backslashes, user info, missing or doubled slashes after the scheme.
 */
export function parseHttpUrl(text: string): Judgement {
  const refuse = (reason: Message): Judgement => ({ ok: false, reason });
  if (text.length > maxUrlLength) {
    return refuse(say("net.url_too_long", { length: text.length, limit: maxUrlLength }));
  }
  if (hasHiddenCharacters(text)) return refuse(say("net.url_with_spaces"));
  if (text.includes("\\")) return refuse(say("net.url_with_backslash"));
  const parts = /^(https?):\/\/([^/?#]+)/i.exec(text);
  if (parts === null) return refuse(say("net.url_without_scheme"));
  if (parts[2]?.includes("@")) return refuse(say("net.url_with_user"));
  if (!URL.canParse(text)) return refuse(say("net.url_unparsable"));
  const url = webUrl(text);
  if (url.hostname === "") return refuse(say("net.url_without_host"));
  return { ok: true, url };
}

function portsFor(url: URL, purpose: Purpose): readonly number[] {
  if (purpose === "webhook") return webhookPorts;
  return url.protocol === "https:" ? probePorts["https:"] : probePorts["http:"];
}

/**
 * Checks a destination without DNS: syntax, scheme, port, address literals in every notation, and internal names. Each send checks what the
 * name resolves to.
 */
export function judgeDestination(text: string, purpose: Purpose, allow: OutboundAllow): Judgement {
  const parsed = parseHttpUrl(text);
  if (!parsed.ok) return parsed;
  const { url } = parsed;
  const host = bareHost(url.hostname);
  if (isMetadataAddress(host)) return { ok: false, reason: neverAllowed };
  if (allow.hasHost(host, portOf(url))) return parsed;
  const ports = portsFor(url, purpose);
  if (!ports.includes(portOf(url))) {
    const scheme = purpose === "webhook" ? null : url.protocol.slice(0, -1);
    return {
      ok: false,
      reason: say("net.port_not_allowed", { port: portOf(url), allowed: ports, scheme, entry: entryOf(url) }),
    };
  }
  const isAllowed = parseAddress(host) === null ? isPublicName(host) : isAddressAllowed(host, allow);
  return isAllowed ? parsed : { ok: false, reason: blockedAt(url) };
}

/** True for a public address or one in an allowed network; never for a metadata address. */
export function isAddressAllowed(address: string, allow: OutboundAllow): boolean {
  const kind = classifyAddress(address);
  return kind === "public" || (kind !== "metadata" && kind !== "invalid" && allow.hasAddress(address));
}

/**
 * True for a bare host: a name or address without brackets, port, path, user info, white space or percent escapes. For configurations with
 * host, port and path in separate fields.
 */
export function isBareHost(text: string): boolean {
  if (text === "" || text.length > 253 || hasHiddenCharacters(text)) return false;
  if (parseAddress(text) !== null) return !text.includes("%");
  return !/[:/\\@?#%[\]]/.test(text) && URL.canParse(`http://${text}/`);
}

/** A bare host as the URL parser writes it: `2852039166` becomes `169.254.169.254`. Text that it rejects stays unchanged. */
export function canonicalHost(host: string): string {
  const text = `http://${hostInUrl(host)}/`;
  return URL.canParse(text) ? bareHost(new URL(text).hostname) : host;
}

/** True for a metadata address in every notation, also in brackets, and for the names clouds give it. Does not use DNS. */
export function isMetadataHost(host: string): boolean {
  const canonical = canonicalHost(bareHost(host));
  return isMetadataAddress(canonical) || metadataNames.includes(canonical);
}

/** The host as it appears in a URL: IPv6 literals in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
