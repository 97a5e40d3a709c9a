import { AppError, PluginError, saidBy } from "../errors.ts";
import { longestTryPauseMs, storedOutage } from "../executors/outage-schema.ts";
import { leaseMs } from "../held-lease.ts";
import { newId } from "../ids.ts";
import { type Message, saidAt, say, toldAs, withTexts } from "../messages/message.ts";
import { bringUp, endUnowed, giveUpWhenOver } from "./bring-up.ts";
import { cleanUp, conclude, failAsObserved, giveUpMs, notUndone, undoAndFail } from "./conclude.ts";
import { capturedBy, endRun, moveOn, type RunContext, type RunnerOptions } from "./context.ts";
import { firstEntry, lastEntry, openJournal, type RunJournal } from "./journal.ts";
import { holdRun, LeaseLost } from "./lease.ts";
import { outageAtEnd } from "./outage.ts";
import { findOverlap } from "./overlap.ts";
import { awaitWindow, judgeAwaiting } from "./pending.ts";
import {
  appendStep,
  deletePendingRun,
  dropLeasesOfOthers,
  dueRuns,
  executorOfRun,
  findRun,
  leaseRun,
  makeExecutorDue,
  noteWaiting,
  outageOf,
  type RunRow,
  runDueTimes,
  runsAhead,
  updateHeldRun,
} from "./queries.ts";
import { failureReasons, type Reason } from "./schema.ts";
import { unseen } from "./serving.ts";
import { faultOf, isWindowOpen, start } from "./start.ts";
import { type ActiveState, isActiveState } from "./states.ts";
import { storedPlan } from "./stored-plan.ts";

/** A pending run whose process has ended this many times is not retried. */
const maxClaims = 2;
/** When to retry a run after an unreachable runtime or an internal error; the pause grows. */
const retryMs = 10_000;
const lateRetryMs = 60_000;
const lateAfterMs = 5 * 60_000;
/** Covers a weekly window that clock changes skip several weeks in a row. */
const longestWindowWaitMs = 60 * 24 * 60 * 60_000;

/**
 * Performs due runs: starts pending ones, recovers those whose process is gone, cleans up after ended ones. Each is leased to an owner of
 * its own, so that no two processes, and no two calls in one, ever work on the same run.
 */
export function runRunner(deps: RunnerOptions) {
  const { db, clock, log } = deps;

  const claim = async (id: string, owner: string): Promise<RunRow | null> => {
    const now = clock.now();
    return await db.write(async (tx) => {
      const run = await findRun(tx, id);
      const executor = run === null ? null : await executorOfRun(tx, run.executor_id);
      if (run === null || executor === null) return null;
      const needsPlace = run.state === "pending" && run.approval !== "awaiting";
      const ahead = needsPlace ? await runsAhead(tx, executor.connection_id, run, now) : [];
      const [first] = ahead;
      if (first !== undefined && ahead.length >= executor.concurrent_runs) {
        const { connection } = executor;
        const reason = say("runs.waits_for_run", { run: first.id, executor: first.executor, connection });
        await noteWaiting(tx, id, "waiting_for_connection", reason);
        return null;
      }
      // Two runs on the same containers would take each other's for foreign ones; backups can wait.
      const { connection_id } = executor;
      const kept = isActiveState(run.state) ? null : storedPlan(run.plan, deps.connections.targetKind);
      if (kept !== null && (await findOverlap(tx, deps, { id, connection_id, plan: kept })) !== null) return null;
      const held = await leaseRun(tx, id, { owner, now, until: now + leaseMs });
      if (held === null || held.state !== "pending") return held;
      await updateHeldRun(tx, id, owner, { reason: null, reason_code: null, started_at: held.started_at ?? now });
      await appendStep(tx, { run_id: id, step: "claim", phase: "begin", facts: {}, at: now });
      // With the reason of its last release, in case this claim exceeds the limit.
      return { ...held, started_at: held.started_at ?? now };
    });
  };

  /** Releases a run that could not be worked on, due again after a pause. */
  const release = async (run: RunRow, owner: string, waiting: Message | null): Promise<void> => {
    const age = deps.counted.now() - (run.started_at ?? run.created_at);
    const due = clock.now() + (waiting === null ? 0 : age < lateAfterMs ? retryMs : lateRetryMs);
    const isEnded = !isActiveState(run.state);
    const isDown = run.outage_due_at !== null;
    const clearingSince = storedOutage(run.outage)?.ended_at ?? run.ended_at ?? clock.now();
    const isGivenUp = waiting !== null && !isDown && deps.counted.now() - clearingSince > giveUpMs;
    if (isEnded && isGivenUp) log.warning("Containers kept by a run could not be removed", { run: run.id, isGivenUp });
    await db.write((tx) =>
      updateHeldRun(tx, run.id, owner, {
        lease_owner: null,
        lease_until: null,
        ...(isDown ? { outage_due_at: due } : isEnded ? { cleanup_due_at: isGivenUp ? null : due } : { due_at: due }),
        ...(isEnded || waiting === null ? {} : { reason_code: "waiting_for_runtime", reason: waiting }),
      }),
    );
    deps.changes.announce(run.id);
  };

  const perform = async (id: string, shutdown: AbortSignal): Promise<void> => {
    const owner = `${deps.instance_id}:${newId(clock.now())}`;
    const run = await claim(id, owner);
    if (run === null) return;
    deps.changes.announce(id);
    const lease = holdRun({ db, clock, log, run_id: id, owner });
    let journal: RunJournal | null = null;
    try {
      journal = await openJournal({ db, clock, log, lease, changes: deps.changes, redact: deps.redact });
      await workOn(deps, { run, lease, journal, shutdown });
    } catch (error) {
      if (error instanceof LeaseLost || lease.signal.aborted) {
        log.warning("Run was taken over by another process", { run: id });
        return;
      }
      if (shutdown.aborted) log.info("Run will resume at the next start", { run: id, state: run.state });
      else log.error("Run will resume later", { run: id, state: run.state, error });
      const cause = withTexts(saidBy(error), deps.redact);
      const isGivenUp = !shutdown.aborted && deps.counted.now() - (run.started_at ?? run.created_at) >= giveUpMs;
      if (isGivenUp && journal !== null && isActiveState(run.state)) {
        const reason: Reason = { code: "interrupted", message: say("runs.unfinished", { cause }) };
        const held = { deps, run, lease, journal, plan: storedPlan(run.plan, deps.connections.targetKind) };
        const outage = await outageAtEnd(held, unseen, false, async () => null);
        await endRun(held, run.state, "failed", { reason, serving: "unknown", outage });
        return;
      }
      if (!shutdown.aborted && journal !== null && run.outage_due_at !== null) {
        await giveUpWhenOver({ deps, run, lease, journal }, cause);
      }
      await release(run, owner, shutdown.aborted ? null : say("runs.retrying_after", { cause }));
    } finally {
      await lease.stop();
    }
  };

  return {
    work: {
      name: "runs",
      due_times: runDueTimes({
        retry_ms: lateRetryMs,
        outage_ms: longestTryPauseMs,
        window_ms: longestWindowWaitMs,
        lease_ms: leaseMs,
      }),
      /** Maximum in this process; each connection has its own limit. */
      concurrency: 8,
      per_key: 1,
      /** Aborted at the next safe point, resumed at the next start. */
      on_stop: "abort" as const,
      due: async (now: number, limit: number): Promise<{ id: string }[]> =>
        (await dueRuns(db.read, now, limit)).map((id) => ({ id })),
      /** By run, not by connection: a run that waits for another on its connection notes so when it is claimed. */
      keyOf: (item: { id: string }): string => item.id,
      perform: (item: { id: string }, signal: AbortSignal): Promise<void> => perform(item.id, signal),
    },
    /** For a process that knows it is alone on its database: runs held by an earlier process are due now, not when their leases expire. */
    takeOver: async (): Promise<void> => {
      await db.write((tx) => dropLeasesOfOthers(tx, deps.instance_id));
    },
  };
}

type Claimed = Pick<RunContext, "run" | "lease" | "journal" | "shutdown">;

async function workOn(deps: RunnerOptions, claimed: Claimed): Promise<void> {
  const { run, lease, journal, shutdown } = claimed;
  const settings = await deps.executors.settings(run.executor_id);
  const held = { deps, ...claimed, settings };
  if (run.state === "pending" && !(await mayBegin(held))) return;
  if (run.outage_due_at !== null) await endUnowed(held);
  await using session = await openOrEnd(held);
  if (session === null) return;
  const context: RunContext = {
    deps,
    run,
    settings,
    lease,
    journal,
    session,
    shutdown,
    plan: storedPlan(run.plan, deps.connections.targetKind),
  };
  if (run.state === "pending") await start(context);
  else if (isActiveState(run.state)) await recover(context, run.state);
  else {
    if (run.outage_due_at !== null) await bringUp(context);
    await cleanUp(context);
  }
}

type HeldRun = Omit<RunContext, "session" | "plan">;

/** Checks the conditions that need no runtime; ends or withdraws the run if one is not met. */
async function mayBegin(held: HeldRun): Promise<boolean> {
  const { deps, run, settings, journal, lease } = held;
  // Only claims since the last orderly release count.
  const claim = journal.entries().filter((entry) => entry.step === "claim");
  const claims = claim.slice(claim.findLastIndex((entry) => entry.phase === "finish") + 1).length;
  if (claims > maxClaims) {
    const reason: Reason =
      run.reason_code === "waiting_for_runtime" && run.reason !== null
        ? { code: "internal_error", message: run.reason }
        : { code: "interrupted", message: say("runs.process_ended") };
    await endRun(held, "pending", "failed", { reason, serving: "unknown" });
    return false;
  }
  const executor = await executorOfRun(deps.db.read, run.executor_id);
  if (executor?.is_connection_enabled !== true) {
    const reason: Reason = { code: "connection_disabled", message: say("runs.connection_disabled") };
    await endRun(held, "pending", "skipped", { reason });
    return false;
  }
  if (!settings.is_enabled) {
    const message = say("runs.executor_disabled");
    const reason: Reason = { code: "executor_disabled", message };
    await endRun(held, "pending", "skipped", { reason });
    return false;
  }
  if (run.approval === "awaiting") {
    await judgeAwaiting(held);
    return false;
  }
  const isApproved = run.approval === "approved";
  // An approved run stays wanted, even if the trigger changes or the target goes down.
  const isDown = (await outageOf(deps.db.read, run.executor_id)) !== null;
  const isUnwanted = run.trigger !== "manual" && (settings.trigger === "manual" || isDown) && !isApproved;
  if (run.trigger === "manual" && !isWindowOpen(held)) {
    const message = say("runs.window_closed", { executor: settings.name });
    await endRun(held, "pending", "skipped", { reason: { code: "window_closed", message } });
    return false;
  }
  if (isApproved && !isWindowOpen(held)) {
    await awaitWindow(held);
    return false;
  }
  if (isUnwanted || !isWindowOpen(held)) {
    // Outside its window an automatic run leaves no trace: the evaluation queues it again.
    await deps.db.write(async (tx) => {
      await deletePendingRun(tx, run.id, lease.owner);
      await makeExecutorDue(tx, run.executor_id, deps.clock.now());
    });
    deps.changes.announce(run.id);
    return false;
  }
  return true;
}

/** Null if the run ended because its runtime could not be opened; throws if the run has to be recovered. */
async function openOrEnd(held: HeldRun): Promise<RunContext["session"] | null> {
  const { deps, run, settings, lease } = held;
  try {
    return await deps.connections.open(settings.connection_id, lease.signal);
  } catch (error) {
    if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
    const message = error.said;
    if (run.state === "pending") {
      const code = error instanceof PluginError ? faultOf(error, "update_failed") : "update_failed";
      await endRun(held, "pending", "failed", { reason: { code, message }, serving: "unknown" });
      return null;
    }
    throw error;
  }
}

/** The failure noted before the process ended, so that the run reports its cause and not only the interruption. */
function notedFailure(context: RunContext): Reason | null {
  const facts = firstEntry(context.journal, "failure", "fail")?.facts;
  const code = failureReasons.find((known) => known === facts?.reason_code);
  const message = saidAt(facts ?? {}, "message");
  return code === undefined || message === null ? null : { code, message };
}

/** After its process has ended: repairs the target and finishes the run. */
async function recover(context: RunContext, from: Exclude<ActiveState, "pending">): Promise<void> {
  const { deps, run, journal, session, settings, shutdown } = context;
  deps.log.warning("Run is recovered", { run: run.id, state: from });
  await journal.note("recover", "begin");
  const recovery = await session.recover(settings.target, journal, await capturedBy(context), shutdown);
  await journal.note("recover", "finish", { state: recovery.state, ...toldAs("detail", recovery.detail) });
  const failure = notedFailure(context);
  const interrupted: Reason = { code: "interrupted", message: say("runs.interrupted", { recovery: recovery.detail }) };
  if (recovery.state === "untouched" || recovery.state === "down" || recovery.state === "mixed") {
    const isStuck = failure !== null && recovery.state === "down";
    const reason = isStuck ? notUndone(context, failure, recovery.detail) : (failure ?? interrupted);
    await failAsObserved(context, from, reason, recovery);
    await cleanUp(context);
    return;
  }
  if (failure !== null) {
    if (recovery.state === "started" && from !== "capturing") {
      await undoAndFail(context, from, failure);
    } else await failAsObserved(context, from, failure, recovery);
    await cleanUp(context);
    return;
  }
  if (from === "capturing") {
    await failAsObserved(context, from, interrupted, recovery);
    await cleanUp(context);
    return;
  }
  const isStarted = context.plan?.kind.is_declarative === true || lastEntry(journal, "start", "finish") !== null;
  if (!isStarted) await journal.note("start", "finish", { recovered: true });
  if (from === "updating") await moveOn(context, "updating", "verifying");
  await conclude(context);
}
