import type { Clock } from "../clock.ts";
import type { Writer } from "../db/client.ts";
import { nextTryAt, type Serving, type StoredOutage } from "../executors/outage-schema.ts";
import { toldAs, withTexts } from "../messages/message.ts";
import type { RecordEvent } from "../notifications/schema.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import {
  appendStep,
  executorOfRun,
  findRun,
  type ListedRun,
  makeExecutorDue,
  makeOutagesDue,
  moveRun,
  type RunRow,
} from "./queries.ts";
import { type Reason, withoutServing } from "./schema.ts";
import { type ActiveState, type EndState, isEndState, type NextState, type RunState } from "./states.ts";

export interface AdvanceDeps {
  clock: Clock;
  recordEvent: RecordEvent;
  redact: (text: string) => string;
}

type Columns = Omit<Partial<RunRow>, "state" | "id" | "reason" | "reason_code" | "serving">;

export interface AdvanceFacts {
  lease: Pick<Lease, "owner">;
  reason?: Reason | null;
  serving?: Serving | null;
  columns?: Columns;
  /**
   * What remains to be removed after the end. The run keeps its lease for the removal; if the lease expires, another process takes over.
   */
  cleanup?: Cleanup | null;
  /** Set if the run leaves its target down. The cleanup then waits, because starting the target may need the backups. */
  outage?: StoredOutage | null;
}

/**
 * `previous`: the new version stays and the backups go. `left_over`: the run failed and may have left containers that are no longer needed.
 */
export type Cleanup = "previous" | "left_over";

const eventKinds = {
  succeeded: "executor_run_succeeded",
  degraded: "executor_run_succeeded",
  failed: "executor_run_failed",
  skipped: "executor_run_skipped",
} as const satisfies { readonly [S in EndState]: string };

/**
 * The only writer of a run's state, by compare-and-set under the lease: throws `LeaseLost` if the run has moved on. The same transaction
 * appends a step and, for an end state, records the run's one event and makes its executor due for evaluation.
 */
export async function advance<F extends ActiveState>(
  deps: AdvanceDeps,
  tx: Writer,
  id: string,
  from: F,
  to: NextState<F>,
  facts: AdvanceFacts,
): Promise<void> {
  const now = deps.clock.now();
  const next: RunState = to;
  const isEnd = isEndState(next);
  const reason = facts.reason ?? null;
  const said = reason === null ? null : withTexts(reason.message, deps.redact);
  const cleanup = facts.cleanup ?? null;
  const outage = facts.outage ?? null;
  const isCleanupDue = cleanup !== null && outage === null;
  const moved = await moveRun(tx, id, facts.lease.owner, from, next, {
    ...facts.columns,
    reason_code: reason?.code ?? null,
    reason: said,
    ...(facts.serving === undefined ? {} : { serving: facts.serving }),
    ...(isEnd ? { ended_at: now, progress: null, cleanup_due_at: isCleanupDue ? now : null } : {}),
    ...(outage === null ? {} : { outage, outage_due_at: nextTryAt({ ended_at: now }, 0, { now, counted: now }) }),
    ...(isEnd && !isCleanupDue ? { lease_owner: null, lease_until: null } : {}),
  });
  if (!moved) throw new LeaseLost(id);
  if (isEnd && cleanup === "previous")
    await appendStep(tx, { run_id: id, step: "commit", phase: "finish", facts: {}, at: now });
  await appendStep(tx, {
    run_id: id,
    step: next,
    phase: next === "failed" ? "fail" : "finish",
    facts: reason === null ? {} : { reason_code: reason.code, ...toldAs("reason", said) },
    at: now,
  });
  if (isEnd) await recordEnd(deps, tx, id, next, now);
}

async function recordEnd(deps: AdvanceDeps, tx: Writer, id: string, state: EndState, now: number): Promise<void> {
  const run = await findRun(tx, id);
  const executor = run === null ? null : await executorOfRun(tx, run.executor_id);
  if (run === null || executor === null) throw new Error(`The run "${id}" has no executor`);
  await makeExecutorDue(tx, executor.id, now);
  await makeOutagesDue(tx, run, now);
  await deps.recordEvent(tx, {
    kind: eventKinds[state],
    executor_id: executor.id,
    run_id: id,
    facts: {
      executor: executor.name,
      run: id,
      kind: run.kind,
      ...versionsOf(run),
      outcome: state,
      ...toldAs("reason", run.reason === null ? null : withoutServing(run.reason)),
      downtime_ms: run.downtime_ms,
      serving: run.serving,
    },
  });
}

export function versionsOf(run: ListedRun) {
  return {
    from: { tag: run.from_tag, digest: run.from_digest },
    to: { tag: run.to_tag, digest: run.to_digest },
  };
}
