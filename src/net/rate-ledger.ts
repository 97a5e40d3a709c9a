import type { Clock } from "../clock.ts";
import {
  defaultRetryAfterMs,
  maxRetryAfterMs,
  readRateFacts,
  readRetryAfter,
  readRetryAfterText,
} from "./rate-headers.ts";

/** What one host allows one credential, by its latest responses. */
export interface RateState {
  host: string;
  credential_id: string | null;
  limit: number | null;
  remaining: number | null;
  reset_at: number | null;
  /** No request before this time; null when there is no block. */
  blocked_until: number | null;
  /** Consecutive refusals without a time; each doubles the wait. */
  strikes: number;
  observed_at: number;
}

/** Keeps the states across restarts. `save` replaces the state of the same key (see `rateKey`). */
export interface RateStore {
  load(): Promise<readonly RateState[]>;
  save(state: RateState): Promise<void>;
}

/** The part of a response that the ledger needs. */
export interface RatedAnswer {
  status: number;
  headers: Headers;
  /** The start of the body, if it was read. */
  text: string;
}

export interface RateLedger {
  /** Reads the stored states; called once at start. */
  load(): Promise<void>;
  /** Until when nothing may be sent, or null. */
  blockedUntil(host: string, credentialId: string | null): number | null;
  /**
   * Records a response. Returns how long to wait when it is a rate-limit refusal, else null. A fault with a wait (a 503 with `Retry-After`)
   * is no such refusal, but nothing is sent before that time either.
   */
  observe(host: string, credentialId: string | null, answer: RatedAnswer): number | null;
  /** What is known of every host and credential, for display. */
  view(): readonly RateState[];
}

export interface RateLedgerOptions {
  clock: Clock;
  store: RateStore;
  /** A state could not be stored; the ledger continues in memory. */
  onStoreError: (error: unknown) => void;
}

/** Secondary limits without a time: a minute, doubling, an hour at most. */
const maxStrikeMs = 3_600_000;
/** Counts change with every response and are stored at this interval; blocks at once. */
const saveEveryMs = 60_000;
/** Hosts times credentials; the least recently used is dropped first. */
const maxStates = 2_000;

function rateKey(host: string, credentialId: string | null): string {
  return `${host} ${credentialId ?? "-"}`;
}

const secondary = /secondary rate limit|rate limit exceeded|abuse detection|toomanyrequests|too many requests/i;
/** GraphQL refuses inside a 200: by the documented type, by GitHub's newer one, or by the text of its secondary limit. */
const graphqlRefusal =
  /"type"\s{0,4}:\s{0,4}"RATE_LIMIT(?:ED)?"|"message"\s{0,4}:\s{0,4}"[^"]{0,80}secondary rate limit/;

function isRefusal(answer: RatedAnswer, remaining: number | null): boolean {
  if (answer.status === 429) return true;
  if (answer.status === 200) return graphqlRefusal.test(answer.text);
  if (answer.status !== 403) return false;
  const isTimed = answer.headers.has("retry-after") || readRetryAfterText(answer.text) !== null;
  return isTimed || remaining === 0 || secondary.test(answer.text);
}

/** The pause that a refusal requests; null if it does not say. */
function statedWait(answer: RatedAnswer, state: RateState, now: number): number | null {
  const waits: number[] = [];
  const retryAfter = readRetryAfter(answer.headers, now) ?? readRetryAfterText(answer.text);
  if (retryAfter !== null) waits.push(retryAfter);
  if (state.remaining === 0 && state.reset_at !== null) waits.push(Math.max(state.reset_at - now, 0));
  return waits.length === 0 ? null : Math.max(...waits);
}

export function createRateLedger(options: RateLedgerOptions): RateLedger {
  const { clock, store } = options;
  const states = new Map<string, RateState>();
  const savedAt = new Map<string, number>();

  const save = (key: string, state: RateState) => {
    savedAt.set(key, clock.elapsed());
    store.save({ ...state }).catch(options.onStoreError);
  };

  /** When our clock was set back, recorded times move with it, so that a block keeps its length. */
  const settle = (state: RateState, now: number): RateState => {
    const back = state.observed_at - now;
    if (back <= 0) return state;
    const moved = (at: number | null) => (at === null ? null : at - back);
    return Object.assign(state, {
      observed_at: now,
      blocked_until: moved(state.blocked_until),
      reset_at: moved(state.reset_at),
    });
  };

  const stateOf = (host: string, credentialId: string | null, now: number): RateState => {
    const key = rateKey(host, credentialId);
    const known = states.get(key);
    if (known !== undefined) return settle(known, now);
    const fresh: RateState = {
      host,
      credential_id: credentialId,
      limit: null,
      remaining: null,
      reset_at: null,
      blocked_until: null,
      strikes: 0,
      observed_at: now,
    };
    states.set(key, fresh);
    forgetOldest();
    return fresh;
  };

  const forgetOldest = () => {
    if (states.size <= maxStates) return;
    const [oldest] = [...states].sort(([, a], [, b]) => a.observed_at - b.observed_at);
    if (oldest === undefined) return;
    states.delete(oldest[0]);
    savedAt.delete(oldest[0]);
  };

  const refuse = (state: RateState, answer: RatedAnswer, now: number): number => {
    const stated = statedWait(answer, state, now);
    const wait = stated ?? Math.min(defaultRetryAfterMs * 2 ** Math.min(state.strikes, 10), maxStrikeMs);
    if (stated === null) state.strikes += 1;
    state.blocked_until = now + Math.min(wait, maxRetryAfterMs);
    return wait;
  };

  return {
    load: async () => {
      for (const state of await store.load()) states.set(rateKey(state.host, state.credential_id), { ...state });
    },
    blockedUntil: (host, credentialId) => {
      const state = states.get(rateKey(host, credentialId));
      if (state === undefined) return null;
      const now = clock.now();
      const until = settle(state, now).blocked_until;
      return until !== null && until > now ? until : null;
    },
    observe: (host, credentialId, answer) => {
      const now = clock.now();
      const key = rateKey(host, credentialId);
      const facts = readRateFacts(answer.headers, now);
      const pause = answer.status >= 500 ? readRetryAfter(answer.headers, now) : null;
      const isRelevant = states.has(key) || facts.limit !== null || facts.remaining !== null || pause !== null;
      const isRefused = isRefusal(answer, facts.remaining);
      if (!isRelevant && !isRefused) return null;
      const state = stateOf(host, credentialId, now);
      const wasBlocked = state.blocked_until;
      state.observed_at = now;
      state.limit = facts.limit ?? state.limit;
      state.remaining = facts.remaining ?? state.remaining;
      state.reset_at = facts.reset_at ?? state.reset_at;
      let wait: number | null = null;
      if (isRefused) wait = refuse(state, answer, now);
      else if (pause !== null) state.blocked_until = now + pause;
      else if (answer.status < 400) {
        state.strikes = 0;
        // The last allowed response: the next request would be refused, so it is not sent.
        const isSpent = facts.remaining === 0 && facts.reset_at !== null;
        if (isSpent) state.blocked_until = facts.reset_at;
        else if (state.blocked_until !== null && state.blocked_until <= now) state.blocked_until = null;
      }
      const isSaveDue = clock.elapsed() - (savedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= saveEveryMs;
      if (state.blocked_until !== wasBlocked || isSaveDue) save(key, state);
      return wait;
    },
    view: () => {
      const now = clock.now();
      return [...states.values()].map((state) => {
        const { blocked_until } = settle(state, now);
        return { ...state, blocked_until: blocked_until !== null && blocked_until > now ? blocked_until : null };
      });
    },
  };
}

/**
 * Records and blocks nothing: for interactive requests, where one refusal must not block the next and the sources' state of a host does not
 * apply.
 */
export const noLedger: RateLedger = {
  load: async () => undefined,
  blockedUntil: () => null,
  observe: () => null,
  view: () => [],
};
