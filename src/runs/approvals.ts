import type { Actor } from "../auth/schema.ts";
import type { Writer } from "../db/client.ts";
import { AppError, notFound } from "../errors.ts";
import type { DeferralReason } from "../executors/deferral-schema.ts";
import { parseInput } from "../forms/issues.ts";
import { leaseMs } from "../held-lease.ts";
import { newId } from "../ids.ts";
import { type Message, plain, say } from "../messages/message.ts";
import { advance } from "./advance.ts";
import { approveRun, holdWaiting, rescheduleWaiting } from "./approval-queries.ts";
import type { RunnerOptions } from "./context.ts";
import { activeRunOf, appendStep, executorOfRun, findRun, type RunRow } from "./queries.ts";
import { ApprovalInput, type Reason, type SeenWhileWaiting } from "./schema.ts";

/** Where the decision came from: the administrator, or the one-time link in a notification. */
export type Via = "administrator" | "link";

type ApprovalDeps = Pick<
  RunnerOptions,
  "db" | "clock" | "counted" | "audit" | "recordEvent" | "redact" | "executors" | "instance_id"
>;

/** Why no decision is possible; null if one is. */
function whyNot(run: RunRow, hash: string, now: number): AppError | null {
  if (run.state !== "pending" || run.approval !== "awaiting") {
    return new AppError(
      "not_awaiting",
      409,
      say(`runs.${run.approval === "approved" ? "already_approved" : "not_awaiting"}`),
    );
  }
  if (run.plan_hash !== hash) {
    return new AppError("plan_changed", 409, say("runs.plan_changed"), {
      fields: { plan_hash: plain(run.plan_hash ?? "") },
    });
  }
  if ((run.approval_until ?? 0) <= now) {
    return new AppError("approval_expired", 409, say("runs.approval_expired"));
  }
  return null;
}

/** Approvals of waiting runs: given, refused or superseded. */
export function approvals(deps: ApprovalDeps) {
  const { clock } = deps;

  /** Ends a waiting run; false if another process holds it. */
  const end = async (tx: Writer, run: RunRow, reason: Reason, why: string, columns = {}): Promise<boolean> => {
    const now = clock.now();
    const owner = `${deps.instance_id}:${newId(now)}`;
    if ((await holdWaiting(tx, run.id, { owner, now, until: now + leaseMs })) === null) return false;
    await appendStep(tx, { run_id: run.id, step: "approval", phase: "fail", facts: { why }, at: now });
    await advance(deps, tx, run.id, "pending", "skipped", {
      lease: { owner },
      reason,
      columns: { approval: null, ...columns },
    });
    return true;
  };

  /**
   * Ends a run whose plan is out of date. Its revision is cleared, so that another run for it can be queued and request approval again.
   */
  const supersede = (tx: Writer, run: RunRow, reason: Reason): Promise<boolean> =>
    end(tx, run, reason, "superseded", { desired_revision: null });

  const decide = async (tx: Writer, actor: Actor, id: string, input: ApprovalInput, via: Via): Promise<void> => {
    const run = await findRun(tx, id);
    const executor = run === null ? null : await executorOfRun(tx, run.executor_id);
    if (run === null || executor === null) throw notFound("run", id);
    const now = clock.now();
    const refusal = whyNot(run, input.plan_hash, now);
    if (refusal !== null) throw refusal;
    const isApproved = input.decision === "approve";
    if (isApproved) {
      if (!(await approveRun(tx, id, input.plan_hash, now)))
        throw new AppError("not_awaiting", 409, say("runs.decided_meanwhile"));
      await appendStep(tx, { run_id: id, step: "approval", phase: "finish", facts: { via }, at: now });
    } else {
      const message = say(via === "link" ? "runs.refused_by_link" : "runs.refused");
      if (!(await end(tx, run, { code: "not_approved", message }, "refused"))) {
        throw new AppError("not_awaiting", 409, say("runs.decided_meanwhile"));
      }
    }
    await deps.audit(tx, actor, {
      event: isApproved ? "run_approved" : "run_refused",
      outcome: "ok",
      subject: { kind: "run", id, name: executor.name },
      detail: { via, plan_hash: input.plan_hash },
    });
  };

  return {
    /** Takes effect once; throws 409 `not_awaiting`, `plan_changed` or `approval_expired`. */
    decide: (actor: Actor, id: string, input: unknown, via: Via): Promise<void> => {
      const parsed = parseInput(ApprovalInput, input ?? {});
      return deps.db.write((tx) => decide(tx, actor, id, parsed, via));
    },

    /** A manual run implies approval, so a waiting run is withdrawn. Returns the active run if that is not possible. */
    makeRoom: async (tx: Writer, executorId: string): Promise<RunRow | null> => {
      const active = await activeRunOf(tx, executorId);
      if (active === null || active.approval === null) return active;
      return (await supersede(tx, active, noLonger(say("runs.replaced_by_manual")))) ? null : active;
    },

    /** For evaluations: ends a waiting run because automatic runs are deferred. An expired approval is reported first. */
    withdraw: async (tx: Writer, executorId: string, why: DeferralReason): Promise<void> => {
      const run = await activeRunOf(tx, executorId);
      if (run === null || run.state !== "pending" || run.approval === null) return;
      const hasExpired = run.approval === "awaiting" && (run.approval_until ?? 0) <= deps.counted.now();
      if (!hasExpired) await supersede(tx, run, why);
    },

    /** For evaluations: ends a waiting run that is no longer wanted; otherwise applies the current approval policy and window to it. */
    review: async (tx: Writer, executorId: string, seen: SeenWhileWaiting): Promise<void> => {
      const run = await activeRunOf(tx, executorId);
      if (run === null || run.state !== "pending" || run.approval === null) return;
      const why = whySuperseded(run, seen);
      if (why !== null) {
        await supersede(tx, run, noLonger(why));
        return;
      }
      const { settings } = seen;
      const now = clock.now();
      if (run.approval === "awaiting" && !settings.requires_approval) {
        await rescheduleWaiting(tx, run.id, { due_at: now, approval: null, approval_until: null });
        await appendStep(tx, { run_id: run.id, step: "approval", phase: "finish", facts: { via: "policy" }, at: now });
      } else if (run.reason_code === "waiting_for_window") {
        const opens = deps.executors.isWindowOpen(settings) ? now : deps.executors.nextOpening(settings);
        await rescheduleWaiting(tx, run.id, { due_at: opens ?? run.due_at });
      }
    },
  };
}

function noLonger(message: Message): Reason {
  return { code: "not_approved", message };
}

/** Null while the run is still wanted. */
function whySuperseded(run: RunRow, seen: SeenWhileWaiting): Message | null {
  const { settings, plan_hash, desired_revision, unmet } = seen;
  if (run.approval === "awaiting" && settings.trigger === "manual") {
    return say("runs.manual_only", { executor: settings.name });
  }
  if (unmet !== null) return say("runs.nothing_left", { cause: unmet });
  if (desired_revision !== run.desired_revision) return say("runs.other_version");
  return plan_hash === run.plan_hash ? null : say("runs.target_changed_since_plan");
}
