import type { BaseIssue, BaseSchema } from "valibot";
import type { Clock } from "./clock.ts";

/** A valibot schema: the API schema, the HTML form and the stored form of a plug-in's configuration. */
export type ConfigSchema = BaseSchema<unknown, Record<string, unknown>, BaseIssue<unknown>>;

/**
 * What every plug-in gets from its caller. `fetch` is bounded (deadline, size, redirects), conditional if a validator is stored (a 304
 * arrives as the stored 200 with the header `x-tidemark-not-modified: 1`), paced by the rate ledger, and limited to public destinations for
 * probes and notifiers. Bodies are decompressed, unless the request accepts only the encoding `identity`. It throws `PluginError`, but not for HTTP statuses. The exceptions are for sources: `rate_limited` for every
 * response that the rate ledger considers a refusal, and `unreachable` for a 5xx that retries did not fix.
 */
export interface PluginContext {
  fetch(url: URL, init?: RequestInit): Promise<Response>;
  signal: AbortSignal;
  clock: Clock;
}

/** Where a configuration sends requests: checked when it is saved and again at each request. */
export interface HttpDestination {
  url: string;
  purpose: "webhook" | "probe";
}

/** Where it opens connections, checked the same way. `host` is a name or an address without brackets. */
export interface TcpDestination {
  host: string;
  port: number;
  purpose: "tcp";
}

export type Destination = HttpDestination | TcpDestination;
