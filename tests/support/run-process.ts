// A process that performs one run on a real engine and dies by `kill -9` at a chosen write to the database. Its one argument is
// JSON: see `Arguments`.
import * as v from "valibot";
import { type Clock, systemClock } from "../../src/clock.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import type { Guard } from "../../src/net/guarded-fetch.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import { groundOn } from "./ground.ts";
import { runParts } from "./run-parts.ts";

const Desired = v.object({
  image: v.string(),
  tag: v.string(),
  digest: v.string(),
  /** Of a chart: the path of its archive. */
  archive: v.optional(v.string()),
});

/** Of the machine that Tidemark runs on. */
const Machine = v.object({
  data_dir: v.string(),
  helm: v.object({ program: v.string(), search_path: v.string() }),
  service_account: v.exactOptional(v.object({ server: v.string(), folder: v.string() })),
});
export type Machine = v.InferOutput<typeof Machine>;
export const noMachine: Machine = { data_dir: "/nowhere/tidemark", helm: { program: "helm", search_path: "" } };

const Arguments = v.object({
  database_url: v.string(),
  key: v.string(),
  run_id: v.string(),
  desired: Desired,
  /** The point (from 1) at which it dies: before its first write, after it, before the second, …; 0 for nowhere. */
  die_at: v.number(),
  /** Milliseconds that its clock is ahead of the system's. */
  ahead_ms: v.optional(v.number(), 0),
  machine: v.optional(Machine, noMachine),
});
export type RunProcessArguments = v.InferInput<typeof Arguments>;

export type Desired = v.InferOutput<typeof Desired>;

/** The real time, and as much more as a test has let pass. */
export interface ShiftedClock extends Clock {
  ahead_ms(): number;
  pass(ms: number): void;
}

export function shiftedClock(aheadMs = 0): ShiftedClock {
  let ahead = aheadMs;
  return {
    now: () => systemClock.now() + ahead,
    elapsed: () => systemClock.elapsed() + ahead,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    ahead_ms: () => ahead,
    pass: (ms) => {
      ahead += ms;
    },
  };
}

interface PartsOptions {
  db: Database;
  key: string;
  instance_id: string;
  /** The same for every source, or by the source's id. */
  desired: Desired | ((sourceId: string) => Desired);
  /** The system's when left out. */
  clock?: Clock;
  /** Passed before and after each write. */
  gate: () => Promise<void>;
  machine?: Machine;
  /** See `runParts`. */
  guard?: Guard | undefined;
}

/** The services that a run needs, all real but the tracker. */
export function openRunParts(options: PartsOptions) {
  const { db, key, instance_id, desired, clock = systemClock, gate, machine = noMachine, guard } = options;
  const desiredOf = (sourceId: string) => (typeof desired === "function" ? desired(sourceId) : desired);
  const ground = groundOn(db, clock, { level: "error", write: (line) => console.log(line), keys: { primary: key } });
  return runParts(ground, {
    ...{ instance_id, gate, runtimes, guard },
    self: { hostname: "somewhere-else", ...machine },
    releases: {
      desiredRelease: async (sourceId) => {
        const { tag, digest } = desiredOf(sourceId);
        return { release: { version: tag, tag, digest, published_at: null }, ready_at: null };
      },
      knownVersions: async () => ({ versions: [], depth: 10, keep: 20 }),
      imageFor: async (sourceId) => desiredOf(sourceId).image,
      readImageConfig: async () => null,
      // `name-version.tgz`, as helm packs it.
      chartFor: async (sourceId) => /([^/]+)-\d[^/]*\.tgz$/.exec(desiredOf(sourceId).archive ?? "")?.[1] ?? null,
      readChart: async (sourceId) => await Bun.file(desiredOf(sourceId).archive ?? "").bytes(),
      sourceAt: async () => null,
      findDigest: async () => null,
    },
  });
}

async function perform(options: v.InferOutput<typeof Arguments>): Promise<void> {
  let points = 0;
  const db = await openDatabase({ url: options.database_url });
  const { runs } = openRunParts({
    ...options,
    db,
    clock: shiftedClock(options.ahead_ms),
    instance_id: "dying",
    gate: async () => {
      points += 1;
      if (points === options.die_at) process.kill(process.pid, "SIGKILL");
    },
  });
  await runs.work.perform({ id: options.run_id }, new AbortController().signal);
  await db.close();
}

if (import.meta.main) await perform(v.parse(Arguments, JSON.parse(process.argv[2] ?? "")));
