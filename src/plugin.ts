import type { BaseIssue, BaseSchema } from "valibot";
import type { Clock } from "./clock.ts";

/** A valibot schema that is at once the API schema, the HTML form and the stored form of a plug-in's configuration. */
export type ConfigSchema = BaseSchema<unknown, Record<string, unknown>, BaseIssue<unknown>>;

/**
 * What every plug-in gets from its caller. `fetch` is bounded (deadline, size, redirects), conditional where a validator is
 * stored (a 304 arrives as the stored 200 with the header `x-tidemark-not-modified: 1`), paced by the rate ledger, and for
 * probes and notifiers limited to public destinations. It throws `PluginError`; it does not throw for HTTP statuses, except
 * that sources get `rate_limited` for every answer that the rate ledger took for a refusal, and `unreachable` for a 5xx that
 * retries did not better.
 */
export interface PluginContext {
  fetch(url: URL, init?: RequestInit): Promise<Response>;
  signal: AbortSignal;
  clock: Clock;
}

/** Where a configuration makes us send requests: judged when it is saved and again at each send. */
export interface HttpDestination {
  url: string;
  purpose: "webhook" | "probe";
}

/** Where it makes us open connections, judged likewise: `host` is bare, a name or an address without brackets. */
export interface TcpDestination {
  host: string;
  port: number;
  purpose: "tcp";
}

export type Destination = HttpDestination | TcpDestination;
