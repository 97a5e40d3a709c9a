import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { isMessage, type Message, say } from "../messages/message.ts";
import type { Readiness } from "../runtimes/session.ts";
import type { OpenProbe } from "./probe.ts";

export interface ProbeTiming {
  /** From the end of the update to the first attempt. */
  initial_delay_seconds: number;
  /** Longest duration of one attempt. */
  single_timeout_seconds: number;
  /** From the start of an attempt to the start of the next; at once when the attempt took longer. */
  probe_interval_seconds: number;
  /** No attempt starts later than this after the initial delay. */
  total_probe_duration_seconds: number;
}

/** Minimum between two reads of the runtime, however short the probe's interval. */
const minIntervalMs = 1_000;
/** Interval for detecting a target that has ended: until then a failed update stays down. */
const watchIntervalMs = 250;

export const defaultProbeTiming: ProbeTiming = {
  initial_delay_seconds: 15,
  single_timeout_seconds: 10,
  probe_interval_seconds: 5,
  total_probe_duration_seconds: 180,
};

export interface ProbeAttempt {
  /** From 1. */
  number: number;
  /** By `Clock.elapsed`. */
  started_at: number;
  duration_ms: number;
  readiness: Readiness;
}

export interface VerifyOptions {
  probe: OpenProbe;
  timing: ProbeTiming;
  clock: Clock;
  signal: AbortSignal;
  onAttempt?: (attempt: ProbeAttempt) => void | Promise<void>;
  /** The runtime's judgement meanwhile; without it the first successful attempt is the end. */
  observe?: Observing;
  /** Called beside the probes and before the first: a permanent end that makes waiting pointless, or null. */
  findEnd?: () => Promise<Message | null>;
}

/** The observation after a successful probe: a response in the first second says nothing about the tenth. */
export interface Observing {
  /** By `Clock.elapsed`. */
  until: number;
  /** The runtime's own judgement; only a final one overrules the probe. */
  readiness(): Promise<Readiness>;
  /** Observes at least once, even when the time is over: for probes that do not use the runtime. */
  at_least_once: boolean;
}

export interface Verdict {
  passed: boolean;
  detail: Message;
  attempts: number;
  /** When the successful attempt ended; null when none was. */
  ready_at: number | null;
}

/**
 * Probes until an attempt succeeds, an attempt says that waiting is useless, the time is over, or the target has ended. Rejects with the
 * signal's reason when aborted; a probe that throws counts as a failed attempt.
 */
export async function verify(options: VerifyOptions): Promise<Verdict> {
  const { clock, findEnd } = options;
  if (findEnd === undefined) return await probeToVerdict(options);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  let attempts = 0;
  const onAttempt = async (attempt: ProbeAttempt) => {
    attempts = attempt.number;
    await options.onAttempt?.(attempt);
  };
  const probing = probeToVerdict({ ...options, signal, onAttempt });
  const watching = watchForEnd(findEnd, clock, signal);
  try {
    const first = await Promise.race([probing, watching]);
    return isMessage(first) ? { passed: false, detail: first, attempts, ready_at: null } : first;
  } finally {
    over.abort(new Error("The verdict is known"));
    // After the verdict, attempts are no longer recorded and hanging reads no longer awaited.
    watching.catch(() => undefined);
    await Promise.allSettled([probing]);
  }
}

/** Resolves with what ended. Retries when the runtime does not respond. */
async function watchForEnd(
  findEnd: () => Promise<Message | null>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Message> {
  for (;;) {
    try {
      const end = await findEnd();
      if (end !== null) return end;
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
    }
    await clock.sleep(watchIntervalMs, signal);
  }
}

async function probeToVerdict(options: VerifyOptions): Promise<Verdict> {
  const { probe, timing, clock, signal } = options;
  await clock.sleep(timing.initial_delay_seconds * 1000, signal);
  const end = clock.elapsed() + timing.total_probe_duration_seconds * 1000;
  for (let number = 1; ; number++) {
    const started_at = clock.elapsed();
    const readiness = await attemptWithin(probe, timing.single_timeout_seconds, clock, signal);
    const endedAt = clock.elapsed();
    const ready_at = clock.now();
    await options.onAttempt?.({ number, started_at, duration_ms: endedAt - started_at, readiness });
    if (readiness.ready) {
      const failure = await observe(options, endedAt, end);
      if (failure !== null) return { passed: false, detail: failure, attempts: number, ready_at: null };
      return { passed: true, detail: readiness.detail, attempts: number, ready_at };
    }
    const nextAt = Math.max(started_at + timing.probe_interval_seconds * 1000, clock.elapsed());
    if (readiness.final === true || nextAt > end) {
      return { passed: false, detail: readiness.detail, attempts: number, ready_at: null };
    }
    await clock.sleep(nextAt - clock.elapsed(), signal);
  }
}

/**
 * Reads the runtime at each interval and at the end of the time. Null when nothing failed, else what did; an unresponsive runtime is
 * retried for as long as probing would have continued.
 */
async function observe(options: VerifyOptions, passedAt: number, end: number): Promise<Message | null> {
  const { timing, clock, signal, observe: observing } = options;
  if (observing === undefined || (passedAt >= observing.until && !observing.at_least_once)) return null;
  const intervalMs = Math.max(timing.probe_interval_seconds * 1000, minIntervalMs);
  const looking: OpenProbe = { attempt: () => observing.readiness() };
  for (;;) {
    const leftMs = observing.until - clock.elapsed();
    if (leftMs > 0) await clock.sleep(Math.min(intervalMs, leftMs), signal);
    const isLast = clock.elapsed() >= observing.until;
    const found = await attemptWithin(looking, timing.single_timeout_seconds, clock, signal);
    if (!found.ready && found.final === true) return found.detail;
    if (isLast && found.is_answered) return null;
    if (found.is_answered) continue;
    if (isLast && clock.elapsed() + intervalMs > end) return found.detail;
    if (isLast) await clock.sleep(intervalMs, signal);
  }
}

/** Whether the probe said it, or it describes a probe that said nothing. */
type Attempted = Readiness & { is_answered: boolean };

/** One attempt that ends at the timeout, whether or not the probe honours its signal. */
async function attemptWithin(probe: OpenProbe, seconds: number, clock: Clock, signal: AbortSignal): Promise<Attempted> {
  signal.throwIfAborted();
  const attempt = new AbortController();
  const timer = new AbortController();
  const abort = () => attempt.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const ended = Promise.withResolvers<never>();
  attempt.signal.addEventListener("abort", () => ended.reject(attempt.signal.reason), { once: true });
  const timeout = new PluginError("unreachable", say("probes.no_answer", { seconds }));
  clock.sleep(seconds * 1000, timer.signal).then(
    () => attempt.abort(timeout),
    () => undefined, // ended in time
  );
  try {
    return { ...(await Promise.race([probe.attempt(attempt.signal), ended.promise])), is_answered: true };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PluginError)) throw error;
    return { ready: false, detail: error.said, is_answered: false };
  } finally {
    timer.abort();
    signal.removeEventListener("abort", abort);
  }
}
