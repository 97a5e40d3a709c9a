import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { isMessage, type Message, say } from "../messages/message.ts";
import type { Readiness } from "../runtimes/runtime.ts";
import type { OpenProbe } from "./probe.ts";

export interface ProbeTiming {
  /** From the end of the update to the first attempt. */
  initial_delay_seconds: number;
  /** The most that one attempt takes. */
  single_timeout_seconds: number;
  /** From the start of an attempt to the start of the next; at once when the attempt took longer. */
  probe_interval_seconds: number;
  /** No attempt starts later than this after the initial delay. */
  total_probe_duration_seconds: number;
}

/** Between two looks at a runtime, however short the interval of the probe is. */
const minIntervalMs = 1_000;
/** Between two looks for the end of a target; a failed update is down for as long as its end goes unseen. */
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
  /** When it began, as `Clock.elapsed` counts. */
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
  /** What the runtime says meanwhile; without it the first attempt that passes is the end. */
  observe?: Observing;
  /** Asked beside the probes and before the first of them: what ended for good and makes waiting pointless, or null. */
  findEnd?: () => Promise<Message | null>;
}

/** The watch that goes on after a probe has passed: an answer in the first second says nothing of the tenth. */
export interface Observing {
  /** As `Clock.elapsed` counts. */
  until: number;
  /** The runtime's own judgement; only one that is final counts against the probe. */
  readiness(): Promise<Readiness>;
  /** Looks at least once, also when the time is over already: for probes that do not ask the runtime themselves. */
  at_least_once: boolean;
}

export interface Verdict {
  passed: boolean;
  detail: Message;
  attempts: number;
  /** When the passing attempt ended; null when none passed. */
  ready_at: number | null;
}

/**
 * Probes until one attempt passes, one says that waiting is of no use, the time is over, or the target is found to have ended.
 * Rejects with the signal's reason when aborted; a probe that fails is an attempt that did not pass.
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
    // Nothing is noted of an attempt once the verdict is; a look that hangs is not waited for.
    watching.catch(() => undefined);
    await Promise.allSettled([probing]);
  }
}

/** Resolves with what ended. A runtime that does not answer is asked again. */
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
 * Looks at each interval and at the end of the time. Null when nothing went wrong, else what did; a runtime that does not answer is
 * asked again for as long as probing would have gone on.
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

/** Whether the probe said it, or it is what is said of a probe that said nothing. */
type Attempted = Readiness & { is_answered: boolean };

/** One attempt that ends at the timeout, whether or not the probe heeds its signal. */
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
