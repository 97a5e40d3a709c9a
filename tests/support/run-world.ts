import { asc, eq } from "drizzle-orm";
import { auditRecorder } from "../../src/auth/audit.ts";
import { systemActor } from "../../src/auth/schema.ts";
import { connectionService } from "../../src/connections/service.ts";
import { countedTime } from "../../src/counted-time.ts";
import { credentialService } from "../../src/credentials/service.ts";
import type { Database } from "../../src/db/client.ts";
import {
  events,
  executors,
  run_steps,
  runs,
  tracker_channels,
  tracker_sources,
  trackers,
} from "../../src/db/tables.ts";
import { executorEvaluator } from "../../src/executors/evaluate.ts";
import type { ReleaseChoice } from "../../src/executors/releases.ts";
import { executorService } from "../../src/executors/service.ts";
import { newId } from "../../src/ids.ts";
import { createLog } from "../../src/log.ts";
import { plain, say } from "../../src/messages/message.ts";
import type { RecordEvent } from "../../src/notifications/schema.ts";
import { probes } from "../../src/probes/index.ts";
import type { OpenProbe } from "../../src/probes/probe.ts";
import { runService } from "../../src/runs/service.ts";
import { snapshotService } from "../../src/runs/snapshots.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { FakeEngine, fakeRuntimes } from "./fake-runtime.ts";
import { temporaryDatabase } from "./temporary-database.ts";

/** One digest per letter: `digest("a")`. */
export const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

export interface Instance {
  executors: ReturnType<typeof executorService>;
  evaluator: ReturnType<typeof executorEvaluator>;
  runs: ReturnType<typeof runService>;
  snapshots: ReturnType<typeof snapshotService>;
  connections: ReturnType<typeof connectionService>;
}

export interface World {
  clock: FakeClock;
  db: Database;
  engine: FakeEngine;
  /** What the tracker's channel offers; tests change it as upstream would. */
  upstream: {
    choice: ReleaseChoice;
    image: string | null;
    configs: Record<string, unknown>;
    /** What the registries of images that run have: digests by `image:tag`; a fault in place of a digest is thrown. */
    tags: Record<string, string | Error>;
  };
  settings: { timezone: string; snapshots: number };
  logs: string[];
  connectionId: string;
  sourceId: string;
  /** The instance that most tests use. */
  main: Instance;
  credentials: ReturnType<typeof credentialService>;
  /** What answers the probes of http and tcp checks. */
  probe: { attempt: OpenProbe["attempt"] };
  /** A further process on the same database and engine; `gate` stands before and after each of its writes. */
  instance(options?: { id?: string; gate?: () => Promise<void>; engine?: FakeEngine }): Instance;
  addExecutor(changes?: Record<string, unknown>): Promise<string>;
  /** Evaluates and performs everything that is due in one instance, as one tick would. */
  tick(instance?: Instance): Promise<void>;
  run(id: string): Promise<typeof runs.$inferSelect>;
  runsOf(executorId: string): Promise<(typeof runs.$inferSelect)[]>;
  events(): Promise<(typeof events.$inferSelect)[]>;
  /** `step phase` of each step. */
  steps(runId: string): Promise<string[]>;
  /** Queues a manual run and performs it to its end. */
  update(executorId: string, input?: unknown): Promise<typeof runs.$inferSelect>;
  close(): Promise<void>;
}

const live = new AbortController().signal;

/** Executors and runs on a temporary database, a fake engine that runs `web` on `registry.test/app:1.0`, and a tracker that offers 1.1. */
export async function createWorld(): Promise<World> {
  const temporary = await temporaryDatabase();
  const { db } = temporary;
  const clock = createFakeClock();
  const engine = new FakeEngine();
  engine.add("web", "registry.test/app:1.0", digest("a"));
  const logs: string[] = [];
  const log = createLog({
    level: "debug",
    format: "text",
    clock,
    redact: (text) => text,
    write: (line) => logs.push(line),
  });
  const audit = auditRecorder({ clock });
  const sealer = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen: () => undefined });
  const credentials = credentialService({ db, clock, sealer, audit });
  const settings = { timezone: "UTC", snapshots: 10 };
  const upstream: World["upstream"] = {
    choice: { release: release("1.1", "b"), ready_at: null },
    image: "registry.test/app",
    configs: {},
    tags: {},
  };
  const probe: World["probe"] = { attempt: async () => ({ ready: true, detail: plain("Answered") }) };
  const recordEvent: RecordEvent = async (tx, event) => {
    if (!("executor_id" in event)) throw new Error("Only runs record events here");
    const { kind, executor_id, facts } = event;
    const run_id = "run_id" in event ? event.run_id : null;
    const at = clock.now();
    await tx.insert(events).values({ id: newId(at), kind, executor_id, run_id, facts: { ...facts }, created_at: at });
  };

  const instance: World["instance"] = (options = {}) => {
    const gate = options.gate ?? (async () => undefined);
    const gated: Database = {
      ...db,
      write: async (work) => {
        await gate();
        const result = await db.write(work);
        await gate();
        return result;
      },
    };
    const releases = {
      desiredRelease: async () => upstream.choice,
      imageFor: async () => upstream.image,
      readImageConfig: async () => upstream.configs,
      sourceAt: async () => null,
      findDigest: async (image: string, tag: string) => {
        const found = upstream.tags[`${image}:${tag}`] ?? null;
        if (found instanceof Error) throw found;
        return found;
      },
    };
    const connections = connectionService({
      db: gated,
      clock,
      audit,
      credentials,
      runtimes: fakeRuntimes(options.engine ?? engine),
      judgeDestination: () => null,
      self: { hostname: "me", data_dir: temporary.dir },
    });
    const executorsHere = executorService({
      db: gated,
      clock,
      audit,
      connections,
      releases,
      openLogin: async (id) => {
        const secret = await credentials.openSecret("oci", id);
        if (typeof secret !== "object" || secret === null) throw new Error("No login");
        return { username: "", password: "", ...secret };
      },
      timezone: () => settings.timezone,
      judgeDestination: (destination) =>
        JSON.stringify(destination).includes("blocked.test") ? say("net.destination_blocked") : null,
    });
    const id = options.id ?? `instance-${newId(clock.now()).slice(-6)}`;
    const runsHere = runService({
      db: gated,
      clock,
      counted: countedTime(clock, null),
      log,
      sealer,
      audit,
      instance_id: id,
      redact: (text) => text.replaceAll("hunter2-token", "[redacted]"),
      connections,
      executors: executorsHere,
      recordEvent,
      snapshotLimit: async () => settings.snapshots,
      openProbe: (kind, config, context) =>
        kind === "native"
          ? probes.native.open(config, {
              ...context,
              clock,
              fetch: () => Promise.reject(new Error("No network")),
              connect: () => Promise.reject(new Error("No network")),
            })
          : probe,
    });
    const evaluator = executorEvaluator({
      db: gated,
      clock,
      log,
      instance_id: id,
      connections,
      timezone: () => settings.timezone,
      createRun: runsHere.createAutomatic,
      compare: executorsHere.compare,
      planUpdate: executorsHere.planUpdate,
      reviewWaiting: runsHere.reviewWaiting,
    });
    return {
      executors: executorsHere,
      evaluator,
      runs: runsHere,
      snapshots: snapshotService({ db: gated, clock, sealer, audit, connections, executors: executorsHere }),
      connections,
    };
  };

  const main = instance({ id: "main" });
  const { id: connectionId } = await main.connections.create(systemActor, {
    name: "Home",
    kind: "docker",
    config: { address: "fake://home" },
  });
  const sourceId = await addTracker(db, clock.now());

  const world: World = {
    clock,
    db,
    engine,
    upstream,
    settings,
    logs,
    connectionId,
    sourceId,
    main,
    credentials,
    probe,
    instance,
    addExecutor: async (changes = {}) => {
      const created = await main.executors.create(systemActor, {
        name: "web",
        connection_id: connectionId,
        target: { kind: "container", id: "web" },
        bindings: [{ tracker: "app", source: "main", channel: "stable" }],
        trigger: "manual",
        ...changes,
      });
      return created.id;
    },
    tick: async (at = main) => {
      for (const item of await at.evaluator.due(clock.now(), 100)) {
        await clock.runUntil(at.evaluator.perform(item, live));
      }
      for (const item of await at.runs.work.due(clock.now(), 100)) {
        await clock.runUntil(at.runs.work.perform(item, live));
      }
    },
    run: async (id) => {
      const [row] = await db.read.select().from(runs).where(eq(runs.id, id));
      if (row === undefined) throw new Error(`There is no run ${id}`);
      return row;
    },
    runsOf: async (id) => await db.read.select().from(runs).where(eq(runs.executor_id, id)).orderBy(asc(runs.id)),
    events: async () => await db.read.select().from(events).orderBy(asc(events.id)),
    steps: async (id) => {
      const rows = await db.read.select().from(run_steps).where(eq(run_steps.run_id, id)).orderBy(asc(run_steps.seq));
      return rows.map((row) => `${row.step} ${row.phase}`);
    },
    update: async (executorId, input) => {
      const { id } = await main.runs.create(systemActor, executorId, input ?? {});
      await clock.runUntil(main.runs.work.perform({ id }, live));
      return await world.run(id);
    },
    close: temporary.close,
  };
  return world;
}

export function release(tag: string, letter: string) {
  return { version: tag, tag, digest: digest(letter), published_at: null };
}

async function addTracker(db: Database, now: number): Promise<string> {
  await db.write(async (tx) => {
    await tx.insert(trackers).values({
      id: "tracker",
      name: "app",
      check_interval_minutes: 360,
      fetch_depth: 10,
      request_timeout_seconds: 15,
      sorting: "publish_time",
      created_at: now,
      updated_at: now,
    });
    await tx.insert(tracker_sources).values({
      id: "source",
      tracker_id: "tracker",
      key: "main",
      position: 0,
      kind: "oci",
      config: {},
      next_check_at: now,
    });
    await tx
      .insert(tracker_channels)
      .values({ id: "channel", source_id: "source", name: "stable", type: "stable", position: 0 });
  });
  return "source";
}

/** Forgets what evaluations decided to wait for, as a check of the tracker would. */
export async function makeDue(world: World, executorId: string): Promise<void> {
  await world.db.write((tx) =>
    tx.update(executors).set({ next_evaluation_at: world.clock.now() }).where(eq(executors.id, executorId)),
  );
}
