import { systemActor } from "../auth/schema.ts";
import type { Writer } from "../db/client.ts";
import type { ExecutorSettings } from "../executors/service.ts";
import { say } from "../messages/message.ts";
import { versionsOf } from "./advance.ts";
import { type EndFacts, endRun, type Held } from "./context.ts";
import { LeaseLost } from "./lease.ts";
import { appendStep, findRun, type RunRow, updateHeldRun } from "./queries.ts";

const hourMs = 60 * 60 * 1000;
/** When it is looked again for a window that does not open within a year. */
const noOpeningMs = 24 * hourMs;
/** When it is looked again whether the time for consent is over, which the clock says and the counted time does not. */
const disputedMs = 10 * 60_000;

/** Whether a run stops and asks before it changes its target; a manual run counts as approved. */
export function needsConsent(run: Pick<RunRow, "kind" | "trigger" | "approval">, settings: ExecutorSettings): boolean {
  return settings.requires_approval && run.kind === "update" && run.trigger !== "manual" && run.approval !== "approved";
}

type HeldWithSettings = Held & { settings: ExecutorSettings };

/** Gives a pending run back in good order: the claim counts for nothing, and it is due again at `due_at`. */
export async function giveBack(
  tx: Writer,
  { deps, run, lease }: Held,
  due_at: number,
  columns: Parameters<typeof updateHeldRun>[3] = {},
): Promise<void> {
  const isMine = await updateHeldRun(tx, run.id, lease.owner, {
    reason_code: null,
    reason: null,
    ...columns,
    due_at,
    started_at: null,
    lease_owner: null,
    lease_until: null,
  });
  if (!isMine) throw new LeaseLost(run.id);
  await appendStep(tx, { run_id: run.id, step: "claim", phase: "finish", facts: {}, at: deps.clock.now() });
}

/** Stores the plan that is asked about, tells those who want to know, and lets go of the run until somebody decided. */
export async function awaitConsent(held: HeldWithSettings, columns: NonNullable<EndFacts["columns"]>): Promise<void> {
  const { deps, run, settings } = held;
  const now = deps.clock.now();
  const approval_until = now + settings.approval_hours * hourMs;
  const planHash = columns.plan_hash ?? "";
  await deps.db.write(async (tx) => {
    await giveBack(tx, held, approval_until, { ...columns, approval: "awaiting", approval_until });
    const facts = { approval_until, plan_hash: planHash };
    await appendStep(tx, { run_id: run.id, step: "approval", phase: "begin", facts, at: now });
    const stored = await findRun(tx, run.id);
    if (stored === null) throw new LeaseLost(run.id);
    await deps.recordEvent(tx, {
      kind: "executor_run_awaiting_approval",
      executor_id: run.executor_id,
      facts: {
        executor: settings.name,
        run: run.id,
        kind: "update",
        ...versionsOf(stored),
        target: settings.target.id,
        plan_hash: planHash,
        approval_until,
      },
    });
  });
  deps.log.info("Run awaits approval", { run: run.id, executor: settings.name, until: approval_until });
  deps.changes.announce(run.id);
}

/** A run that awaits consent and is taken up all the same: its time is over, or it was too early to look. */
export async function judgeAwaiting(held: HeldWithSettings): Promise<void> {
  const { deps, run, settings } = held;
  const until = run.approval_until ?? 0;
  // By both, so that no clock that is wrong for a moment ends what a person has days for.
  if (deps.counted.now() < until) {
    const now = deps.clock.now();
    await deps.db.write((tx) => giveBack(tx, held, until > now ? until : now + disputedMs));
    deps.changes.announce(run.id);
    return;
  }
  const message = say("runs.approval_timed_out", { executor: settings.name });
  await endRun(held, "pending", "skipped", {
    reason: { code: "not_approved", message },
    columns: { approval: null },
    also: async (tx) => {
      const at = deps.clock.now();
      await appendStep(tx, { run_id: run.id, step: "approval", phase: "fail", facts: { why: "expired" }, at });
      await deps.audit(tx, systemActor, {
        event: "run_approval_expired",
        outcome: "ok",
        subject: { kind: "run", id: run.id, name: settings.name },
        detail: { plan_hash: run.plan_hash },
      });
    },
  });
}

/** An approved run whose window is closed: it keeps its consent and waits. */
export async function awaitWindow(held: HeldWithSettings): Promise<void> {
  const { deps, run, settings } = held;
  const opens = deps.executors.nextOpening(settings) ?? deps.clock.now() + noOpeningMs;
  await deps.db.write((tx) =>
    giveBack(tx, held, opens, {
      reason_code: "waiting_for_window",
      reason: say("runs.waits_for_window", { executor: settings.name }),
    }),
  );
  deps.changes.announce(run.id);
}
