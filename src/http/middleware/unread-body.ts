import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../context.ts";

/** Longer bodies are not awaited: their sender may lose the response. */
const maxUnreadBytes = 8 * 1024 * 1024;
const defaultMaxWaitMs = 5_000;

/**
 * Drains the body of a refused request before responding. Bun closes a connection with an unread body, and a proxy that is still sending it
 * then responds 502 in our name.
 */
export function readUnreadBody(maxWaitMs = defaultMaxWaitMs): MiddlewareHandler<AppEnv> {
  return async function readUnreadBody(c, next) {
    await next();
    const { body, bodyUsed } = c.req.raw;
    if (body !== null && !bodyUsed && !body.locked) await readAway(body, maxWaitMs);
  };
}

async function readAway(body: ReadableStream<Uint8Array>, maxWaitMs: number): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  try {
    const reader = body.getReader();
    limit = setTimeout(() => void reader.cancel().catch(() => undefined), maxWaitMs);
    for (let bytes = 0; bytes <= maxUnreadBytes; ) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The sender disconnected, so the response is lost too; or the body is still being read without us.
  } finally {
    clearTimeout(limit);
  }
}
