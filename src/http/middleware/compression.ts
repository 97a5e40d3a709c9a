import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";
import type { MiddlewareHandler } from "hono";
import { acceptsGzip } from "../accept-encoding.ts";
import type { AppContext, AppEnv } from "../context.ts";

const packAside = promisify(gzip);

/** Streams, downloads, images and what is compressed already are left as they are. */
const packedTypes = /^(text\/html|application\/json)\b/;
/** Smaller bodies fit into the packet that carries their headers. */
const leastBytes = 1024;
/** Above this, a larger effort costs more time than its bytes take on the way. */
const level = 5;
/** A larger one would hold up other requests; for a smaller one, another thread takes longer than the work. */
const mostAtOnce = 512 * 1024;

async function pack(body: Uint8Array) {
  return new Uint8Array(body.length > mostAtOnce ? await packAside(body, { level }) : gzipSync(body, { level }));
}

/**
 * Whether another site caused the request. Its input would be compressed together with text that only the administrator may read, and the
 * length would reveal matches (BREACH). The form token is also masked, for browsers that do not name the site.
 */
function isForeign(c: AppContext): boolean {
  const site = c.req.header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

/** Compresses pages and JSON. Register it before what makes responses, and after what only adds headers. */
export function compression(): MiddlewareHandler<AppEnv> {
  return async function compression(c, next) {
    await next();
    const { headers } = c.res;
    const isLeft = ["Content-Disposition", "Content-Encoding"].some((name) => headers.has(name));
    if (isLeft || !packedTypes.test(headers.get("Content-Type") ?? "")) return;
    headers.append("Vary", "Accept-Encoding");
    const isWanted = acceptsGzip(c.req.header("accept-encoding")) && !isForeign(c);
    if (!isWanted || c.req.method === "HEAD") return;
    // Not `c.res.body`: that makes a stream of what is there at once.
    const body = new Uint8Array(await c.res.arrayBuffer());
    const packed = body.length < leastBytes ? body : await pack(body);
    headers.delete("Content-Length");
    if (packed !== body) headers.set("Content-Encoding", "gzip");
    const response = new Response(packed, { status: c.res.status, headers });
    // Otherwise each header would be copied into another response.
    c.res = undefined;
    c.res = response;
  };
}
