import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { Outgoing } from "./outgoing.ts";
import { webUrl } from "./web-url.ts";

/** One request of a chain: where it goes, and with what. */
export interface Hop extends Outgoing {
  url: URL;
  /** Null once another origin was involved: its responses, limits and validators belong to no credential. */
  credential_id: string | null;
}

export const maxRedirects = 5;

/** Headers that another origin may see; any other may be a credential under its own name (`private-token`, `x-api-key`). */
const harmlessHeaders = [
  "accept",
  "accept-encoding",
  "accept-language",
  "user-agent",
  "range",
  // Validators come from the upstream; without them a redirected resource would be read in full each time.
  "if-none-match",
  "if-modified-since",
];

/**
 * The request after a redirect, or null when the response names no target. Credentials, cookies and bodies never reach another origin, and
 * a chain never goes from https to http. Throws `rejected` with both hosts named.
 */
export function nextHop(hop: Hop, status: number, location: string | null): Hop | null {
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return null;
  if (!URL.canParse(location, hop.url)) {
    throw new PluginError("malformed", say("net.redirect_to_no_url", { host: hop.url.host }));
  }
  const url = webUrl(location, hop.url);
  url.hash = "";
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new PluginError("rejected", say("net.redirect_to_scheme", { host: hop.url.host, scheme: url.protocol }));
  }
  if (hop.url.protocol === "https:" && url.protocol === "http:") {
    throw new PluginError("rejected", say("net.redirect_to_http", { host: hop.url.host, to: url.host }));
  }
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status <= 302 && hop.method === "POST";
  const isSameOrigin = url.origin === hop.url.origin;
  const body = becomesGet ? null : hop.body;
  if (body !== null && !isSameOrigin) {
    throw new PluginError("rejected", say("net.redirect_of_body", { host: hop.url.host, to: url.host }));
  }
  return {
    url,
    method: becomesGet ? "GET" : hop.method,
    headers: headersFor(hop, isSameOrigin, becomesGet),
    body,
    credential_id: isSameOrigin ? hop.credential_id : null,
  };
}

function headersFor(hop: Hop, isSameOrigin: boolean, becomesGet: boolean): Headers {
  const headers = new Headers();
  hop.headers.forEach((value, name) => {
    if (becomesGet && name === "content-type") return;
    if (isSameOrigin || harmlessHeaders.includes(name)) headers.set(name, value);
  });
  return headers;
}
