import type { Clock } from "../clock.ts";
import { reachOf, seenService } from "../connections/schema.ts";
import type { ConnectionService } from "../connections/service.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Database, Writer } from "../db/client.ts";
import { AppError, PluginError, saidBy } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { type Message, say, told, toText } from "../messages/message.ts";
import type { NewAutomaticRun, SeenWhileWaiting } from "../runs/schema.ts";
import type { RuntimeSession } from "../runtimes/session.ts";
import type { Target } from "../runtimes/target.ts";
import {
  type Deferral,
  type DeferralReason,
  identityOf,
  isSkipped,
  isSnoozed,
  type SkippedVersion,
  whyDeferred,
} from "./deferral-schema.ts";
import { type Comparison, isUpdate } from "./desired.ts";
import { type Observation, observationOf, unmetView } from "./observation-schema.ts";
import {
  claimExecutor,
  connectionFacts,
  dueExecutors,
  type ExecutorRow,
  evaluationDueTimes,
  findExecutor,
  highestAttempt,
  type RunSummary,
  recentRunsOf,
  updateExecutorRow,
} from "./queries.ts";
import { type ExecutorSettings, readSettings } from "./settings.ts";
import { inspectOrNull } from "./target-check.ts";
import { unacceptedSettings, unknownSettingsIn } from "./unknown-settings.ts";
import type { PlannedUpdate, PlanPurpose } from "./update-plan.ts";
import { recordVersions } from "./versions.ts";
import { isActive } from "./view.ts";
import { currentOpening, nextOpenings } from "./window.ts";

const minuteMs = 60_000;
/** How old an observation may get before the target is inspected again. */
const observationIntervalMs = 15 * minuteMs;
/** The same while the runtime does not respond. */
const unreachableIntervalMs = 2 * minuteMs;
/** An evaluation running longer than this was abandoned by its process. */
const leaseMs = 2 * minuteMs;
/** Delay before an automatic run that failed in transport is retried, once. */
const retryDelayMs = 10 * minuteMs;
const recentRuns = 50;
const automatic: PlanPurpose = { is_automatic: true, is_reviewed: false };

/** Transport failures: nothing was wrong with the version. */
const retryable: ReadonlySet<string> = new Set(["unreachable", "rate_limited"]);
/** Conditions that may be met later for the same version; other skips hold until there is a new one. */
const rearmed: ReadonlySet<string> = new Set([
  "connection_disabled",
  "executor_disabled",
  "target_missing",
  "window_closed",
  "too_young",
  "no_release",
  "no_tag",
  "registry_failed",
  "settings_unknown",
  "on_hold",
  "snoozed",
  "version_skipped",
]);

interface EvaluatorOptions {
  db: Database;
  clock: Clock;
  counted: CountedTime;
  log: Log;
  /** The owner of this process's leases. */
  instance_id: string;
  connections: Pick<ConnectionService, "open" | "targetKind">;
  compare: (settings: ExecutorSettings, target: Target | null, session: RuntimeSession | null) => Promise<Comparison>;
  timezone: () => string;
  /** Queues a run in the transaction of the evaluation; false if none was queued. */
  createRun: (tx: Writer, run: NewAutomaticRun) => Promise<boolean>;
  planUpdate: (settings: ExecutorSettings, session: RuntimeSession, purpose: PlanPurpose) => Promise<PlannedUpdate>;
  /** Receives the findings while a run awaits approval or its window; may end that run before another one is decided on. */
  reviewWaiting: (tx: Writer, executorId: string, seen: SeenWhileWaiting) => Promise<void>;
  /** Ends a run that awaits approval or its window, because automatic runs must not start. */
  withdrawWaiting: (tx: Writer, executorId: string, why: DeferralReason) => Promise<void>;
  /** Called after a run was queued. */
  onRunQueued?: () => void;
}

/** The result of an evaluation. */
interface Decision {
  start: { trigger: "immediate" | "window"; desired_revision: string; attempt: number } | null;
  waiting: Observation["waiting"];
  next_evaluation_at: number;
}

/**
 * Compares what due executors should run with what they run: after a check found something, when a window opens, when a release is old
 * enough, for a retry, and every 15 minutes. Queues the automatic run that follows, if any.
 */
export function executorEvaluator(options: EvaluatorOptions) {
  const { db, clock, log } = options;

  const look = async (
    settings: ExecutorSettings,
    previous: Observation | null,
    hasWaitingRun: boolean,
    signal: AbortSignal,
  ): Promise<Look> => {
    const [connection] = await connectionFacts(db.read, [settings.connection_id]);
    if (connection?.is_enabled !== true) {
      const problem = {
        code: "connection_disabled",
        ...told(say("executors.connection_disabled", { connection: connection?.name ?? "" })),
      };
      return {
        comparison: await options.compare(settings, lastSeen(settings, previous), null),
        problem,
        unknown_settings: null,
        plan: null,
      };
    }
    const { state, problem: lost } = reachOf(connection, clock.now());
    // Further checks of the connection make it due again: querying for every executor would only wait for as many deadlines.
    if (state === "unreachable" && lost !== null) {
      const comparison = await options.compare(settings, lastSeen(settings, previous), null);
      return { comparison, problem: lost, unknown_settings: null, plan: null };
    }
    try {
      await using session = await options.connections.open(settings.connection_id, signal);
      const target = await inspectOrNull(session, settings.target);
      const comparison = await options.compare(settings, target, session);
      // The plan that the waiting run would make now, to compare with its own.
      const plan = hasWaitingRun ? await options.planUpdate(settings, session, automatic) : null;
      const unknown_settings = unknownSettingsIn(target?.warnings ?? []);
      return { comparison, problem: unmetView(comparison.unmet), unknown_settings, plan };
    } catch (error) {
      if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
      const comparison = await options.compare(settings, lastSeen(settings, previous), null);
      return {
        comparison,
        problem: { code: error.code, ...told(saidBy(error)) },
        unknown_settings: null,
        plan: null,
      };
    }
  };

  const evaluate = async (id: string, signal: AbortSignal): Promise<void> => {
    const owner = `${options.instance_id}:${newId(clock.now())}`;
    const pushed = clock.now() + observationIntervalMs;
    const claimed = await db.write((tx) =>
      claimExecutor(tx, id, {
        owner,
        now: clock.now(),
        until: clock.now() + leaseMs,
        next_evaluation_at: pushed,
      }),
    );
    if (!claimed) return;
    const settings = await readSettings(db.read, options.connections.targetKind, id);
    const before = await findExecutor(db.read, id);
    const previous = before === null ? null : observationOf(before);
    const [latest] = await recentRunsOf(db.read, id, 1);
    const hasWaitingRun = latest?.state === "pending" && latest.approval !== null;
    const { comparison, problem, unknown_settings, plan } = await look(settings, previous, hasWaitingRun, signal);
    const isQueued = await db.write(async (tx) => {
      const row = await findExecutor(tx, id);
      if (row === null || row.lease_owner !== owner) return false;
      const now = clock.now();
      const counted = options.counted.now();
      const changes = endedDeferrals(row, comparison, counted);
      // As of now, not as of the start of this evaluation.
      const decided = { ...row, ...changes };
      const updates = comparison.services.filter(({ difference }) => isUpdate(difference));
      const deferred = whyDeferred(decided, updates, { now: counted, stage: "decision" });
      if (deferred !== null) await options.withdrawWaiting(tx, id, deferred);
      else if (plan !== null) {
        await options.reviewWaiting(tx, id, {
          settings,
          plan_hash: plan.plan?.hash ?? null,
          desired_revision: plan.wanted_revision,
          unmet: plan.unmet?.message ?? null,
        });
      }
      const decision = decide({
        settings,
        comparison,
        problem,
        is_unaccepted: unacceptedSettings(settings, unknown_settings ?? []) !== null,
        previous,
        decided,
        deferred,
        recent: await recentRunsOf(tx, id, recentRuns),
        highest: (revision) => highestAttempt(tx, id, revision),
        zone: options.timezone(),
        now,
      });
      const { start, waiting, next_evaluation_at } = await decision;
      const observation: Observation = {
        services: [...comparison.services],
        unbound: [...comparison.unbound],
        problem,
        waiting,
        desired_revision: comparison.wanted_revision,
      };
      await updateExecutorRow(tx, id, {
        ...changes,
        observed: observation,
        // Without an inspection the earlier time stays.
        ...(unknown_settings === null ? {} : { observed_at: now, unknown_settings: unknown_settings.map(toText) }),
        lease_owner: null,
        lease_until: null,
        // If it was made due meanwhile, it needs another evaluation.
        ...(row.next_evaluation_at === pushed ? { next_evaluation_at } : {}),
      });
      // The end of a run makes it due and stores what it left; this inspection may have been before that.
      if (unknown_settings !== null && row.next_evaluation_at === pushed) {
        await recordVersions(tx, id, comparison.services, { by: "look", before: row.observed_at, now });
      }
      return start !== null && (await options.createRun(tx, { executor_id: id, ...start }));
    });
    if (isQueued) {
      log.info("Automatic run queued", { executor: settings.name });
      options.onRunQueued?.();
    }
  };

  return {
    name: "evaluations",
    due_times: evaluationDueTimes({ pause_ms: observationIntervalMs, lease_ms: leaseMs }),
    /** Maximum at once: each opens a session on a runtime. */
    concurrency: 4,
    per_key: 1,
    on_stop: "abort" as const,
    due: async (now: number, limit: number): Promise<{ id: string }[]> => await dueExecutors(db.read, { now, limit }),
    keyOf: (item: { id: string }): string => item.id,
    /** Claims the executor, so that two instances never evaluate it at once, then evaluates it. */
    perform: (item: { id: string }, signal: AbortSignal): Promise<void> => evaluate(item.id, signal),
  };
}

/** The deferrals that are over: an expired snooze, and skipped versions that are installed or older than the installed one. */
function endedDeferrals(
  row: Pick<ExecutorRow, "snoozed_until" | "skipped_versions">,
  { outlived }: Comparison,
  counted: number,
): Partial<Pick<ExecutorRow, "snoozed_until" | "snoozed_ms" | "skipped_versions">> {
  const isOver = (skipped: SkippedVersion) =>
    outlived.some((each) => each.service === skipped.service && identityOf(each) === identityOf(skipped));
  const hasPassed = row.snoozed_until !== null && !isSnoozed(row, counted);
  return {
    ...(hasPassed ? { snoozed_until: null, snoozed_ms: null } : {}),
    ...(row.skipped_versions.some(isOver)
      ? { skipped_versions: row.skipped_versions.filter((skipped) => !isOver(skipped)) }
      : {}),
  };
}

interface Look {
  comparison: Comparison;
  problem: Observation["problem"];
  /** Null if the runtime was not queried or did not respond; the comparison then uses the last observation. */
  unknown_settings: readonly Message[] | null;
  /** What a run would do now; null unless a run awaits approval or its window. */
  plan: PlannedUpdate | null;
}

/** The target as last observed, so that what it runs stays known while its runtime does not respond. */
function lastSeen(settings: ExecutorSettings, previous: Observation | null): Target | null {
  const services = (previous?.services ?? []).flatMap(({ found }) => (found === null ? [] : [seenService(found)]));
  if (services.length === 0) return null;
  return { ref: settings.target, name: settings.target.id, services, refusals: [], warnings: [], labels: {} };
}

interface DecisionInput {
  settings: ExecutorSettings;
  comparison: Comparison;
  problem: Observation["problem"];
  /** Unreported settings are not accepted: one run is skipped for that, and no other starts until they are. */
  is_unaccepted: boolean;
  /** What the previous evaluation saw. */
  previous: Observation | null;
  decided: Deferral;
  /** Why, by that, no automatic run starts. */
  deferred: DeferralReason | null;
  recent: readonly RunSummary[];
  highest: (revision: string) => Promise<number>;
  zone: string;
  now: number;
}

/** Whether a run starts now, and if not, when to check again. */
async function decide(input: DecisionInput): Promise<Decision> {
  const { settings, comparison, problem, deferred, recent, zone, now } = input;
  const isLost = problem !== null && !rearmed.has(problem.code);
  const again = Math.min(
    now + (isLost ? unreachableIntervalMs : observationIntervalMs),
    comparison.ready_at === null ? Number.POSITIVE_INFINITY : Math.max(comparison.ready_at, now + 1000),
  );
  const nothing = (waiting: Observation["waiting"] = null, at = again): Decision => ({
    start: null,
    waiting,
    next_evaluation_at: Math.min(at, again),
  });
  const { trigger } = settings;
  if (trigger === "manual" || !settings.is_enabled || recent.some(isActive)) return nothing();
  if (deferred !== null) {
    // Once a minute while the clock says that a snooze is over and counted time does not.
    const until = deferred.code === "snoozed" ? input.decided.snoozed_until : null;
    return nothing(null, until === null ? again : Math.max(until, now + minuteMs));
  }
  const revision = comparison.wanted_revision;
  if (revision === null) {
    return nothing(comparison.ready_at === null ? null : { reason: "age", until: comparison.ready_at });
  }
  // A runtime that does not respond says nothing about the target: wait silently.
  if (problem !== null && problem.code !== "connection_disabled" && problem.code !== "target_missing") return nothing();
  const isKnownToDiffer = comparison.services.some(
    (service) => isUpdate(service.difference) && !isSkipped(input.decided, service),
  );
  if (problem !== null && !wasDueBefore(input.previous, revision)) return nothing();
  if (problem === null && !isKnownToDiffer) {
    return nothing(comparison.ready_at === null ? null : { reason: "age", until: comparison.ready_at });
  }
  const verdict = mayStart(revision, recent, problem !== null || input.is_unaccepted, now);
  if (verdict === "never") return nothing();
  if (verdict !== "now") return nothing({ reason: "retry", until: verdict }, verdict);
  if (trigger === "window") {
    if (settings.window === null) return nothing();
    if (currentOpening(settings.window, zone, now) === null) {
      const opens = nextOpenings(settings.window, zone, now, 1)[0]?.opens_at ?? null;
      return nothing({ reason: "window", until: opens }, opens ?? again);
    }
  }
  const attempt = (await input.highest(revision)) + 1;
  return { start: { trigger, desired_revision: revision, attempt }, waiting: null, next_evaluation_at: again };
}

/** For a target that cannot be inspected: whether a run for this revision is due, by the last observation. */
function wasDueBefore(previous: Observation | null, revision: string): boolean {
  if (previous === null) return false;
  if (previous.desired_revision !== revision || previous.waiting !== null) return true;
  return previous.services.some((service) => isUpdate(service.difference));
}

/**
 * Whether an automatic run for a revision may start, by the latest runs: once each time the revision becomes the desired one, once more
 * after a transport failure, and again after a skip whose condition is now met. `recent` is newest first.
 */
function mayStart(
  revision: string,
  recent: readonly RunSummary[],
  isUnmet: boolean,
  now: number,
): "now" | "never" | number {
  const updates = recent.filter((run) => run.kind === "update");
  const since = updates.findIndex((run) => run.desired_revision !== null && run.desired_revision !== revision);
  const own = updates
    .slice(0, since === -1 ? undefined : since)
    // A manual run that was skipped before it had a plan says nothing about the revision.
    .filter((run) => run.desired_revision === revision && !(run.trigger === "manual" && run.state === "skipped"));
  const [last] = own;
  if (last === undefined) return "now";
  const code = last.reason_code ?? "";
  if (last.state === "skipped") return rearmed.has(code) && !isUnmet ? "now" : "never";
  // The plan changed after its approval: a new run is needed for the current one.
  if (last.state === "failed" && code === "target_changed" && last.trigger !== "manual")
    return isUnmet ? "never" : "now";
  const isRetryable = last.state === "failed" && retryable.has(code) && last.serving !== "none";
  // A manual run with such a failure does not count as an attempt.
  const faults = own.filter((run) => run.state === "failed" && run.trigger !== "manual").length;
  if (!isRetryable || faults > 1 || last.ended_at === null) return "never";
  const at = last.ended_at + retryDelayMs;
  return at <= now ? "now" : at;
}
