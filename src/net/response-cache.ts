import { createHash } from "node:crypto";

/** A response with a validator, so that the next request may get a 304. */
export interface CachedResponse {
  etag: string | null;
  last_modified: string | null;
  content_type: string | null;
  /** Other headers that callers read and a 304 may omit (RFC 9110, 15.4.5): pages and digests. Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Keeps validators across restarts. Concurrent calls for the same key are allowed; the last `store` wins. */
export interface ResponseCache {
  find(key: string): Promise<CachedResponse | null>;
  store(key: string, response: CachedResponse): Promise<void>;
}

/** Larger bodies are passed on but not stored. */
const maxCachedBytes = 2 * 1024 * 1024;

const keptHeaders = ["link", "docker-content-digest", "x-total-count", "x-next-page", "x-total"] as const;

/** One key per URL, credential and accepted form: what one credential may see is never served to another. */
export function cacheKey(url: URL, credentialId: string | null, accept: string): string {
  return createHash("sha256")
    .update(JSON.stringify([url.href, credentialId, accept]))
    .digest("hex");
}

/** A body that looks like a token is never stored, whatever validators it has. */
const tokenField = /"(?:access_|refresh_|id_)?token"\s{0,8}:/i;

/** The stored form of a response, or null when it must not or cannot be stored. */
export function toCached(headers: Headers, body: Uint8Array): CachedResponse | null {
  const etag = headers.get("etag");
  const last_modified = headers.get("last-modified");
  if ((etag === null && last_modified === null) || body.byteLength > maxCachedBytes) return null;
  if (/\bno-store\b/i.test(headers.get("cache-control") ?? "")) return null;
  const text = decodeExactly(body);
  if (text === null || tokenField.test(text.slice(0, 65_536))) return null;
  const kept: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return { etag, last_modified, content_type: headers.get("content-type"), headers: kept, body: text };
}

/** The text with exactly these bytes as UTF-8, because digests are over bytes; null when there is none. */
function decodeExactly(body: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    // A binary body is not stored; the next request loads it again.
    return null;
  }
}

/** The validators of a conditional request. */
export function conditionsOf(cached: CachedResponse): Readonly<Record<string, string>> {
  return {
    ...(cached.etag === null ? {} : { "if-none-match": cached.etag }),
    ...(cached.last_modified === null ? {} : { "if-modified-since": cached.last_modified }),
  };
}

/** The stored response as if it came now, marked with `x-tidemark-not-modified: 1`. */
export function toResponse(cached: CachedResponse): Response {
  const headers = new Headers(cached.headers);
  if (cached.content_type !== null) headers.set("content-type", cached.content_type);
  if (cached.etag !== null) headers.set("etag", cached.etag);
  if (cached.last_modified !== null) headers.set("last-modified", cached.last_modified);
  headers.set("x-tidemark-not-modified", "1");
  return new Response(cached.body, { status: 200, headers });
}
