import type { Context, Hono } from "hono";
import type { Actor, Session } from "../auth/schema.ts";
import type { RequestScope } from "../request-scope.ts";

/** What the middleware adds to each request. */
export interface AppEnv {
  Variables: {
    request_id: string;
    /** Aborted when the process is about to end, to end all waiting at once. */
    closing: AbortSignal;
    /** What the request changes. */
    scope: RequestScope;
    /** Whether browsers reach us over https, which decides the flags of cookies; missing when the request named no host. */
    is_secure?: boolean;
    /** Of the client; from `X-Forwarded-For` only behind a trusted proxy. */
    address: string;
    /** Null when not signed in. */
    session: Session | null;
    /** For audit entries. */
    actor: Actor;
    /** What forms must send back; empty when not signed in. */
    csrf_token: string;
  };
  /** Set by `main.ts` with each request. */
  Bindings: { peer_address: string | null };
}

export type App = Hono<AppEnv>;
export type AppContext = Context<AppEnv>;
