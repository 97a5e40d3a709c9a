// A process that performs one run on a real engine and dies by `kill -9` at a chosen write to the database. Its one argument is
// JSON: see `Arguments`.
import * as v from "valibot";
import { auditRecorder } from "../../src/auth/audit.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { connectionService } from "../../src/connections/service.ts";
import { countedTime } from "../../src/counted-time.ts";
import { credentialService } from "../../src/credentials/service.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { events } from "../../src/db/tables.ts";
import { executorEvaluator } from "../../src/executors/evaluate.ts";
import type { TrackerReleases } from "../../src/executors/releases.ts";
import { executorService } from "../../src/executors/service.ts";
import { newId } from "../../src/ids.ts";
import { createLog } from "../../src/log.ts";
import { probes } from "../../src/probes/index.ts";
import { runService } from "../../src/runs/service.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import { createSealer } from "../../src/secrets/sealed.ts";

const Desired = v.object({ image: v.string(), tag: v.string(), digest: v.string() });

const Arguments = v.object({
  database_url: v.string(),
  key: v.string(),
  run_id: v.string(),
  desired: Desired,
  /** The point (from 1) at which it dies: before its first write, after it, before the second, …; 0 for nowhere. */
  die_at: v.number(),
  /** Milliseconds that its clock is ahead of the system's. */
  ahead_ms: v.optional(v.number(), 0),
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
}

/** The services that a run needs, all real but the tracker. */
export function openRunParts(options: PartsOptions) {
  const { desired, gate } = options;
  const clock = options.clock ?? systemClock;
  const desiredOf = (sourceId: string) => (typeof desired === "function" ? desired(sourceId) : desired);
  const db: Database = {
    ...options.db,
    write: async (work) => {
      await gate();
      const result = await options.db.write(work);
      await gate();
      return result;
    },
  };
  const audit = auditRecorder({ clock });
  const sealer = createSealer({ keys: { primary: options.key }, clock, onOpen: () => undefined });
  const credentials = credentialService({ db, clock, sealer, audit });
  const self = { hostname: "somewhere-else", data_dir: "/nowhere/tidemark" };
  const connections = connectionService({
    ...{ db, clock, audit, credentials, runtimes, self },
    judgeDestination: () => null,
  });
  const releases: TrackerReleases = {
    desiredRelease: async (sourceId) => {
      const { tag, digest } = desiredOf(sourceId);
      return { release: { version: tag, tag, digest, published_at: null }, ready_at: null };
    },
    imageFor: async (sourceId) => desiredOf(sourceId).image,
    readImageConfig: async () => null,
    sourceAt: async () => null,
    findDigest: async () => null,
  };
  const log = createLog({ level: "error", format: "text", clock, redact: (text) => text });
  const executors = executorService({
    db,
    clock,
    audit,
    connections,
    releases,
    openLogin: () => Promise.reject(new Error("The registry wants no login")),
    timezone: () => "UTC",
    judgeDestination: () => null,
  });
  const runs = runService({
    db,
    clock,
    counted: countedTime(clock, null),
    log,
    sealer,
    audit,
    instance_id: options.instance_id,
    redact: (text) => text,
    connections,
    executors,
    recordEvent: async (tx, event) => {
      if (!("executor_id" in event)) throw new Error("Only runs record events here");
      const { kind, executor_id, facts } = event;
      const run_id = "run_id" in event ? event.run_id : null;
      const at = clock.now();
      await tx.insert(events).values({ id: newId(at), kind, executor_id, run_id, facts: { ...facts }, created_at: at });
    },
    snapshotLimit: async () => 10,
    openProbe: (kind, config, context) =>
      probes[kind].open(config, {
        ...context,
        clock,
        fetch: () => Promise.reject(new Error("Not asked here")),
        connect: () => Promise.reject(new Error("Not asked here")),
      }),
  });
  const evaluator = executorEvaluator({
    db,
    clock,
    log,
    instance_id: options.instance_id,
    connections,
    timezone: () => "UTC",
    createRun: runs.createAutomatic,
    compare: executors.compare,
    planUpdate: executors.planUpdate,
    reviewWaiting: runs.reviewWaiting,
  });
  return { connections, executors, runs, evaluator };
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
