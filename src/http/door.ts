import type { MiddlewareHandler } from "hono";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { createRequestScope, type RequestScope } from "../request-scope.ts";
import type { AppEnv } from "./context.ts";

export type Door = ReturnType<typeof createDoor>;

/** About how long a restart takes. */
const retryAfterSeconds = 5;

function stopping(): AppError {
  return new AppError("stopping", 503, say("request.stopping"), {
    retry_after_seconds: retryAfterSeconds,
  });
}

interface CloseOptions {
  /** How long a request without changes may still run; then it is refused. */
  patience_ms: number;
  /** How long a request with changes may run: it completes, so that its response is true. */
  limit_ms: number;
}

/** Admits requests. Once closed, it refuses new ones and lets running ones finish before the database closes. */
export function createDoor(clock: Clock) {
  const closing = new AbortController();
  /** Waiting for their session or body: a body that never arrives must not delay the stop. */
  const waiting = new Set<RequestScope>();
  const begun = new Set<RequestScope>();
  let inside = 0;
  let onEmpty: () => void = () => undefined;

  const enter: MiddlewareHandler<AppEnv> = async function enter(c, next) {
    c.set("closing", closing.signal);
    const scope = createRequestScope();
    c.set("scope", scope);
    waiting.add(scope);
    try {
      if (closing.signal.aborted) throw stopping();
      await Promise.race([next(), scope.given_up]);
    } finally {
      waiting.delete(scope);
      begun.delete(scope);
      scope.end();
      if (closing.signal.aborted) c.header("Connection", "close");
    }
  };
  const begin: MiddlewareHandler<AppEnv> = async function begin(c, next) {
    const scope = c.get("scope");
    // It was answered meanwhile, and its body drained.
    if (closing.signal.aborted) throw stopping();
    if (c.req.raw.body !== null && Object.keys(c.req.bodyCache).length === 0) await c.req.arrayBuffer();
    if (closing.signal.aborted) throw stopping();
    waiting.delete(scope);
    begun.add(scope);
    await scope.run(next);
  };

  return {
    /** For every request: refuses it once the door is closed. */
    enter,
    /** After session and body: from here on the request may complete. */
    begin,

    /** Counts one request until it is answered. */
    through: async <T>(work: () => T | Promise<T>): Promise<T> => {
      inside += 1;
      try {
        return await work();
      } finally {
        inside -= 1;
        if (inside === 0) onEmpty();
      }
    },

    /** Admits no more requests; resolves when all have finished, or false at the limit. */
    close: async ({ patience_ms, limit_ms }: CloseOptions): Promise<boolean> => {
      closing.abort(stopping());
      for (const scope of waiting) scope.giveUp(stopping());
      const empty = new Promise<true>((resolve) => {
        onEmpty = () => resolve(true);
        if (inside === 0) resolve(true);
      });
      const over = new AbortController();
      const wait = (ms: number) =>
        clock.sleep(ms, over.signal).then(
          () => false,
          () => true,
        );
      try {
        if (await Promise.race([empty, wait(patience_ms)])) return true;
        for (const scope of begun) scope.giveUp(stopping());
        return await Promise.race([empty, wait(limit_ms - patience_ms)]);
      } finally {
        over.abort();
      }
    },
  };
}
