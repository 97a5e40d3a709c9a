import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { PluginContext } from "../plugin.ts";
import { parseStrictObject } from "../strict-json.ts";
import { Refusal, type RefusalReason } from "./refusal.ts";

/** For one request to the provider: connection, head and body, including retries. */
const DEADLINE_MS = 10_000;

/** Opens the bounded fetch; see `net/http.ts`. The provider may be in a private network, but not at a metadata address. */
export type OpenContext = (options: {
  timeout_ms: number;
  credential_id: null;
  max_bytes: number;
  /** Rate limits of a forge on the same host must not block sign-in, nor the other way round. */
  is_unrated: true;
  signal: AbortSignal;
}) => PluginContext;

export interface UpstreamOptions {
  clock: Clock;
  openContext: OpenContext;
  /** For tests only: also allows http to this machine's loopback. */
  isLoopbackHttpAllowed: boolean;
}

const loopbackHosts = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, or http to this machine where a test allows it. */
export function isAllowedAddress(text: string, isLoopbackHttpAllowed: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== "" || password !== "" || hash !== "") return false;
  return protocol === "https:" || (isLoopbackHttpAllowed && protocol === "http:" && loopbackHosts.test(hostname));
}

interface Question {
  url: string;
  init: RequestInit;
  max_bytes: number;
  /** For every failure except an address that is not allowed. */
  failure: RefusalReason;
}

async function withDeadline<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const timer = new AbortController();
  const wait = clock.sleep(DEADLINE_MS, timer.signal).then(
    () => over.abort(),
    () => undefined, // the work ended first
  );
  try {
    return await work(over.signal);
  } finally {
    timer.abort();
    await wait;
  }
}

function rateLimited(url: string): PluginError {
  return new PluginError("rate_limited", say("net.unusable_status", { host: new URL(url).host, status: 429 }));
}

async function readObject(response: Response): Promise<Record<string, unknown> | null> {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) return null;
  return parseStrictObject(new Uint8Array(await response.arrayBuffer()));
}

/**
 * Sends one request to the provider: JSON with status 200, with a deadline and a size limit, no redirects, nothing cached. Other responses
 * are never shown, because they may repeat a code or a secret. Throws `Refusal`.
 */
export function createUpstream({ clock, openContext, isLoopbackHttpAllowed }: UpstreamOptions) {
  return async (question: Question): Promise<Record<string, unknown>> => {
    if (!isAllowedAddress(question.url, isLoopbackHttpAllowed)) throw new Refusal("endpoint_not_https");
    const ask = async (signal: AbortSignal) => {
      const { max_bytes } = question;
      const limits = { timeout_ms: DEADLINE_MS, credential_id: null, max_bytes, is_unrated: true as const };
      const context = openContext({ ...limits, signal });
      const init: RequestInit = { ...question.init, redirect: "error", cache: "no-store" };
      const response = await context.fetch(new URL(question.url), init);
      // A stranger's code can provoke this: it ends this sign-in and does not affect the next one.
      if (response.status === 429) throw new Refusal("provider_unreachable", { cause: rateLimited(question.url) });
      const body = await readObject(response);
      if (response.status !== 200 || body === null) throw new Refusal(question.failure);
      return body;
    };
    try {
      return await withDeadline(clock, ask);
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      if (!(cause instanceof PluginError)) throw cause;
      const reason = cause.code === "unreachable" ? "provider_unreachable" : question.failure;
      // The response to a code exchange may repeat the code or the client's secret, so its text stops here.
      throw new Refusal(reason, question.init.method === "POST" ? {} : { cause });
    }
  };
}

export type Upstream = ReturnType<typeof createUpstream>;
