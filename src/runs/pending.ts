import { systemActor } from "../auth/schema.ts";
import type { Writer } from "../db/client.ts";
import type { ExecutorSettings } from "../executors/service.ts";
import { say } from "../messages/message.ts";
import { versionsOf } from "./advance.ts";
import { type EndFacts, endRun, type Held } from "./context.ts";
import { LeaseLost } from "./lease.ts";
import { appendStep, findRun, type RunRow, updateHeldRun } from "./queries.ts";

const hourMs = 60 * 60 * 1000;
/** When to check again for a window that does not open within a year. */
const noOpeningMs = 24 * hourMs;
/** When to check again whether an approval has expired, if the clock says so but counted time does not. */
const disputedMs = 10 * 60_000;

/** Whether a run needs approval before it changes its target; a manual run counts as approved. */
export function needsApproval(run: Pick<RunRow, "kind" | "trigger" | "approval">, settings: ExecutorSettings): boolean {
  return settings.requires_approval && run.kind === "update" && run.trigger !== "manual" && run.approval !== "approved";
}

type HeldWithSettings = Held & { settings: ExecutorSettings };

/** Releases a pending run, due again at `due_at`, without counting its claim as a crash. */
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

/** Stores the plan to approve, records the event and releases the run until it is decided. */
export async function awaitApproval(held: HeldWithSettings, columns: NonNullable<EndFacts["columns"]>): Promise<void> {
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

/** For a run that comes due while it awaits approval: its approval has expired, or it came due too early. */
export async function judgeAwaiting(held: HeldWithSettings): Promise<void> {
  const { deps, run, settings } = held;
  const until = run.approval_until ?? 0;
  // Counted time must agree: a clock that is briefly wrong must not end a wait of days.
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

/** An approved run whose window is closed: it stays approved and waits. */
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
