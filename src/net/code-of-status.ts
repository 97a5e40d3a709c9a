import type { PluginErrorCode } from "../errors.ts";

/** What a refusal means to us by its HTTP status; 410 is up to the protocol. */
export function codeOfStatus(status: number): PluginErrorCode {
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "not_found";
  return status >= 500 ? "unreachable" : "rejected";
}
