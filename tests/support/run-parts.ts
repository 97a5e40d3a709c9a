import { asc, eq } from "drizzle-orm";
import { connectionService } from "../../src/connections/service.ts";
import type { Database } from "../../src/db/client.ts";
import { events, run_steps, runs, tracker_channels, tracker_sources, trackers } from "../../src/db/tables.ts";
import { executorEvaluator } from "../../src/executors/evaluate.ts";
import type { TrackerReleases } from "../../src/executors/releases.ts";
import { executorService } from "../../src/executors/service.ts";
import { newId } from "../../src/ids.ts";
import { logService } from "../../src/logs/service.ts";
import type { Guard } from "../../src/net/guarded-fetch.ts";
import { outageNotices } from "../../src/notifications/outages.ts";
import type { RecordEvent } from "../../src/notifications/schema.ts";
import { probes } from "../../src/probes/index.ts";
import type { OpenProbe } from "../../src/probes/probe.ts";
import { runService } from "../../src/runs/service.ts";
import { snapshotService } from "../../src/runs/snapshots.ts";
import type { SourceKind } from "../../src/sources/source.ts";
import type { Ground } from "./ground.ts";

type ConnectionOptions = Parameters<typeof connectionService>[0];
type ExecutorOptions = Parameters<typeof executorService>[0];

interface RunPartsOptions extends Pick<ConnectionOptions, "runtimes" | "self"> {
  instance_id: string;
  /** What trackers offer. */
  releases: TrackerReleases;
  /** Passed before and after each write. */
  gate?: (() => Promise<void>) | undefined;
  openLogin?: ExecutorOptions["openLogin"];
  judgeDestination?: ExecutorOptions["judgeDestination"];
  timezone?: () => string;
  snapshotLimit?: () => number;
  redact?: (text: string) => string;
  /** What answers the probes of http and tcp checks, which have no network. */
  probe?: OpenProbe;
  /** What judges their destinations and reaches them; without it they have no network. */
  guard?: Guard | undefined;
}

export type RunParts = ReturnType<typeof runParts>;
export type RunRow = typeof runs.$inferSelect;

const refused = (reason: string) => () => Promise.reject(new Error(reason));

/** As the product's services do. */
const judgeBy =
  (guard: Guard): NonNullable<ExecutorOptions["judgeDestination"]> =>
  (destination) => {
    if (destination.purpose === "tcp") return guard.judgeConnect(destination.host, destination.port);
    const judgement = guard.judge(destination.url, destination.purpose);
    return judgement.ok ? null : judgement.reason;
  };

/** What updates targets, as the product composes it; a further call is a further process on the same ground. */
export function runParts(ground: Ground, options: RunPartsOptions) {
  const { clock, log, sealer, audit, counted, credentials } = ground;
  const { instance_id, gate = async () => undefined, timezone = () => "UTC", guard } = options;
  const db: Database = {
    ...ground.db,
    write: async (work) => {
      await gate();
      const result = await ground.db.write(work);
      await gate();
      return result;
    },
  };
  const recordEvent: RecordEvent = async (tx, event) => {
    const { kind, facts } = event;
    const executor_id = "executor_id" in event ? event.executor_id : null;
    const run_id = "run_id" in event ? event.run_id : null;
    const at = clock.now();
    await tx.insert(events).values({ id: newId(at), kind, executor_id, run_id, facts: { ...facts }, created_at: at });
  };
  const connections = connectionService({
    ...{ db, clock, log, audit, credentials, instance_id, runtimes: options.runtimes, self: options.self },
    outages: outageNotices({ clock, counted, recordEvent }),
    judgeHost: () => null,
    openFetch: () => () => Promise.reject(new Error("Nothing is fetched here")),
  });
  const executors = executorService({
    ...{ db, clock, counted, audit, connections, timezone, releases: options.releases },
    openLogin: options.openLogin ?? refused("The registry wants no login"),
    judgeDestination: options.judgeDestination ?? (guard === undefined ? () => null : judgeBy(guard)),
  });
  const runs = runService({
    ...{ db, clock, counted, log, sealer, audit, instance_id, connections, executors },
    redact: options.redact ?? ((text) => text),
    openSecrets: credentials.openAll,
    recordEvent,
    snapshotLimit: async () => options.snapshotLimit?.() ?? 10,
    openProbe: (kind, config, context) =>
      kind !== "native" && options.probe !== undefined
        ? options.probe
        : probes[kind].open(config, {
            ...context,
            ...(guard === undefined
              ? { clock, fetch: refused("No network") }
              : guard.open({ purpose: "probe", timeout_ms: 10_000, signal: context.signal })),
            connect: guard?.connect ?? refused("No network"),
          }),
  });
  const evaluator = executorEvaluator({
    ...{ db, clock, counted, log, instance_id, connections, timezone },
    createRun: runs.createAutomatic,
    compare: executors.compare,
    planUpdate: executors.planUpdate,
    reviewWaiting: runs.reviewWaiting,
    withdrawWaiting: runs.withdrawWaiting,
  });
  const snapshots = snapshotService({ db, clock, sealer, audit, connections, executors });
  const logs = logService({
    ...{ db, clock, audit, connections, executors },
    redact: options.redact ?? ((text) => text),
    openSecrets: credentials.openAll,
  });
  return { credentials, connections, executors, runs, evaluator, snapshots, logs };
}

/** What is stored of runs. */
export function storedRuns({ read }: Database) {
  return {
    run: async (id: string): Promise<RunRow> => {
      const [row] = await read.select().from(runs).where(eq(runs.id, id));
      if (row === undefined) throw new Error(`There is no run ${id}`);
      return row;
    },
    runsOf: async (executor: string): Promise<RunRow[]> =>
      await read.select().from(runs).where(eq(runs.executor_id, executor)).orderBy(asc(runs.id)),
    events: async () => await read.select().from(events).orderBy(asc(events.id)),
    /** `step phase` of each step. */
    steps: async (run: string): Promise<string[]> => {
      const rows = await read.select().from(run_steps).where(eq(run_steps.run_id, run)).orderBy(asc(run_steps.seq));
      return rows.map((row) => `${row.step} ${row.phase}`);
    },
  };
}

/** A tracker with one source, `main`, and one channel, `stable`, straight into the tables; `source` is the source's id. */
export async function storeTracker(
  db: Database,
  names: { name: string; source: string; kind?: SourceKind },
  now: number,
): Promise<void> {
  const tracker_id = `tracker-${names.source}`;
  await db.write(async (tx) => {
    await tx.insert(trackers).values({
      ...{ id: tracker_id, name: names.name, created_at: now, updated_at: now, sorting: "publish_time" },
      ...{ check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 },
    });
    await tx.insert(tracker_sources).values({
      ...{ id: names.source, tracker_id, key: "main", position: 0, config: {}, next_check_at: now },
      kind: names.kind ?? "oci",
    });
    const channel = { id: `channel-${names.source}`, name: "stable", type: "stable", position: 0 } as const;
    await tx.insert(tracker_channels).values({ ...channel, source_id: names.source });
  });
}
