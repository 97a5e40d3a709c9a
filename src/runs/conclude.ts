import { systemActor } from "../auth/schema.ts";
import { errorMessage, PluginError } from "../errors.ts";
import type { HealthCheck } from "../executors/schema.ts";
import { destinationBlocked } from "../probes/probe.ts";
import { type ProbeTiming, type Verdict, verify } from "../probes/verify.ts";
import { type Recovery, stabilityMs } from "../runtimes/runtime.ts";
import type { Cleanup } from "./advance.ts";
import { capturedBy, endRun, isStartedAgain, isToRun, type RunContext } from "./context.ts";
import { lastEntry } from "./journal.ts";
import { outcomeTexts, partlyDown } from "./outcome.ts";
import { findRun, updateHeldRun } from "./queries.ts";
import type { Reason, Serving } from "./schema.ts";
import type { ActiveState } from "./states.ts";

/** How long it is tried to reach a runtime for a run that was interrupted, before it is given up. */
export const giveUpMs = 24 * 60 * 60 * 1000;
/** When removing what a run kept aside is tried again. */
const cleanupRetryMs = 60_000;

/** `down`: services of which neither version runs. */
interface Seen {
  serving: Serving;
  down: readonly string[];
  /** Others of the target run. */
  is_partly: boolean;
}

const whole = { down: [], is_partly: false } as const;

/**
 * What runs under the target's name now, as the runtime says. `expected` decides between two that cannot be told apart: a
 * rollback can change settings alone, or no more than that something runs.
 */
async function observeServing(context: RunContext, expected: "desired" | "previous"): Promise<Seen> {
  const { session, settings, plan } = context;
  try {
    const target = await session.inspect(settings.target);
    const verdicts = target.services.map((found): Serving => {
      const planned = plan?.services.find((each) => each.service === found.name);
      // Beside the ones that were updated a group has others, which may well be stopped.
      if (plan !== null && planned === undefined) return "unknown";
      if (planned?.to.is_running !== false && found.state !== "running") return "none";
      if (planned === undefined) return "unknown";
      const isPrevious = found.image === planned.from.reference && found.image_id === planned.from.image_id;
      const isDesired =
        found.image === planned.to.reference || (found.digest !== null && found.digest === planned.to.digest);
      if (isPrevious && isDesired) return expected;
      if (isPrevious) return "previous";
      return isDesired ? "desired" : "unknown";
    });
    const planned = verdicts.filter((verdict) => verdict !== "unknown");
    const down = target.services.filter((_, index) => verdicts[index] === "none").map(({ name }) => name);
    const isPartly = target.services.some(({ name, state }) => state === "running" && !down.includes(name));
    if (down.length > 0) return { serving: "none", down, is_partly: isPartly };
    return { ...whole, serving: new Set(planned).size > 1 ? "mixed" : (planned[0] ?? "unknown") };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { ...whole, serving: error.code === "not_found" ? "none" : "unknown" };
  }
}

function withServing({ plan, run }: Pick<RunContext, "plan" | "run">, reason: Reason, seen: Seen): Reason {
  const { serving, resting } = outcomeTexts[run.kind];
  const texts = isToRun(plan) ? serving : { ...serving, ...resting };
  const now = seen.serving === "none" && seen.is_partly ? partlyDown(seen.down) : texts[seen.serving];
  return { code: seen.serving === "none" ? "target_down" : reason.code, message: `${reason.message}. ${now}` };
}

/** Puts the previous version back and ends the run as failed. Throws when the runtime cannot be reached: the run is then recovered. */
export async function undoAndFail(context: RunContext, from: "updating" | "verifying", reason: Reason): Promise<void> {
  const { journal, session, settings, lease, shutdown } = context;
  journal.tolerateStorageFaults();
  await journal.note("failure", "fail", { reason_code: reason.code, message: reason.message });
  let recovery: Recovery | null = null;
  try {
    recovery = await session.undo(settings.target, journal, await capturedBy(context), shutdown);
  } catch (error) {
    lease.signal.throwIfAborted();
    if (!(error instanceof PluginError) || error.code === "unreachable") throw error;
    context.deps.log.error("Previous version could not be put back", { run: context.run.id, error });
  }
  await journal.note("serving", "finish", { state: recovery?.state ?? "down", detail: recovery?.detail ?? null });
  await failAsObserved(context, from, reason, recovery === null ? "left_over" : cleanupAfter(recovery));
}

/**
 * What is left to remove when a run has failed: of one that was put back at most the new container. Where one of a group is down, the
 * new one of another may have been kept in its place, beside a previous one that nobody needs.
 */
export function cleanupAfter(recovery: Recovery): Cleanup | null {
  if (recovery.state === "down") return "left_over";
  if (recovery.state === "untouched") return recovery.is_left_over === true ? "left_over" : null;
  return "previous";
}

/** Ends a run as failed, with what is seen to run. With the cleanup `previous` the new one is in place. */
export async function failAsObserved(
  context: RunContext,
  from: ActiveState,
  reason: Reason,
  cleanup: Cleanup | null = null,
): Promise<void> {
  const seen = await observeServing(context, cleanup === "previous" ? "desired" : "previous");
  await endRun(context, from, "failed", {
    reason: withServing(context, reason, seen),
    serving: seen.serving,
    cleanup,
  });
}

function storedVerdict(context: RunContext): { passed: boolean; detail: string } | null {
  const passed = lastEntry(context.journal, "verify", "finish");
  const entry = passed ?? lastEntry(context.journal, "verify", "fail");
  if (entry === null) return null;
  const { detail } = entry.facts;
  return { passed: passed !== null, detail: typeof detail === "string" ? detail : "" };
}

/** The engine's own judgement takes the whole stability period: a shorter time would fail what runs well. */
function longEnough(timing: ProbeTiming): ProbeTiming {
  const needed = Math.ceil(stabilityMs / 1000) + timing.probe_interval_seconds;
  return { ...timing, total_probe_duration_seconds: Math.max(timing.total_probe_duration_seconds, needed) };
}

/** As for a message that was not sent: the name may have got its inner address after the executor was saved. */
async function recordBlocked({ deps, run, settings }: RunContext): Promise<void> {
  const subject = { kind: "executor", id: settings.id, name: settings.name } as const;
  const entry = { event: "destination_blocked", outcome: "refused", subject, detail: { run: run.id } } as const;
  await deps.db.write((tx) => deps.audit(tx, systemActor, entry));
}

async function judge(
  context: RunContext,
  check: Exclude<HealthCheck, { strategy: "disabled" }>,
): Promise<{ passed: boolean; detail: string }> {
  const { deps, journal, session, settings, lease, shutdown } = context;
  const stored = storedVerdict(context);
  if (stored !== null) return stored;
  // Recovery starts again what an engine left stopped, after the end of the first start.
  const started = journal.entries().findLast(({ step, phase }) => step === "start" && phase !== "fail");
  const since = started?.at ?? deps.clock.now();
  const kind = check.strategy === "auto" ? "native" : check.strategy;
  const config = check.strategy === "http" || check.strategy === "tcp" ? check.probe : {};
  const signal = AbortSignal.any([lease.signal, shutdown]);
  await journal.begin("verify", { strategy: check.strategy });
  const readiness = () => session.readiness(settings.target, since, journal);
  const verdict: Verdict = await verify({
    probe: deps.openProbe(kind, config, { readiness, signal }),
    timing: kind === "native" ? longEnough(check) : check,
    clock: deps.clock,
    signal,
    findEnd: () => session.findEnd(settings.target, journal),
    observe: { until: since + stabilityMs, readiness, at_least_once: kind !== "native" },
    onAttempt: async ({ number, duration_ms, readiness: found }) => {
      await journal.note("probe", found.ready ? "finish" : "fail", { number, duration_ms, detail: found.detail });
      if (!found.ready && found.detail === destinationBlocked) await recordBlocked(context);
    },
  });
  const { passed, detail, attempts, ready_at } = verdict;
  if (passed) await journal.finish("verify", { detail, attempts, ready_at });
  else await journal.fail("verify", { detail, attempts });
  return { passed, detail };
}

/** From "the new one was started" to the end of the run: health check, restore or commit, removal of what was kept aside. */
export async function conclude(context: RunContext): Promise<void> {
  const { settings, plan } = context;
  const check = settings.health_check;
  if (!isToRun(plan)) {
    await commit(context, "succeeded", {
      code: "left_stopped",
      message: "The target was stopped and stays stopped; it was updated without a health check",
    });
    return;
  }
  const remark: Reason | null = isStartedAgain(plan)
    ? {
        code: "started_again",
        message: "The target was down and was started, because it ran when its snapshot was captured",
      }
    : null;
  if (check.strategy === "disabled") {
    await commit(context, "succeeded", remark);
    return;
  }
  const { passed, detail } = await judge(context, check);
  if (passed) {
    await commit(context, "succeeded", remark);
    return;
  }
  const reason: Reason = { code: "unhealthy", message: `${outcomeTexts[context.run.kind].unhealthy}: ${detail}` };
  if (check.on_failure === "degraded") {
    await commit(context, "degraded", reason);
  } else if (settings.restore_on_failure) {
    await undoAndFail(context, "verifying", reason);
    await cleanUp(context);
  } else {
    await failAsObserved(context, "verifying", reason, "previous");
    await cleanUp(context);
  }
}

async function commit(context: RunContext, state: "succeeded" | "degraded", reason: Reason | null): Promise<void> {
  const { serving } = await observeServing(context, "desired");
  await endRun(context, "verifying", state, { reason, serving, cleanup: "previous" });
  await cleanUp(context);
}

/** After the end: removes what the run kept aside. What fails is tried again later; the outcome stays what it is. */
export async function cleanUp(context: RunContext): Promise<void> {
  const { deps, run, lease, journal, session, settings } = context;
  if ((await findRun(deps.db.read, run.id))?.cleanup_due_at == null) return;
  let retryAt: number | null = null;
  try {
    await session.finish(settings.target, journal);
  } catch (error) {
    lease.signal.throwIfAborted();
    const endedAt = run.ended_at ?? deps.clock.now();
    const isGivenUp = deps.clock.now() - endedAt > giveUpMs;
    deps.log.warning("What a run kept aside was not removed", { run: run.id, error: errorMessage(error), isGivenUp });
    retryAt = isGivenUp ? null : deps.clock.now() + cleanupRetryMs;
  }
  await deps.db.write((tx) =>
    updateHeldRun(tx, run.id, lease.owner, { cleanup_due_at: retryAt, lease_owner: null, lease_until: null }),
  );
  deps.changes.announce(run.id);
}
