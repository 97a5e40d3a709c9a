import { systemActor } from "../auth/schema.ts";
import { errorMessage, PluginError } from "../errors.ts";
import type { HealthCheck } from "../executors/health-check-schema.ts";
import { storedOutage } from "../executors/outage-schema.ts";
import { type Message, plain, saidAt, say, says, toldAs } from "../messages/message.ts";
import { type ProbeTiming, type Verdict, verify } from "../probes/verify.ts";
import { type Recovery, stabilityMs } from "../runtimes/session.ts";
import type { Cleanup } from "./advance.ts";
import { capturedBy, endRun, isStartedAgain, isToRun, type RunContext } from "./context.ts";
import { lastEntry } from "./journal.ts";
import { captureLogs, logKeeper } from "./last-logs.ts";
import { outageAtEnd } from "./outage.ts";
import { findRun, updateHeldRun } from "./queries.ts";
import type { Reason } from "./schema.ts";
import { lookAt, observeServing, type Seen } from "./serving.ts";
import type { ActiveState } from "./states.ts";

/** How long to keep trying to reach the runtime of an interrupted run. */
export const giveUpMs = 24 * 60 * 60 * 1000;
/** When to retry removing a run's backups. */
const cleanupRetryMs = 60_000;

function withServing({ plan, run }: Pick<RunContext, "plan" | "run">, reason: Reason, seen: Seen): Reason {
  const isDown = seen.serving === "none";
  const { kind } = run;
  const { serving, shortfall } = seen;
  const why = shortfall === null ? reason.message : say("phrases.joined", { items: [reason.message, shortfall] });
  const message =
    isDown && seen.is_partly
      ? say("runs.partly_down", { reason: why, services: seen.down })
      : say("runs.with_serving", { reason: why, kind, serving, is_resting: !isToRun(plan) });
  return { code: isDown ? "target_down" : reason.code, message };
}

export function notUndone({ run }: Pick<RunContext, "run">, reason: Reason, cause: Message): Reason {
  return { ...reason, message: say("runs.not_undone", { reason: reason.message, kind: run.kind, cause }) };
}

/** Restores the previous version and ends the run as failed. Throws if the runtime cannot be reached; the run is then recovered. */
export async function undoAndFail(context: RunContext, from: "updating" | "verifying", reason: Reason): Promise<void> {
  const { journal, session, settings, lease, shutdown } = context;
  journal.tolerateStorageFaults();
  await journal.note("failure", "fail", { reason_code: reason.code, ...toldAs("message", reason.message) });
  await captureLogs(context);
  let recovery: Recovery | null = null;
  let why = reason;
  try {
    recovery = await session.undo(settings.target, journal, await capturedBy(context), shutdown);
  } catch (error) {
    lease.signal.throwIfAborted();
    if (!(error instanceof PluginError) || error.code === "unreachable") throw error;
    context.deps.log.error("Previous version could not be restored", { run: context.run.id, error });
    why = notUndone(context, reason, error.said);
  }
  await journal.note("serving", "finish", {
    state: recovery?.state ?? "down",
    ...toldAs("detail", recovery?.detail ?? null),
  });
  await failAsObserved(context, from, why, recovery);
}

/**
 * What remains to be removed after a failed run: after a restore, at most the new container. If one container of a group is down, another
 * may have kept its new version beside a previous one that is no longer needed.
 */
export function cleanupAfter(recovery: Recovery): Cleanup | null {
  if (recovery.state === "down") return "left_over";
  if (recovery.state === "untouched") return recovery.is_left_over === true ? "left_over" : null;
  return "previous";
}

/** The run touched nothing. */
const untouched: Recovery = { state: "untouched", detail: plain("") };
/** The new version stays, healthy or not. */
const kept: Recovery = { state: "started", detail: plain("") };

/** Ends a run as failed, with what now runs. `recovery`: the result of the restore; null if nothing could be started. */
export async function failAsObserved(
  context: RunContext,
  from: ActiveState,
  reason: Reason,
  recovery: Recovery | null = untouched,
): Promise<void> {
  const cleanup = recovery === null ? "left_over" : cleanupAfter(recovery);
  const seen = await observeServing(context, cleanup === "previous" ? "desired" : "previous");
  await endRun(context, from, "failed", {
    reason: withServing(context, reason, seen),
    serving: seen.serving,
    cleanup,
    outage: await outageAtEnd(context, seen, recovery?.state === "untouched", () => lookAt(context)),
    also: await context.deps.executors.versionsAtEnd(context.settings, seen.services),
  });
}

function storedVerdict(context: RunContext): { passed: boolean; detail: Message } | null {
  const passed = lastEntry(context.journal, "verify", "finish");
  const entry = passed ?? lastEntry(context.journal, "verify", "fail");
  if (entry === null) return null;
  return { passed: passed !== null, detail: saidAt(entry.facts, "detail") ?? plain("") };
}

/** The engine's own check takes the whole stability period; a shorter limit would fail healthy containers. */
function longEnough(timing: ProbeTiming): ProbeTiming {
  const needed = Math.ceil(stabilityMs / 1000) + timing.probe_interval_seconds;
  return { ...timing, total_probe_duration_seconds: Math.max(timing.total_probe_duration_seconds, needed) };
}

/** Audited like a blocked notification: the name may have come to resolve to an internal address after the executor was saved. */
async function recordBlocked({ deps, run, settings }: RunContext): Promise<void> {
  const subject = { kind: "executor", id: settings.id, name: settings.name } as const;
  const entry = { event: "destination_blocked", outcome: "refused", subject, detail: { run: run.id } } as const;
  await deps.db.write((tx) => deps.audit(tx, systemActor, entry));
}

async function judge(
  context: RunContext,
  check: Exclude<HealthCheck, { strategy: "disabled" | "release" }>,
): Promise<{ passed: boolean; detail: Message }> {
  const { deps, journal, session, settings, lease, shutdown } = context;
  const stored = storedVerdict(context);
  if (stored !== null) return stored;
  // The last one: recovery restarts what an engine left stopped after the first start.
  const started = journal.entries().findLast(({ step, phase }) => step === "start" && phase !== "fail");
  const { clock } = deps;
  const now = clock.now();
  // Clamped, because the clock may have been set since the start; from here on only elapsed time counts.
  const ranBefore = Math.min(Math.max(now - (started?.at ?? now), 0), stabilityMs);
  const since = clock.elapsed() - ranBefore;
  const kind = check.strategy === "auto" ? "native" : check.strategy;
  const config = "probe" in check ? check.probe : {};
  const signal = AbortSignal.any([lease.signal, shutdown]);
  await journal.begin("verify", { strategy: check.strategy });
  const readiness = () => session.readiness(settings.target, clock.elapsed() - since, journal);
  const verdict: Verdict = await verify({
    probe: deps.openProbe(kind, config, { readiness, signal }),
    timing: kind === "native" ? longEnough(check) : check,
    clock,
    signal,
    findEnd: () => session.findEnd(settings.target, journal),
    observe: { until: since + stabilityMs, readiness, at_least_once: kind !== "native" },
    onAttempt: async ({ number, duration_ms, readiness: found }) => {
      await journal.note("probe", found.ready ? "finish" : "fail", {
        number,
        duration_ms,
        ...toldAs("detail", found.detail),
      });
      if (!found.ready && says(found.detail, "net.destination_blocked")) await recordBlocked(context);
    },
  });
  const { passed, detail, attempts, ready_at } = verdict;
  if (passed) await journal.finish("verify", { ...toldAs("detail", detail), attempts, ready_at });
  else await journal.fail("verify", { ...toldAs("detail", detail), attempts });
  return { passed, detail };
}

/** Null if the new version passed. With every strategy, a declarative runtime must first complete its replacement. */
async function whyNotInPlace(context: RunContext, check: HealthCheck): Promise<Message | null> {
  const { run, session, settings, journal, lease, shutdown } = context;
  const { settle } = session;
  const signal = AbortSignal.any([lease.signal, shutdown]);
  const is_status_enough = check.strategy === "release";
  const failure =
    (await settle?.(settings.target, journal, signal, {
      is_status_enough,
      onCrash: logKeeper(context),
    })) ?? null;
  if (failure !== null) return failure;
  const isNative = check.strategy === "auto" || check.strategy === "native";
  if (check.strategy === "disabled" || check.strategy === "release" || (isNative && settle !== undefined)) return null;
  const { passed, detail } = await judge(context, check);
  return passed ? null : say("runs.unhealthy", { kind: run.kind, cause: detail });
}

/** From the start of the new version to the end of the run: health check, restore or commit, removal of backups. */
export async function conclude(context: RunContext): Promise<void> {
  const { settings, plan } = context;
  const check = settings.health_check;
  if (!isToRun(plan)) {
    await commit(context, "succeeded", {
      code: "left_stopped",
      message: say("runs.left_stopped"),
    });
    return;
  }
  const remark: Reason | null = isStartedAgain(plan)
    ? {
        code: "started_again",
        message: say(context.run.kind === "rollback" ? "runs.started_for_snapshot" : "runs.started_after_outage"),
      }
    : null;
  const message = await whyNotInPlace(context, check);
  if (message === null) {
    await commit(context, "succeeded", remark);
    return;
  }
  const reason: Reason = { code: "unhealthy", message };
  const isKept = check.strategy !== "disabled" && check.on_failure === "degraded";
  if (!isKept && settings.restore_on_failure) {
    await undoAndFail(context, "verifying", reason);
    await cleanUp(context);
    return;
  }
  await captureLogs(context);
  if (isKept) await commit(context, "degraded", reason);
  else {
    await failAsObserved(context, "verifying", reason, kept);
    await cleanUp(context);
  }
}

async function commit(context: RunContext, state: "succeeded" | "degraded", reason: Reason | null): Promise<void> {
  const { serving, services } = await observeServing(context, "desired");
  const also = await context.deps.executors.versionsAtEnd(context.settings, services);
  await endRun(context, "verifying", state, { reason, serving, cleanup: "previous", also });
  await cleanUp(context);
}

/** After the end: removes the run's backups. A failure is retried later and does not change the outcome. */
export async function cleanUp(context: RunContext): Promise<void> {
  const { deps, run, lease, journal, session, settings } = context;
  if ((await findRun(deps.db.read, run.id))?.cleanup_due_at == null) return;
  let retryAt: number | null = null;
  try {
    await session.finish(settings.target, journal);
  } catch (error) {
    lease.signal.throwIfAborted();
    const endedAt = storedOutage(run.outage)?.ended_at ?? run.ended_at ?? deps.clock.now();
    const isGivenUp = deps.counted.now() - endedAt > giveUpMs;
    deps.log.warning("Containers kept by a run could not be removed", {
      run: run.id,
      error: errorMessage(error),
      isGivenUp,
    });
    retryAt = isGivenUp ? null : deps.clock.now() + cleanupRetryMs;
  }
  await deps.db.write((tx) =>
    updateHeldRun(tx, run.id, lease.owner, { cleanup_due_at: retryAt, lease_owner: null, lease_until: null }),
  );
  deps.changes.announce(run.id);
}
