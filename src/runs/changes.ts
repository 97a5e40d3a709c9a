import type { Clock } from "../clock.ts";
import type { Reader } from "../db/client.ts";
import { lastLogAt } from "./log-queries.ts";
import { findRun, type RunStepRow, stepsAfter } from "./queries.ts";
import type { RunStepView } from "./schema.ts";
import { isActiveState } from "./states.ts";

/** Announces every change of a run in this process; runs of other processes are polled. */
export interface RunChanges {
  announce(runId: string): void;
  /** Returns the function that unsubscribes. */
  subscribe(listener: (runId: string) => void): () => void;
}

export function createRunChanges(): RunChanges {
  const listeners = new Set<(runId: string) => void>();
  return {
    announce: (runId) => {
      for (const listener of listeners) listener(runId);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** How often the table is polled for runs of other processes. */
const pollMs = 1000;
const pageSize = 200;

export function stepView(row: RunStepRow): RunStepView {
  return { seq: row.seq, step: row.step, phase: row.phase, facts: { ...row.facts }, at: row.at };
}

interface WatchOptions {
  read: Reader;
  clock: Clock;
  changes: RunChanges;
}

/**
 * The steps of a run after `afterSeq`, as they happen, with progress and new logs in between. Ends on abort, or once the run has ended and
 * all steps were yielded; with `whileDown`, only once the target is up or given up. A reader can continue from the last `seq` it saw.
 */
export async function* watchRun(
  options: WatchOptions,
  runId: string,
  afterSeq: number,
  signal: AbortSignal,
  whileDown: boolean,
): AsyncGenerator<RunStepView> {
  const { read, clock, changes } = options;
  let seen = afterSeq;
  let shown = "";
  let loggedAt: number | null = null;
  let wake = Promise.withResolvers<void>();
  const unsubscribe = changes.subscribe((id) => {
    if (id === runId) wake.resolve();
  });
  try {
    while (!signal.aborted) {
      wake = Promise.withResolvers<void>();
      // Read before the steps: once the run has ended, they are complete.
      const run = await findRun(read, runId);
      if (run === null) return;
      const steps = await stepsAfter(read, runId, seen, pageSize);
      for (const step of steps) {
        seen = step.seq;
        yield stepView(step);
      }
      if (steps.length === pageSize) continue;
      // Leased after its end: its target is being started or its backups removed.
      const isOwing = run.lease_owner !== null || (whileDown && run.outage_due_at !== null);
      if (!isActiveState(run.state) && !isOwing) return;
      const progress = JSON.stringify(run.progress);
      if (run.progress !== null && progress !== shown) {
        shown = progress;
        const step = typeof run.progress.step === "string" ? run.progress.step : "pull";
        yield { seq: seen, step, phase: "progress", facts: run.progress, at: clock.now() };
      }
      const logged = await lastLogAt(read, runId);
      if (logged !== loggedAt) {
        loggedAt = logged;
        yield { seq: seen, step: "logs", phase: "progress", facts: {}, at: clock.now() };
      }
      await pause(clock, wake.promise, signal);
    }
  } finally {
    unsubscribe();
  }
}

/** Waits until the run changes, a second has passed or the reader is gone. */
async function pause(clock: Clock, woken: Promise<void>, signal: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const ended = AbortSignal.any([timer.signal, signal]);
  const slept = clock.sleep(pollMs, ended).catch((error: unknown) => {
    if (!ended.aborted) throw error;
  });
  await Promise.race([woken, slept]);
  timer.abort();
}
