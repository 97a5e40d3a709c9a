import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../context.ts";

/** More than that is not waited for: whoever sends it may lose the answer. */
const maxUnreadBytes = 8 * 1024 * 1024;
const defaultMaxWaitMs = 5_000;

/**
 * Reads what a refusal left unread before it is sent. Bun closes a connection whose body nobody read, and a proxy that is still
 * sending the body then answers 502 in our name.
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
    // The sender went away, and so does the answer; or somebody who was not waited for reads it still.
  } finally {
    clearTimeout(limit);
  }
}
