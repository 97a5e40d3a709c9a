import { parseInstant } from "../clock.ts";

/** The longest wait that an upstream's header may impose. */
export const maxRetryAfterMs = 86_400_000;
/** Used where an upstream says "wait" and not how long, or nonsense. */
export const defaultRetryAfterMs = 60_000;

function clampWait(ms: number): number {
  return Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

/** Now by the server's own clock, so that a wrong clock here does not bend its times; ours when it does not say. */
function serverNow(headers: Headers, now: number): number {
  return parseInstant(headers.get("date") ?? "") ?? now;
}

/**
 * `Retry-After` in milliseconds from now (RFC 9110, 10.2.3: seconds or an HTTP date), clamped to a day; nonsense is a minute.
 * Null when the header is absent.
 */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return clampWait(Math.ceil(Number(value) * 1000));
  // An HTTP date begins with its weekday; `Date.parse` alone would take "-5" for a year.
  const at = /^[A-Z][a-z]{2,8},? /.test(value) ? parseInstant(value) : null;
  return at === null ? defaultRetryAfterMs : clampWait(at - serverNow(headers, now));
}

/** GHCR writes its wait into the body: `"message":"retry-after: 1.071398ms, allowed: 44000/minute"`. */
export function readRetryAfterText(text: string): number | null {
  const match = /retry-after:\s{0,4}(\d{1,12}(?:\.\d{1,12})?)\s?(ms|µs|us|ns|s|m|h)?/i.exec(text);
  if (match === null) return null;
  const units: Readonly<Record<string, number>> = {
    ns: 1e-6,
    µs: 1e-3,
    us: 1e-3,
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
  };
  return clampWait(Math.ceil(Number(match[1]) * (units[(match[2] ?? "s").toLowerCase()] ?? 1000)));
}

export interface RateFacts {
  limit: number | null;
  remaining: number | null;
  /** Milliseconds UTC by our clock; null too for a rolling window (Docker Hub's `100;w=21600`), which frees itself. */
  reset_at: number | null;
}

function firstOf(headers: Headers, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) return value.trim();
  }
  return null;
}

function count(text: string | null): number | null {
  const match = text === null ? null : /^(\d{1,15})(?:\s*[;,]|$)/.exec(text);
  return match === null ? null : Number(match[1]);
}

/** A reset is written as seconds from now, as Unix seconds or as Unix milliseconds; their sizes tell them apart. */
function resetAt(text: string | null, headers: Headers, now: number): number | null {
  const value = text === null || !/^\d{1,15}(\.\d+)?$/.test(text) ? null : Number(text);
  if (value === null) return null;
  if (value < 1e8) return now + clampWait(value * 1000);
  const at = value < 1e11 ? value * 1000 : value;
  return now + clampWait(at - serverNow(headers, now));
}

/** What an answer says of the allowance: `x-ratelimit-*` (GitHub, Gitea), `ratelimit-*` (GitLab, Docker Hub, IETF draft). */
export function readRateFacts(headers: Headers, now: number): RateFacts {
  const limit = firstOf(headers, ["x-ratelimit-limit", "ratelimit-limit"]);
  const remaining = firstOf(headers, ["x-ratelimit-remaining", "ratelimit-remaining"]);
  const reset = firstOf(headers, ["x-ratelimit-reset", "ratelimit-reset"]);
  return {
    limit: count(limit),
    remaining: count(remaining),
    reset_at: resetAt(reset, headers, now),
  };
}
