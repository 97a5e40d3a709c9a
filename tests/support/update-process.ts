// A process that updates one container, or rolls it back, and can be told to die by `kill -9` at any write of its journal. Its one
// argument is JSON: see `Arguments`.

import { appendFileSync, readFileSync } from "node:fs";
import * as v from "valibot";
import { systemClock } from "../../src/clock.ts";
import type { Journal, JournalEntry } from "../../src/runtimes/journal.ts";
import { type MemoryJournal, memoryJournal } from "./memory-journal.ts";
import { apply } from "./prepared.ts";
import { changeTo, openSession, restore, target } from "./update-target.ts";

const Arguments = v.object({
  address: v.string(),
  kind: v.picklist(["docker", "podman"]),
  name: v.string(),
  image: v.string(),
  /** Rolls back to this instead of updating to the image. */
  snapshot: v.nullable(v.string()),
  /** A file with one JSON entry per line. */
  journal: v.string(),
  run_id: v.string(),
  /** The write (from 1) at which it dies; 0 for never. */
  die_at: v.number(),
  die_when: v.picklist(["before", "after"]),
  /** `finish` after the update, or `undo` as after a failed health check. */
  ending: v.picklist(["finish", "undo"]),
});
export type UpdateArguments = v.InferOutput<typeof Arguments>;

/** The journal of a dead process, as its successor reads it. */
export function readJournal(file: string, runId: string): MemoryJournal {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return memoryJournal(
    runId,
    lines.map((line): JournalEntry => JSON.parse(line)),
  );
}

export function fileJournal(options: Pick<UpdateArguments, "journal" | "run_id" | "die_at" | "die_when">): Journal {
  const entries: JournalEntry[] = [];
  const write = async (step: string, phase: JournalEntry["phase"], facts: Readonly<Record<string, unknown>> = {}) => {
    const isLast = entries.length + 1 === options.die_at;
    if (isLast && options.die_when === "before") process.kill(process.pid, "SIGKILL");
    const entry = { step, phase, facts, at: systemClock.now() };
    appendFileSync(options.journal, `${JSON.stringify(entry)}\n`);
    entries.push(entry);
    if (isLast) process.kill(process.pid, "SIGKILL");
  };
  return {
    run_id: options.run_id,
    entries: () => entries,
    begin: (step, facts) => write(step, "begin", facts),
    finish: (step, facts) => write(step, "finish", facts),
    fail: (step, facts) => write(step, "fail", facts),
    progress: () => undefined,
  };
}

async function update(options: UpdateArguments): Promise<void> {
  const journal = fileJournal(options);
  await using session = await openSession(options.address, { kind: options.kind });
  const ref = target(options.name);
  if (options.snapshot === null) {
    await apply(session, await session.plan(ref, [changeTo(options.image)]), journal);
  } else await restore(session, ref, options.snapshot, journal);
  if (options.ending === "undo") {
    await session.undo(ref, journal, null);
    return;
  }
  await journal.begin("commit");
  await journal.finish("commit");
  await session.finish(ref, journal);
}

if (import.meta.main) await update(v.parse(Arguments, JSON.parse(process.argv[2] ?? "")));
