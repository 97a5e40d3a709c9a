import { parseInstant } from "../clock.ts";

/** The longest wait that an upstream header may impose. */
export const maxRetryAfterMs = 86_400_000;
/** If an upstream requests a pause without a valid time. */
export const defaultRetryAfterMs = 60_000;

function clampWait(ms: number): number {
  return Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

/** The server's current time, so that a wrong clock here does not distort its times; ours when it sends none. */
function serverNow(headers: Headers, now: number): number {
  return parseInstant(headers.get("date") ?? "") ?? now;
}

/**
 * `Retry-After` in milliseconds from now (RFC 9110, 10.2.3: seconds or an HTTP date), limited to a day; an invalid value is a minute. Null
 * when the header is absent.
 */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return clampWait(Math.ceil(Number(value) * 1000));
  // An HTTP date begins with its weekday; `Date.parse` alone would read "-5" as a year.
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
  /** Milliseconds UTC by our clock; also null for a rolling window (Docker Hub's `100;w=21600`), which frees itself. */
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

/** Resets come as seconds from now, Unix seconds or Unix milliseconds; their size distinguishes them. */
function resetAt(text: string | null, headers: Headers, now: number): number | null {
  const value = text === null || !/^\d{1,15}(\.\d+)?$/.test(text) ? null : Number(text);
  if (value === null) return null;
  if (value < 1e8) return now + clampWait(value * 1000);
  const at = value < 1e11 ? value * 1000 : value;
  return now + clampWait(at - serverNow(headers, now));
}

/** Longer values are no real rate header. */
const maxStructuredCharacters = 1_024;

/** Splits a structured field at marks outside of quotes, trimmed. */
function partsOf(text: string, mark: "," | ";"): readonly string[] {
  const parts = mark === "," ? /(?:"(?:[^"\\]|\\.)*"|[^",])+/g : /(?:"(?:[^"\\]|\\.)*"|[^";])+/g;
  return (text.slice(0, maxStructuredCharacters).match(parts) ?? []).map((part) => part.trim());
}

/** The named items of a structured field (RFC 9651) with their parameters: `"default";r=0;t=90`. */
function readItems(value: string | null): readonly { name: string; parameters: ReadonlyMap<string, string> }[] {
  return partsOf(value ?? "", ",").map((item) => {
    const [name = "", ...rest] = partsOf(item, ";");
    const parameters = rest.map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? ([part, ""] as const) : ([part.slice(0, at).trim(), part.slice(at + 1).trim()] as const);
    });
    return { name, parameters: new Map(parameters) };
  });
}

/**
 * The IETF drafts' `RateLimit`: a list of policies with what remains of each, whose limits are in `RateLimit-Policy`; before the eighth
 * draft a dictionary, `limit=100, remaining=50, reset=5`.
 */
function readStructured(headers: Headers, now: number): readonly RateFacts[] {
  const items = readItems(headers.get("ratelimit"));
  const member = (key: string) => {
    const item = items.find(({ name }) => name.startsWith(`${key}=`));
    return item === undefined ? null : item.name.slice(key.length + 1);
  };
  const dictionary = {
    limit: count(member("limit")),
    remaining: count(member("remaining")),
    reset_at: resetAt(member("reset"), headers, now),
  };
  const sizes = new Map(
    readItems(headers.get("ratelimit-policy")).map(({ name, parameters }) => [name, parameters.get("q") ?? null]),
  );
  const policies = items.map(({ name, parameters }) => ({
    limit: count(sizes.get(name) ?? null),
    remaining: count(parameters.get("r") ?? null),
    reset_at: resetAt(parameters.get("t") ?? null, headers, now),
  }));
  return [dictionary, ...policies];
}

/** Whether `a` blocks the next request sooner than `b`, or for longer. */
function isTighter(a: RateFacts, b: RateFacts): boolean {
  const [left, right] = [a.remaining ?? Number.POSITIVE_INFINITY, b.remaining ?? Number.POSITIVE_INFINITY];
  return left === right ? (a.reset_at ?? 0) > (b.reset_at ?? 0) : left < right;
}

/**
 * Reads a response's rate limits: `x-ratelimit-*` (GitHub, Gitea), `ratelimit-*` (GitLab, Docker Hub, older IETF drafts) and the newer
 * structured `RateLimit`; of several, the one that is exhausted first.
 */
export function readRateFacts(headers: Headers, now: number): RateFacts {
  const plain: RateFacts = {
    limit: count(firstOf(headers, ["x-ratelimit-limit", "ratelimit-limit"])),
    remaining: count(firstOf(headers, ["x-ratelimit-remaining", "ratelimit-remaining"])),
    reset_at: resetAt(firstOf(headers, ["x-ratelimit-reset", "ratelimit-reset"]), headers, now),
  };
  return readStructured(headers, now).reduce((tightest, each) => (isTighter(each, tightest) ? each : tightest), plain);
}
