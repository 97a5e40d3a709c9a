import type { JournalEntry } from "./journal.ts";

type Entries = readonly JournalEntry[];

export const lastOf = (entries: Entries, step: string, phase: JournalEntry["phase"]) =>
  entries.findLast((entry) => entry.step === step && entry.phase === phase) ?? null;
export const firstOf = (entries: Entries, step: string, phase: JournalEntry["phase"]) =>
  entries.find((entry) => entry.step === step && entry.phase === phase) ?? null;

export function containerOf(entry: JournalEntry): string | null {
  return typeof entry.facts.container === "string" ? entry.facts.container : null;
}

/** The containers that a journal names; a single null for a journal written before entries had names. */
function namesIn(entries: Entries): readonly (string | null)[] {
  const names = [...new Set(entries.map(containerOf))].filter((name) => name !== null);
  return names.length === 0 ? [null] : names;
}

/** The entries about one container. Entries without a container apply to all. */
export function entriesOf(entries: Entries, name: string | null): Entries {
  return entries.filter((entry) => {
    const own = containerOf(entry);
    return own === null || own === name;
  });
}

/** When the run stopped the first container; null when it stopped none. */
export function wentDownAt(entries: Entries): number | null {
  return firstStop(entries)?.at ?? null;
}

function firstStop(entries: Entries): JournalEntry | null {
  const isStop = ({ step, phase, facts }: JournalEntry) => {
    return step === "stop" && phase === "begin" && facts.is_skipped !== true;
  };
  return entries.find(isStop) ?? null;
}

/** From the stop of a container to the next start of anything under its name; null when it was not stopped or is still down. */
export function gapOf(own: Entries): number | null {
  const stopped = firstOf(own, "stop", "begin");
  if (stopped === null || stopped.facts.is_skipped === true) return null;
  const after = own.filter((entry) => entry.at >= stopped.at && entry.phase === "finish");
  const at = (step: string) => after.find((entry) => entry.step === step)?.at;
  // A new container that was undone may never have served, so the gap lasts until the previous one is back.
  const undone = at("undo");
  if (undone !== undefined) return undone - stopped.at;
  // The new one served before the previous one was stopped.
  if (stopped.facts.is_overlapped === true) return 0;
  const started = at("start");
  return started === undefined ? null : started - stopped.at;
}

export interface Downtime {
  /** The longest gap of any container: from its stop to the next start of anything; null when nothing was stopped. */
  downtime_ms: number | null;
  /** From the first stop to the first probe that passed; null when none did. */
  ready_ms: number | null;
}

/** Measured from the journal, so that it survives the process that measured it. */
export function downtimeOf(entries: Entries): Downtime {
  const gaps = namesIn(entries).flatMap((name) => gapOf(entriesOf(entries, name)) ?? []);
  const stopped = firstStop(entries);
  const verified = lastOf(entries, "verify", "finish")?.facts.ready_at;
  return {
    downtime_ms: gaps.length === 0 ? null : Math.max(...gaps),
    ready_ms: stopped !== null && typeof verified === "number" ? verified - stopped.at : null,
  };
}
