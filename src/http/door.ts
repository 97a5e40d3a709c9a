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
  /** So long a request may take that has changed nothing yet; then it is refused. */
  patience_ms: number;
  /** So long one may take that has: it goes on to its end, so that its answer is true. */
  limit_ms: number;
}

/** Where requests come in: none any more once it is closed, and who is in gets out before the database goes. */
export function createDoor(clock: Clock) {
  const closing = new AbortController();
  /** Whose session is looked up, or whose body is not there yet: a body that never comes must not hold up the stop. */
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
    // It was answered meanwhile, and its body read away.
    if (closing.signal.aborted) throw stopping();
    if (c.req.raw.body !== null && Object.keys(c.req.bodyCache).length === 0) await c.req.arrayBuffer();
    if (closing.signal.aborted) throw stopping();
    waiting.delete(scope);
    begun.add(scope);
    await scope.run(next);
  };

  return {
    /** Of every request: refuses it once the door is closed. */
    enter,
    /** Behind session and body: from here on the request is let come to its end. */
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

    /** Lets no request in any more; resolves when everybody is out, or when the limit is over: false then. */
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
