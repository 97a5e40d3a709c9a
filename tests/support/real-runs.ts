import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { events, snapshots } from "../../src/db/tables.ts";
import type { Guard } from "../../src/net/guarded-fetch.ts";
import type { Flavour } from "../../src/runtimes/engine/flavour.ts";
import type { TargetRef } from "../../src/runtimes/target.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { type RunParts, type RunRow, storedRuns, storeTracker } from "./run-parts.ts";
import {
  type Desired,
  type Machine,
  openRunParts,
  type RunProcessArguments,
  type ShiftedClock,
  shiftedClock,
} from "./run-process.ts";
import { temporaryDatabase } from "./temporary-database.ts";

export type Parts = RunParts;

/** The product's executors and runs on a temporary database and real engines; only upstream is made up. */
export interface RealRuns {
  clock: ShiftedClock;
  main: Parts;
  /** A further process on the same database. */
  instance(id: string): Parts;
  /** What the source of an executor offers from now on. */
  offer(executor: string, desired: Desired): void;
  connect(kind: Flavour["kind"], address: string): Promise<string>;
  /** The same for a cluster, with a login of its own. */
  connectCluster(config: Readonly<Record<string, unknown>>, secret: Readonly<Record<string, string>>): Promise<string>;
  /** The same for a Portainer. */
  connectPortainer(config: Readonly<Record<string, unknown>>, api_key: string): Promise<string>;
  /** Edits a connection, which leads there until the end of the scope: no two lead to one place. */
  detour(
    connection: string,
    config: Readonly<Record<string, unknown>>,
    secret: Readonly<Record<string, string>> | null,
  ): Promise<AsyncDisposable>;
  /** An executor whose services (`main` when left out) follow one source, and `others` one each; answers its id. */
  addExecutor(options: ExecutorOptions): Promise<string>;
  /** Queues a manual run and performs it to its end. */
  update(executor: string, input?: Readonly<Record<string, unknown>>): Promise<RunRow>;
  /** Performs a queued run in a process of its own, which a test may kill. */
  performElsewhere(run: string, desired: Desired): Bun.Subprocess;
  /** Evaluates and performs what is due in one process, as one tick would. */
  tick(parts?: Parts): Promise<void>;
  run(id: string): Promise<RunRow>;
  runsOf(executor: string): Promise<RunRow[]>;
  /** `kind` of the events of a run. */
  eventsOf(run: string): Promise<string[]>;
  /** `kind` of the events of an executor, the oldest first. */
  toldOf(executor: string): Promise<string[]>;
  /**
   * Works on a run in a process of its own that dies by `kill -9` at a point (see `run-process.ts`); `onStart` gets the means to
   * kill it earlier. Answers whether it was killed.
   */
  performAndDie(run: string, desired: Desired, point: number, onStart?: (kill: () => void) => void): Promise<boolean>;
  /** `step phase` of each step. */
  steps(run: string): Promise<string[]>;
  snapshotOf(run: string): Promise<string>;
  close(): Promise<void>;
}

interface ExecutorOptions {
  connection: string;
  target: TargetRef;
  services?: readonly string[];
  desired: Desired;
  /** Further services, by name. */
  others?: Readonly<Record<string, Desired>>;
  settings?: Readonly<Record<string, unknown>>;
}

const live = new AbortController().signal;
const runProcess = join(import.meta.dir, "run-process.ts");

/** Soon enough for a test, and far longer than any engine needs. */
export const quickCheck = {
  strategy: "native",
  initial_delay_seconds: 0,
  probe_interval_seconds: 1,
  total_probe_duration_seconds: 120,
} as const;

/** `guard`: what http and tcp checks reach; nothing when left out. */
export async function realRuns(machine?: Machine, guard?: Guard): Promise<RealRuns> {
  const temporary = await temporaryDatabase();
  const { db } = temporary;
  const clock = shiftedClock();
  const key = generateFernetKey();
  const desired = new Map<string, Desired>();
  let made = 0;
  const desiredOf = (sourceId: string): Desired => {
    const found = desired.get(sourceId);
    if (found === undefined) throw new Error(`There is no source ${sourceId}`);
    return found;
  };
  const instance = (instance_id: string) =>
    openRunParts({
      db,
      key,
      instance_id,
      desired: desiredOf,
      clock,
      gate: async () => undefined,
      guard,
      ...(machine === undefined ? {} : { machine }),
    });
  const main = instance("main");
  const sources = new Map<string, string>();

  const stored = storedRuns(db);
  const addCredential = async (kind: string, secret: Readonly<Record<string, string>>) => {
    made += 1;
    return (await main.credentials.create(systemActor, { name: `lab ${made}`, kind, secret })).id;
  };
  const connectWith = async (
    kind: string,
    config: Readonly<Record<string, unknown>>,
    secret: Readonly<Record<string, string>>,
  ) => {
    const credential_id = await addCredential(kind, secret);
    return (await main.connections.create(systemActor, { name: `lab ${made}`, kind, config, credential_id })).id;
  };

  /** Its name is its tracker's. */
  const addSource = async (first: Desired): Promise<string> => {
    made += 1;
    const source = `source-${made}`;
    desired.set(source, first);
    await storeTracker(db, { name: source, source, kind: first.archive === undefined ? "oci" : "helm" }, 1);
    return source;
  };

  const argumentsOf = (run_id: string, wanted: Desired, die_at: number): string => {
    const database_url = `file:${temporary.dir}/tidemark.db`;
    const options: RunProcessArguments = {
      database_url,
      key,
      run_id,
      desired: wanted,
      die_at,
      ahead_ms: clock.ahead_ms(),
      ...(machine === undefined ? {} : { machine }),
    };
    return JSON.stringify(options);
  };

  return {
    clock,
    main,
    instance,
    offer: (executor, next) => {
      desired.set(sources.get(executor) ?? "", next);
    },
    connect: async (kind, address) => {
      made += 1;
      const created = await main.connections.create(systemActor, { name: `lab ${made}`, kind, config: { address } });
      return created.id;
    },
    connectCluster: (config, secret) => connectWith("kubernetes", config, secret),
    connectPortainer: (config, api_key) => connectWith("portainer", config, { api_key }),
    detour: async (connection, config, secret) => {
      const { kind, config: own, credential_id } = await main.connections.get(connection);
      const defaults = Object.fromEntries(Object.keys(own).map((name) => [name, null]));
      const lead = (changes: object) => main.connections.update(systemActor, connection, changes);
      await lead({
        config: { ...defaults, ...config },
        credential_id: secret === null ? null : await addCredential(kind, secret),
      });
      return {
        [Symbol.asyncDispose]: async () => {
          await lead({ config: own, credential_id });
        },
      };
    },
    addExecutor: async ({ connection, target, services = ["main"], desired: first, others = {}, settings = {} }) => {
      const source = await addSource(first);
      const bound = (tracker: string) => (service: string) => ({ service, tracker, source: "main", channel: "stable" });
      const bindings = services.map(bound(source));
      for (const [service, its] of Object.entries(others)) bindings.push(bound(await addSource(its))(service));
      const { id } = await main.executors.create(systemActor, {
        name: `${target.id} ${made}`,
        connection_id: connection,
        target,
        bindings,
        trigger: "manual",
        health_check: { strategy: "disabled" },
        ...settings,
      });
      sources.set(id, source);
      return id;
    },
    update: async (executor, input = {}) => {
      const { id } = await main.runs.create(systemActor, executor, input);
      await main.runs.work.perform({ id }, live);
      return await stored.run(id);
    },
    performElsewhere: (run_id, desired) => {
      return Bun.spawn([process.execPath, runProcess, argumentsOf(run_id, desired, 0)], {
        stdout: "ignore",
        stderr: "inherit",
      });
    },
    tick: async (parts = main) => {
      for (const item of await parts.evaluator.due(clock.now(), 100)) await parts.evaluator.perform(item, live);
      for (const item of await parts.runs.work.due(clock.now(), 100)) await parts.runs.work.perform(item, live);
    },
    run: stored.run,
    runsOf: stored.runsOf,
    steps: stored.steps,
    eventsOf: async (run) =>
      (await db.read.select().from(events).where(eq(events.run_id, run))).map((event) => event.kind),
    toldOf: async (executor) =>
      (await db.read.select().from(events).where(eq(events.executor_id, executor)).orderBy(asc(events.created_at))).map(
        (event) => event.kind,
      ),
    performAndDie: async (run_id, wanted, die_at, onStart) => {
      const child = Bun.spawn([process.execPath, runProcess, argumentsOf(run_id, wanted, die_at)], {
        stdout: "ignore",
        stderr: "pipe",
      });
      onStart?.(() => child.kill("SIGKILL"));
      const stderr = await new Response(child.stderr).text();
      await child.exited;
      if (child.signalCode === "SIGKILL") return true;
      if (child.exitCode !== 0) throw new Error(`The process ended with ${child.exitCode}: ${stderr}`);
      return false;
    },
    snapshotOf: async (run) => {
      const [row] = await db.read.select().from(snapshots).where(eq(snapshots.run_id, run));
      if (row === undefined) throw new Error(`The run ${run} has no snapshot`);
      return row.id;
    },
    close: temporary.close,
  };
}
