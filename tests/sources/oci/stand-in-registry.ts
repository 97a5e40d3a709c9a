import { createHash } from "node:crypto";
import { systemClock } from "../../../src/clock.ts";
import { PluginError } from "../../../src/errors.ts";
import { plain } from "../../../src/messages/message.ts";
import type { PluginContext } from "../../../src/plugin.ts";
import type { ListRequest } from "../../../src/sources/source.ts";

/** One request as it arrived, with the answer's status: tests judge every one of them. */
export interface SeenRequest {
  /** `GET /v2/acme/app/tags/list?n=1000` */
  line: string;
  host: string;
  authorization: string | null;
  accept: string | null;
  status: number;
}

export interface StandIn {
  /** `http://127.0.0.1:PORT` */
  url: string;
  host: string;
  seen: SeenRequest[];
  /** The requests so far as lines, and forgets them. */
  take(): string[];
  stop(): Promise<void>;
}

/** A server on loopback that records what it is asked; `answer` decides. */
export function standIn(answer: (request: Request, url: URL) => Response | Promise<Response>): StandIn {
  const seen: SeenRequest[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const response = await answer(request, url);
      seen.push({
        line: `${request.method} ${url.pathname}${url.search}`,
        host: request.headers.get("host") ?? "",
        authorization: request.headers.get("authorization"),
        accept: request.headers.get("accept"),
        status: response.status,
      });
      return response;
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return {
    url: `http://${host}`,
    host,
    seen,
    take: () => seen.splice(0).map((request) => request.line),
    stop: () => server.stop(true),
  };
}

export function json(value: unknown, init: ResponseInit = {}): Response {
  return Response.json(value, init);
}

export function sha256(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

const indexType = "application/vnd.oci.image.index.v1+json";
export const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** What a stand-in registry holds: documents by tag and digest, and blobs by digest. */
export interface Content {
  tags: Map<string, { type: string; body: string }>;
  manifests: Map<string, { type: string; body: string }>;
  blobs: Map<string, string>;
}

export function emptyContent(): Content {
  return { tags: new Map(), manifests: new Map(), blobs: new Map() };
}

/** Adds an image with its config (linux/amd64 unless told), and the tag when there is one; returns its digest. */
export function addImage(
  content: Content,
  tag: string | null,
  config: Record<string, unknown>,
  platform = { os: "linux", architecture: "amd64" },
  sizes: { config?: unknown; layers: readonly unknown[] } = { layers: [] },
): string {
  const blob = JSON.stringify({ ...platform, ...config });
  content.blobs.set(sha256(blob), blob);
  const body = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { digest: sha256(blob), ...(sizes.config === undefined ? {} : { size: sizes.config }) },
    layers: sizes.layers.map((size) => ({ size })),
  });
  content.manifests.set(sha256(body), { type: manifestType, body });
  if (tag !== null) content.tags.set(tag, { type: manifestType, body });
  return sha256(body);
}

export function addIndex(content: Content, tag: string, manifests: readonly Record<string, unknown>[]): string {
  const body = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
  content.manifests.set(sha256(body), { type: indexType, body });
  content.tags.set(tag, { type: indexType, body });
  return sha256(body);
}

/** The part of a registry behind its sign-in: tags in one page, manifests by tag and digest, blobs. */
export function serve(content: Content, name: string, request: Request, url: URL): Response {
  const path = url.pathname;
  if (path === `/v2/${name}/tags/list`) return json({ name, tags: [...content.tags.keys()] });
  const [, kind, reference = ""] = path.startsWith(`/v2/${name}/`)
    ? (/\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [])
    : [];
  const manifest = kind === "manifests" ? (content.tags.get(reference) ?? content.manifests.get(reference)) : undefined;
  if (manifest !== undefined) {
    const headers = { "content-type": manifest.type, "docker-content-digest": sha256(manifest.body) };
    return new Response(request.method === "HEAD" ? null : manifest.body, { headers });
  }
  const blob = kind === "blobs" ? content.blobs.get(reference) : undefined;
  if (blob !== undefined) return new Response(blob, { headers: { "content-type": "application/octet-stream" } });
  return json({ errors: [{ code: "NAME_UNKNOWN", message: "repository name not known" }] }, { status: 404 });
}

/**
 * A context with the bounds that the real one promises: five redirects, no credential on another origin, 16 MiB. The time is the real
 * one unless told, since real peers date what they publish.
 */
export function testContext(now: () => number = systemClock.now, maxBytes = 16 * 1024 * 1024): PluginContext {
  const bounded = async (response: Response): Promise<Response> => {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > maxBytes) throw new PluginError("malformed", plain(`The answer has more than ${maxBytes} bytes`));
      parts.push(part);
    }
    const { status, headers } = response;
    return new Response(parts.length === 0 ? null : Buffer.concat(parts), { status, headers });
  };
  const follow = async (url: URL, init: RequestInit, left: number): Promise<Response> => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return await bounded(response);
    if (left === 0) throw new PluginError("malformed", plain("There are more than 5 redirects"));
    const next = new URL(location, url);
    const headers = new Headers(init.headers);
    if (next.origin !== url.origin) headers.delete("authorization");
    return await follow(next, { ...init, headers }, left - 1);
  };
  return {
    fetch: (url, init = {}) => follow(url, init, 5),
    signal: new AbortController().signal,
    clock: { now, elapsed: now, sleep: () => Promise.resolve() },
  };
}

/** A request to list with everything blank but what is given. */
export function listRequest(given: Partial<ListRequest> = {}): ListRequest {
  return { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null, ...given };
}
