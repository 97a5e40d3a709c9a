// A program of its own, because its files are faulty ones: restores a backup over copies of an installation, with a fault at each
// file operation in turn, and prints for each what was said and what the next start makes of it.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearLeftovers, completeRestore } from "../../src/backups/place-restored.ts";
import { type RestoreOptions, restore } from "../../src/backups/restore.ts";
import { AppError } from "../../src/errors.ts";
import { type Fault, failAt, faultCodes, operations } from "./faulty-files.ts";
import { contentOf } from "./installation-content.ts";

const [template = "", backup = "", codesEach = ""] = process.argv.slice(2);
// In memory where there is such a place: only what is written counts here, not how long a disk takes for it.
const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidemark-faults-"));
const before = await contentOf(template);
const after = await contentOf(backup);

function optionsFor(dir: string): RestoreOptions {
  return {
    source: backup,
    data_dir: dir,
    database_file: join(dir, "tidemark.db"),
    migrations_folder: join(import.meta.dir, "../../migrations"),
    ...{ keys_file: null, session_key: null, encryption_key: null, accepts_unreadable: false, now: 1_700_000_000_000 },
  };
}

function copyOf(dir: string): string {
  const copy = mkdtempSync(join(work, "case-"));
  cpSync(dir, copy, { recursive: true });
  return copy;
}

async function attempt(dir: string, at: number, fault: Fault): Promise<{ said: string; operation: string }> {
  failAt({ at, fault });
  const said = await restore(optionsFor(dir)).then(
    () => "restored",
    (error: unknown) => (error instanceof AppError ? `${error.code}: ${error.message}` : `raw: ${String(error)}`),
  );
  const operation = operations()[at - 1] ?? "";
  failAt(null);
  return { said, operation };
}

/** What the next start does with it. */
function start(dir: string): void {
  completeRestore(dir);
  clearLeftovers(dir, join(dir, "tidemark.db"));
}

/** What a start finds that is no part of an installation or of a backup. */
function leftIn(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true }).map(String);
  return names.filter(
    (name) => /restore|\.tmp|manual/.test(name) || (/-wal|-shm/.test(name) && name.includes("restore")),
  );
}

async function stateOf(dir: string): Promise<string> {
  const content = await contentOf(dir);
  return content === before ? "before" : content === after ? "after" : "neither";
}

interface Outcome {
  at: number;
  operation: string;
  fault: Fault;
  said: string;
  /** What is in place after the next start. */
  next: string;
  left: readonly string[];
}

async function outcomeOf(at: number, fault: Fault): Promise<Outcome> {
  const dir = copyOf(template);
  const { said, operation } = await attempt(dir, at, fault);
  start(dir);
  const outcome = { at, operation, fault, said, next: await stateOf(dir), left: leftIn(dir) };
  rmSync(dir, { recursive: true });
  return outcome;
}

/** Kills also the start that takes up what a kill left, at each of its operations. */
async function killedStarts(at: number): Promise<string[]> {
  const dir = copyOf(template);
  await attempt(dir, at, "dies");
  const states: string[] = [];
  for (let step = 1; ; step += 1) {
    const copy = copyOf(dir);
    failAt({ at: step, fault: "dies" });
    let hasEnded = true;
    try {
      start(copy);
    } catch {
      hasEnded = false;
    }
    failAt(null);
    start(copy);
    states.push(`${await stateOf(copy)} ${leftIn(copy).join(" ")}`.trim());
    rmSync(copy, { recursive: true });
    if (hasEnded) break;
  }
  rmSync(dir, { recursive: true });
  return states;
}

const whole = copyOf(template);
failAt(null);
await restore(optionsFor(whole));
const total = operations().length;
const outcomes: Outcome[] = [];
const starts: { at: number; states: string[] }[] = [];
for (let at = 1; at <= total; at += 1) {
  // A few codes at each operation, other ones at the next.
  const codes = faultCodes.filter(
    (_, index) => (index + at * Number(codesEach)) % faultCodes.length < Number(codesEach),
  );
  for (const fault of [...codes, "dies"] as const) outcomes.push(await outcomeOf(at, fault));
  const hasBegun = outcomes.at(-1)?.next === "after";
  if (hasBegun && at % Math.ceil(faultCodes.length / Number(codesEach)) === 0)
    starts.push({ at, states: await killedStarts(at) });
}
rmSync(work, { recursive: true, force: true });
console.log(JSON.stringify({ total, outcomes, starts }));
