import type { Clock } from "../clock.ts";
import type { Database, Writer } from "../db/client.ts";
import { errorMessage } from "../errors.ts";
import { leaseMs } from "../held-lease.ts";
import type { Log } from "../log.ts";
import { isMessage, toldAs, withTexts } from "../messages/message.ts";
import type { Journal, JournalEntry, PullProgress, StepProgress } from "../runtimes/journal.ts";
import type { RunChanges } from "./changes.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { appendStep, renewLease, stepsAfter, updateHeldRun } from "./queries.ts";

type Facts = Readonly<Record<string, unknown>>;

/** More entries than any run writes; only a loop would reach it. */
const maxEntries = 5_000;
/** How often progress is stored for readers in other processes. */
const progressIntervalMs = 500;

export interface RunJournal extends Journal {
  /** Adds a step of the run itself, such as a probe or the reason for a failure. */
  note(step: string, phase: JournalEntry["phase"], facts?: Facts): Promise<void>;
  /** Rereads the entries after `advance` has added some. */
  reload(): Promise<void>;
  /**
   * From here on, a database that cannot be written does not prevent the restore: entries are kept in memory for as long as the lease is
   * certain to be held.
   */
  tolerateStorageFaults(): void;
}

interface JournalOptions {
  db: Database;
  clock: Clock;
  log: Log;
  lease: Lease;
  changes: RunChanges;
  /** Removes secrets from an engine's texts. */
  redact: (text: string) => string;
}

/**
 * Facts as they may be stored: messages, and their text from `toldAs`, without secrets; the rest unchanged, because decisions compare it.
 */
function redactFacts(facts: Facts, redact: (text: string) => string): Facts {
  const redacted = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (isMessage(value)) return withTexts(value, redact);
    return Array.isArray(value) ? value.map(redacted) : redactFacts({ ...value }, redact);
  };
  const isTold = (key: string) => isMessage(facts[`${key}_data`]);
  const entries = Object.entries(facts);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === "string" && isTold(key) ? redact(value) : redacted(value)]),
  );
}

/** Renews the lease in the transaction of a write; throws `LeaseLost` if another owner holds the run. */
export async function fence(tx: Writer, lease: Lease, now: number): Promise<void> {
  if (!(await renewLease(tx, lease.run_id, lease.owner, now + leaseMs))) throw new LeaseLost(lease.run_id);
}

/** A run's journal: each write is durable and fenced by the lease. */
export async function openJournal(options: JournalOptions): Promise<RunJournal> {
  const { db, clock, log, lease, changes, redact } = options;
  const runId = lease.run_id;
  let entries: JournalEntry[] = [];
  let isTolerant = false;
  let progressStoredAt = Number.NEGATIVE_INFINITY;

  const reload = async () => {
    const rows = await stepsAfter(db.read, runId, 0, maxEntries);
    entries = rows.map(({ step, phase, facts, at }) => ({ step, phase, facts, at }));
  };
  await reload();

  const write = async (step: string, phase: JournalEntry["phase"], facts: Facts = {}): Promise<void> => {
    lease.signal.throwIfAborted();
    if (entries.length >= maxEntries) throw new Error(`The run "${runId}" has written ${maxEntries} steps`);
    const at = clock.now();
    const entry: JournalEntry = { step, phase, facts: redactFacts(facts, redact), at };
    try {
      await db.write(async (tx) => {
        await fence(tx, lease, at);
        await appendStep(tx, { run_id: runId, ...entry });
      });
      lease.renewed();
    } catch (error) {
      if (error instanceof LeaseLost) throw lease.lost();
      if (!isTolerant || clock.elapsed() - lease.renewedAt() >= leaseMs) throw error;
      log.error("Journal of a run could not be stored", { run: runId, step, phase, error: errorMessage(error) });
    }
    entries.push(entry);
    changes.announce(runId);
  };

  const storeProgress = async (progress: PullProgress | StepProgress): Promise<void> => {
    const told = "step" in progress ? toldAs("detail", progress.detail) : {};
    const stored = redactFacts({ ...progress, ...told }, redact);
    try {
      await db.write((tx) => updateHeldRun(tx, runId, lease.owner, { progress: stored }));
      changes.announce(runId);
    } catch (error) {
      log.debug("Progress of a run could not be stored", { run: runId, error: errorMessage(error) });
    }
  };

  return {
    run_id: runId,
    entries: () => entries,
    begin: (step, facts) => write(step, "begin", facts),
    finish: (step, facts) => write(step, "finish", facts),
    fail: (step, facts) => write(step, "fail", facts),
    note: write,
    progress: (progress) => {
      const now = clock.elapsed();
      const isLast =
        "step" in progress
          ? progress.done === progress.total
          : progress.layers_total > 0 && progress.layers_done === progress.layers_total;
      if (lease.signal.aborted || (!isLast && now - progressStoredAt < progressIntervalMs)) return;
      progressStoredAt = now;
      void storeProgress(progress);
    },
    reload,
    tolerateStorageFaults: () => {
      isTolerant = true;
    },
  };
}

/** The last entry of a step and phase; null if there is none. */
export function lastEntry(
  journal: Pick<Journal, "entries">,
  step: string,
  phase: JournalEntry["phase"],
): JournalEntry | null {
  return journal.entries().findLast((entry) => entry.step === step && entry.phase === phase) ?? null;
}

export function firstEntry(
  journal: Pick<Journal, "entries">,
  step: string,
  phase: JournalEntry["phase"],
): JournalEntry | null {
  return journal.entries().find((entry) => entry.step === step && entry.phase === phase) ?? null;
}
