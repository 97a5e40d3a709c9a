import { isIP } from "node:net";
import * as v from "valibot";
import { SaidError } from "../../errors.ts";
import { say, toText } from "../../messages/message.ts";
import { bareHost } from "../../net/address.ts";
import type { Refusal } from "../target.ts";
import type { TlsMaterial } from "../tls-material.ts";

/** Where an engine listens. `tls: null` is plain HTTP. */
export type EngineAddress =
  | { kind: "unix"; path: string }
  | { kind: "tcp"; host: string; port: number; tls: (TlsMaterial & { is_verified: boolean }) | null };

const wanted = say("engine.address_wanted");

/** The engine's address in one of the three forms of `parseAddress`. */
export const AddressText = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(512),
  v.check((text) => parseAddress(text) !== null, toText(wanted)),
);

type ParsedAddress = { kind: "unix"; path: string } | { kind: "tcp"; host: string; port: number };

/** `unix:///abs`, `/abs` or `tcp://host:port`; null for anything else (relative paths, user info, paths after the port). */
export function parseAddress(text: string): ParsedAddress | null {
  const path = text.startsWith("unix://") ? text.slice("unix://".length) : text;
  if (path.startsWith("/")) {
    // A socket's address holds 108 bytes including its terminator; some systems silently truncate a longer one.
    const isUsable = !path.startsWith("//") && !hasControlCharacter(path) && Buffer.byteLength(path) <= 107;
    return isUsable ? { kind: "unix", path } : null;
  }
  const match = /^tcp:\/\/(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}))(?::([0-9]{1,5}))\/?$/.exec(
    text,
  );
  if (match === null) return null;
  const host = bareHost(match[1] ?? "");
  const port = Number(match[2]);
  if (host.includes(":") && isIP(host) !== 6) return null;
  return port >= 1 && port <= 65_535 ? { kind: "tcp", host, port } : null;
}

/** The same text for every spelling of an address. `/var/run` has been a link to `/run` on every distribution for a decade. */
export function placeOf(text: string): string {
  const parsed = parseAddress(text);
  if (parsed?.kind === "unix") return parsed.path.replace(/^\/var\/run\//, "/run/");
  return text.toLowerCase().replace(/\/$/, "");
}

/**
 * With verification, always TLS. Without it, TLS if the credential has TLS material (a client certificate is useless otherwise), else
 * plain HTTP, as a socket proxy expects.
 */
export function engineAddress(text: string, isVerified: boolean, material: TlsMaterial | null): EngineAddress {
  const parsed = parseAddress(text);
  if (parsed === null) throw new SaidError(wanted);
  if (parsed.kind === "unix") return parsed;
  const members = material ?? { ca_certificate: null, client_certificate: null, client_key: null };
  const hasMaterial = Object.values(members).some((member) => member !== null);
  return { ...parsed, tls: isVerified || hasMaterial ? { ...members, is_verified: isVerified } : null };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Warnings that follow from the address alone: anyone who can reach a plain or unverified engine address controls that machine. */
export function addressWarnings(text: string, isVerified: boolean): readonly Refusal[] {
  const parsed = parseAddress(text);
  if (parsed === null || parsed.kind === "unix" || isVerified) return [];
  const warnings: Refusal[] = [
    {
      code: "tls_not_verified",
      message: say("refusals.tls_not_verified", { host: parsed.host }),
    },
  ];
  if (!isLoopback(parsed.host)) {
    warnings.push({
      code: "plain_tcp",
      message: say("refusals.plain_tcp", { host: parsed.host }),
    });
  }
  return warnings;
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}
