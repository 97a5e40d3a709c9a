import type { RecordAudit } from "../auth/audit-schema.ts";
import type { Clock } from "../clock.ts";
import type { ConnectionService } from "../connections/service.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Database, Reader, Writer } from "../db/client.ts";
import type { Serving, StoredOutage } from "../executors/outage-schema.ts";
import type { ExecutorService, ExecutorSettings } from "../executors/service.ts";
import type { Log } from "../log.ts";
import { inEnglish } from "../messages/message.ts";
import type { RecordEvent } from "../notifications/schema.ts";
import type { OpenProbe, ProbeKind } from "../probes/probe.ts";
import { downtimeOf } from "../runtimes/journal-times.ts";
import type { Readiness, RuntimeSession } from "../runtimes/session.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { advance, type Cleanup } from "./advance.ts";
import type { RunChanges } from "./changes.ts";
import type { RunJournal } from "./journal.ts";
import type { Lease } from "./lease.ts";
import { findRun, type RunRow } from "./queries.ts";
import type { Reason } from "./schema.ts";
import { snapshotContent } from "./snapshot-content.ts";
import { findSnapshotOfRun } from "./snapshot-queries.ts";
import type { ActiveState, EndState, NextState } from "./states.ts";
import { type StoredPlan, storedPlan } from "./stored-plan.ts";

export interface RunnerOptions {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  log: Log;
  sealer: Sealer;
  /** Owner of this process's leases; new at each start. */
  instance_id: string;
  redact: (text: string) => string;
  /** Decrypts every stored secret, so that `redact` knows it. */
  openSecrets: () => Promise<void>;
  connections: Pick<ConnectionService, "open" | "snapshotReader" | "targetKind">;
  executors: Pick<
    ExecutorService,
    "settings" | "planUpdate" | "owedParts" | "pullLogins" | "isWindowOpen" | "nextOpening" | "versionsAtEnd"
  >;
  audit: RecordAudit;
  recordEvent: RecordEvent;
  changes: RunChanges;
  /** How many snapshots to keep per executor. */
  snapshotLimit: (read: Reader) => Promise<number>;
  openProbe: (
    kind: ProbeKind,
    config: unknown,
    context: { readiness: () => Promise<Readiness>; signal: AbortSignal },
  ) => OpenProbe;
}

/** A claimed run in progress. */
export interface RunContext {
  deps: RunnerOptions;
  run: RunRow;
  settings: ExecutorSettings;
  lease: Lease;
  journal: RunJournal;
  session: RuntimeSession;
  /** The service is shutting down: nothing new starts, and work in progress stops at its next safe point. */
  shutdown: AbortSignal;
  /** Null until it is made. */
  plan: StoredPlan | null;
}

/** The decrypted snapshot that this run captured; null if it captured none, or it cannot be read: the target may not need it. */
export async function capturedBy({ deps, run }: Pick<RunContext, "deps" | "run">): Promise<string | null> {
  const row = await findSnapshotOfRun(deps.db.read, run.id);
  return row === null ? null : snapshotContent(deps.sealer, row).value;
}

/** Whether anything should run once the run has ended; without a known plan, yes. */
export function isToRun(plan: StoredPlan | null): boolean {
  return plan === null || plan.services.some((service) => service.to.is_running);
}

/** Whether the run starts a target that was not running. */
export function isStartedAgain(plan: StoredPlan | null): boolean {
  return plan !== null && isToRun(plan) && !plan.services.some((service) => service.from.is_running);
}

export interface EndFacts {
  reason?: Reason | null;
  serving?: Serving;
  columns?: Parameters<typeof advance>[5]["columns"];
  cleanup?: Cleanup | null;
  outage?: StoredOutage | null;
  /** Called in the transaction that ends the run. */
  also?: (tx: Writer) => Promise<void>;
}

export type Held = Pick<RunContext, "deps" | "run" | "lease" | "journal">;

/** Moves a run to its next active state. */
export async function moveOn<F extends ActiveState>(
  context: Held,
  from: F,
  to: Exclude<NextState<F>, EndState>,
  columns: EndFacts["columns"] = {},
  /** Called first in the same transaction; if it throws, the run stays where it is. */
  allow: (tx: Writer) => Promise<void> = async () => undefined,
): Promise<void> {
  const { deps, run, lease, journal } = context;
  await deps.db.write(async (tx) => {
    await allow(tx);
    await advance(deps, tx, run.id, from, to, { lease, columns: columns ?? {} });
  });
  run.state = to;
  deps.log.debug("Run changed state", { run: run.id, state: to });
  await journal.reload();
  deps.changes.announce(run.id);
}

/** Ends a run: state, step, event and downtime in one transaction. */
export async function endRun<F extends ActiveState>(
  context: Held,
  from: F,
  to: Extract<NextState<F>, EndState>,
  facts: EndFacts,
): Promise<void> {
  const { deps, run, lease, journal } = context;
  const { reason, serving, columns, cleanup = null, outage = null } = facts;
  const stored = await findRun(deps.db.read, run.id);
  const plan = storedPlan(stored?.plan, deps.connections.targetKind);
  const outcomes = plan?.kind.outcomes?.(plan.detail, journal.entries()) ?? null;
  const containers = outcomes?.map((each) => ({ ...each })) ?? null;
  await deps.db.write(async (tx) => {
    await advance(deps, tx, run.id, from, to, {
      lease,
      reason: reason ?? null,
      serving: serving ?? null,
      cleanup,
      outage,
      columns: { ...downtimeOf(journal.entries()), containers, ...columns },
    });
    await facts.also?.(tx);
  });
  run.state = to;
  const fields = { run: run.id, outcome: to, reason_code: reason?.code ?? null, serving: serving ?? null };
  if (serving === "none")
    deps.log.error("Target down: neither version is running", {
      ...fields,
      reason: reason == null ? null : inEnglish(reason.message),
    });
  else deps.log.info("Run ended", fields);
  if (cleanup !== null) await journal.reload();
  deps.changes.announce(run.id);
}
