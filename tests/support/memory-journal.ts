import type { Journal, JournalEntry } from "../../src/runtimes/journal.ts";

type Progress = Parameters<Journal["progress"]>[0];

/** What a dead process leaves behind is its journal; whoever awaits this error has died. */
export class ProcessDeath extends Error {
  constructor(at: string) {
    super(`The process died at ${at}`);
    this.name = "ProcessDeath";
  }
}

export interface MemoryJournal extends Journal {
  /** `create begin`, `create finish`, …: what was written, in order. */
  written(): readonly string[];
  progressed: Progress[];
  /** The same durable entries as the next process reads them. */
  reopened(): MemoryJournal;
  /** Dies at the nth write (from 1): before it is durable, or right after. */
  dieAt(write: number, when: "before" | "after"): void;
  /** Runs right after the nth write (from 1) is durable, before the writer goes on. */
  afterWrite(write: number, act: () => Promise<void>): void;
}

/** A durable journal in memory, which can take its process down with it at any write. */
export function memoryJournal(runId: string = crypto.randomUUID(), entries: JournalEntry[] = []): MemoryJournal {
  let writes = 0;
  let death: { write: number; when: "before" | "after" } | null = null;
  let hook: { write: number; act: () => Promise<void> } | null = null;
  const progressed: Progress[] = [];
  const append = async (step: string, phase: JournalEntry["phase"], facts: Readonly<Record<string, unknown>> = {}) => {
    writes += 1;
    const at = `write ${writes} (${step} ${phase})`;
    if (death !== null && (writes > death.write || (writes === death.write && death.when === "before"))) {
      throw new ProcessDeath(at);
    }
    // As the database would: by value, and only what JSON can carry.
    entries.push({ step, phase, facts: JSON.parse(JSON.stringify(facts)), at: entries.length });
    if (hook !== null && writes === hook.write) await hook.act();
    if (death !== null && writes === death.write) throw new ProcessDeath(at);
  };
  return {
    run_id: runId,
    entries: () => entries,
    begin: (step, facts) => append(step, "begin", facts),
    finish: (step, facts) => append(step, "finish", facts),
    fail: (step, facts) => append(step, "fail", facts),
    progress: (progress) => {
      progressed.push(progress);
    },
    written: () => entries.map((entry) => `${entry.step} ${entry.phase}`),
    progressed,
    reopened: () => memoryJournal(runId, [...entries]),
    dieAt: (write, when) => {
      death = { write, when };
    },
    afterWrite: (write, act) => {
      hook = { write, act };
    },
  };
}
