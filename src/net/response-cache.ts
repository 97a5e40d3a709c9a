import { createHash } from "node:crypto";

/** An answer that carried a validator, so that the next request for it may be answered by 304. */
export interface CachedResponse {
  etag: string | null;
  last_modified: string | null;
  content_type: string | null;
  /** Other headers that callers read and a 304 need not repeat (RFC 9110, 15.4.5): pages and digests. Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Where validators live over a restart. Both may be called for the same key at the same time; the last `store` wins. */
export interface ResponseCache {
  find(key: string): Promise<CachedResponse | null>;
  store(key: string, response: CachedResponse): Promise<void>;
}

/** Bodies over this are read and passed on, not stored. */
export const maxCachedBytes = 2 * 1024 * 1024;

const keptHeaders = ["link", "docker-content-digest", "x-total-count", "x-next-page", "x-total"] as const;

/** One key per URL, credential and accepted form: what one credential may see is never shown for another. */
export function cacheKey(url: URL, credentialId: string | null, accept: string): string {
  return createHash("sha256")
    .update(JSON.stringify([url.href, credentialId, accept]))
    .digest("hex");
}

/** Anything that looks like a token answer is never stored, whatever validators it has. */
const tokenField = /"(?:access_|refresh_|id_)?token"\s{0,8}:/i;

/** The stored form of an answer, or null when it must not or cannot be stored. */
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

/** The text whose UTF-8 is exactly these bytes (digests are made over bytes), or null. */
function decodeExactly(body: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null; // not UTF-8: a binary body, which is simply asked for again
  }
}

/** The validators of a conditional request. */
export function conditionsOf(cached: CachedResponse): Readonly<Record<string, string>> {
  return {
    ...(cached.etag === null ? {} : { "if-none-match": cached.etag }),
    ...(cached.last_modified === null ? {} : { "if-modified-since": cached.last_modified }),
  };
}

/** The stored answer as if it had come now, marked with `x-tidemark-not-modified: 1`. */
export function toResponse(cached: CachedResponse): Response {
  const headers = new Headers(cached.headers);
  if (cached.content_type !== null) headers.set("content-type", cached.content_type);
  if (cached.etag !== null) headers.set("etag", cached.etag);
  if (cached.last_modified !== null) headers.set("last-modified", cached.last_modified);
  headers.set("x-tidemark-not-modified", "1");
  return new Response(cached.body, { status: 200, headers });
}
