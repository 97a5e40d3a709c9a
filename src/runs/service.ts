import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import { isUniqueViolation, type Writer } from "../db/client.ts";
import { AppError, invalidInput, notFound } from "../errors.ts";
import type { DeferralReason } from "../executors/deferral-schema.ts";
import { outageView, servings } from "../executors/outage-schema.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { newId } from "../ids.ts";
import { issue, plain, say, toldAs } from "../messages/message.ts";
import { versionsOf } from "./advance.ts";
import { approvals, type Via } from "./approvals.ts";
import { createRunChanges, stepView, watchRun } from "./changes.ts";
import type { RunnerOptions } from "./context.ts";
import { logViews } from "./last-logs.ts";
import { deleteLog, logsOfRun } from "./log-queries.ts";
import {
  activeRunOf,
  appendStep,
  executorOfRun,
  findRun,
  hasAttempt,
  insertRun,
  type ListedRun,
  namesOfExecutors,
  newestRunOf,
  outageOf,
  type RunRow,
  runLists,
  runsByIds,
  stepsAfter,
} from "./queries.ts";
import { runRunner } from "./runner.ts";
import {
  type NewAutomaticRun,
  RunContainer,
  type RunDetailView,
  RunInput,
  type RunStepView,
  type RunView,
  reasonCodes,
  runList,
  type SeenWhileWaiting,
} from "./schema.ts";
import { findSnapshot } from "./snapshot-queries.ts";

export type RunService = ReturnType<typeof runService>;

export interface RunServiceOptions extends Omit<RunnerOptions, "changes"> {
  /** Called when a run is queued, so that it does not wait for the next tick. */
  onDue?: () => void;
}

export const StepQuery = v.object({
  after_seq: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,9}$/, issue("fields.whole_number")),
      v.transform(Number),
      v.description("Steps after this one"),
    ),
    "0",
  ),
});

/** More steps than a page of a run shows. */
const maxShownSteps = 2_000;

function viewOf(run: ListedRun, executor: string): RunView {
  return {
    id: run.id,
    executor_id: run.executor_id,
    executor,
    kind: run.kind,
    state: run.state,
    trigger: run.trigger,
    attempt: run.attempt,
    reason_code: reasonCodes.find((code) => code === run.reason_code) ?? null,
    ...toldAs("reason", run.reason),
    ...versionsOf(run),
    snapshot_id: run.snapshot_id,
    ignore_window: run.ignore_window,
    plan_hash: run.plan_hash,
    approval: run.approval,
    approval_until: run.approval_until,
    serving: servings.find((serving) => serving === run.serving) ?? null,
    downtime_ms: run.downtime_ms,
    ready_ms: run.ready_ms,
    progress: run.progress === null ? null : { ...run.progress },
    created_at: run.created_at,
    started_at: run.started_at,
    ended_at: run.ended_at,
    cleanup_due_at: run.cleanup_due_at,
    outage: outageView(run),
  };
}

function runActive(id: string): AppError {
  return new AppError("run_active", 409, say("runs.in_progress", { run: id }), {
    fields: { active_run_id: plain(id) },
  });
}

function runSince(id: string | null): AppError {
  return new AppError("run_since", 409, say("runs.run_since"), {
    fields: id === null ? {} : { newest_run_id: plain(id) },
  });
}

/** Runs: queued manually or by an evaluation, performed by the first process that claims them, reported step by step. */
export function runService(options: RunServiceOptions) {
  const { db, clock, audit } = options;
  const changes = createRunChanges();
  const runner = runRunner({ ...options, changes });
  const approval = approvals(options);
  const queued = (id: string) => {
    changes.announce(id);
    options.onDue?.();
  };

  const getRow = async (id: string): Promise<{ run: RunRow; executor: string }> => {
    const run = await findRun(db.read, id);
    const executor = run === null ? null : await executorOfRun(db.read, run.executor_id);
    if (run === null || executor === null) throw notFound("run", id);
    return { run, executor: executor.name };
  };

  const view = async (id: string): Promise<RunView> => {
    const { run, executor } = await getRow(id);
    return viewOf(run, executor);
  };

  const insertManual = async (tx: Writer, actor: Actor, executorId: string, input: RunInput, id: string) => {
    const executor = await executorOfRun(tx, executorId);
    if (executor === null) throw notFound("executor", executorId);
    if (input.newest_run_id !== undefined) {
      const newest = await newestRunOf(tx, executorId);
      if (newest !== input.newest_run_id) throw runSince(newest);
    }
    const active = await approval.makeRoom(tx, executorId);
    if (active !== null) throw runActive(active.id);
    const snapshot = input.snapshot_id === undefined ? null : await findSnapshot(tx, input.snapshot_id);
    if (input.snapshot_id !== undefined && snapshot?.executor_id !== executorId) {
      throw invalidInput({
        snapshot_id: say("runs.no_such_snapshot", { executor: executor.name, snapshot: input.snapshot_id }),
      });
    }
    const kind = snapshot === null ? "update" : "rollback";
    const now = clock.now();
    await insertRun(tx, {
      id,
      executor_id: executorId,
      kind,
      state: "pending",
      trigger: "manual",
      expected_plan_hash: input.plan_hash ?? null,
      snapshot_id: snapshot?.id ?? null,
      ignore_window: input.ignore_window,
      due_at: now,
      created_at: now,
    });
    await appendStep(tx, { run_id: id, step: "queue", phase: "finish", facts: { trigger: "manual" }, at: now });
    await audit(tx, actor, {
      event: kind === "rollback" ? "rollback_started" : "run_started",
      outcome: "ok",
      subject: { kind: "run", id, name: executor.name },
      detail: { snapshot_id: snapshot?.id ?? null, has_plan_hash: input.plan_hash !== undefined },
    });
  };

  const viewsOf = async (rows: readonly ListedRun[]): Promise<RunView[]> => {
    const names = await namesOfExecutors(
      db.read,
      rows.map((row) => row.executor_id),
    );
    return rows.map((row) => viewOf(row, names.get(row.executor_id) ?? row.executor_id));
  };

  return {
    /** Newest first. */
    ...listOperations({
      shape: runList,
      page: (ask) => runLists.page(db.read, null, ask),
      counts: (ask) => runLists.counts(db.read, null, ask),
      views: viewsOf,
    }),

    /** Existing ones, in the given order. */
    byIds: async (ids: readonly string[]): Promise<RunView[]> => await viewsOf(await runsByIds(db.read, ids)),

    get: async (id: string): Promise<RunDetailView> => {
      const { run, executor } = await getRow(id);
      const steps = await stepsAfter(db.read, id, 0, maxShownSteps);
      const containers = v.parse(v.fallback(v.array(RunContainer), []), run.containers ?? []);
      return {
        ...viewOf(run, executor),
        containers,
        plan: run.plan === null ? null : { ...run.plan },
        steps: steps.map(stepView),
        logs: logViews(await logsOfRun(db.read, id), options),
      };
    },

    /** Deletes one of the stored logs, such as one that cannot be decrypted and so prevents the rotation of the key. */
    removeLog: async (actor: Actor, id: string, logId: string): Promise<void> => {
      const { executor } = await getRow(id);
      await db.write(async (tx) => {
        const log = await deleteLog(tx, id, logId);
        if (log === null) throw notFound("run_log", logId);
        await audit(tx, actor, {
          ...{ event: "run_log_deleted", outcome: "ok", subject: { kind: "run", id, name: executor } },
          detail: { container: log.container },
        });
      });
      changes.announce(id);
    },

    /** The steps after `after_seq`, in order. */
    steps: async (id: string, query: unknown): Promise<{ items: readonly RunStepView[] }> => {
      const { after_seq } = parseInput(StepQuery, query);
      await getRow(id);
      return { items: (await stepsAfter(db.read, id, after_seq, maxShownSteps)).map(stepView) };
    },

    /**
     * Queues a manual run: an update, or with `snapshot_id` a rollback. Throws `run_active` with the other run's ID if the executor has an
     * active run, and `run_since` with the newest run's ID if the caller named another one.
     */
    create: async (actor: Actor, executorId: string, input: unknown): Promise<RunView> => {
      const parsed = parseInput(RunInput, input ?? {});
      const id = newId(clock.now());
      try {
        await db.write((tx) => insertManual(tx, actor, executorId, parsed, id));
      } catch (error) {
        // Another process queued a run at the same moment.
        const active = isUniqueViolation(error) ? await activeRunOf(db.read, executorId) : null;
        if (active === null) throw error;
        throw runActive(active.id);
      }
      queued(id);
      return await view(id);
    },

    /** The run without its plan and its steps. */
    view,

    /**
     * Approves or refuses the plan of this hash for a run that awaits approval; takes effect once. Throws 409 `not_awaiting`,
     * `plan_changed` or `approval_expired`.
     */
    decide: async (actor: Actor, id: string, input: unknown, via: Via = "administrator"): Promise<RunView> => {
      await approval.decide(actor, id, input, via);
      queued(id);
      return await view(id);
    },

    /** For evaluations: called in their transaction before they decide whether to queue a run. */
    reviewWaiting: (tx: Writer, executorId: string, seen: SeenWhileWaiting): Promise<void> =>
      approval.review(tx, executorId, seen),

    /** For evaluations: called instead while automatic runs are deferred. */
    withdrawWaiting: (tx: Writer, executorId: string, why: DeferralReason): Promise<void> =>
      approval.withdraw(tx, executorId, why),

    /** For evaluations: queues an automatic run in the caller's transaction; false if a run, outage or earlier attempt prevents it. */
    createAutomatic: async (tx: Writer, run: NewAutomaticRun): Promise<boolean> => {
      if ((await activeRunOf(tx, run.executor_id)) !== null) return false;
      // An update keeps the state it finds, so a target that is down has to be started first.
      if ((await outageOf(tx, run.executor_id)) !== null) return false;
      if (await hasAttempt(tx, run.executor_id, run.desired_revision, run.attempt)) return false;
      const now = clock.now();
      const id = newId(now);
      await insertRun(tx, { id, kind: "update", state: "pending", ...run, due_at: now, created_at: now });
      await appendStep(tx, { run_id: id, step: "queue", phase: "finish", facts: { trigger: run.trigger }, at: now });
      return true;
    },

    /** The steps of a run after `afterSeq` as they happen, whichever process performs it; see `watchRun`. */
    watch: (id: string, afterSeq: number, signal: AbortSignal, whileDown = false): AsyncIterable<RunStepView> =>
      watchRun({ read: db.read, clock, changes }, id, afterSeq, signal, whileDown),
    /** Calls back with the ID of each run that changed in this process. */
    onChange: changes.subscribe,

    /** For the scheduler. */
    work: runner.work,
    /** For a process that is alone on its database: work of the previous process is due now. */
    takeOver: runner.takeOver,
  };
}
