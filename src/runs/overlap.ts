import type { Writer } from "../db/client.ts";
import { SaidError } from "../errors.ts";
import { say } from "../messages/message.ts";
import type { RunContext } from "./context.ts";
import { giveBack } from "./pending.ts";
import { type RunAhead, runsAtWork } from "./queries.ts";
import { type StoredPlan, storedPlan } from "./stored-plan.ts";

/** When to retry a run whose container another run is working on; the pause grows, because each attempt is journalled. */
const retryMs = 5_000;
const lateRetryMs = 60_000;

/** Another run is working on a container in this run's plan: each would take the other's containers for foreign ones. */
export class Overlap extends SaidError {}

/**
 * Throws `Overlap` in the transaction in which a run starts work. A connection may allow several runs at once, and a container that shares
 * a namespace with another executor's target is recreated with it.
 */
export async function refuseOverlap(tx: Writer, context: RunContext, plan: StoredPlan): Promise<void> {
  const { deps, run, settings } = context;
  const met = await findOverlap(tx, deps, { id: run.id, connection_id: settings.connection_id, plan });
  if (met === null) return;
  const { id, executor, container } = met;
  throw new Overlap(say("runs.waits_for_container", { run: id, executor, container }));
}

/** The run that is working on one of these containers, and the container; null if there is none. */
export async function findOverlap(
  tx: Writer,
  { clock, connections }: Pick<RunContext["deps"], "clock" | "connections">,
  { id: ownId, connection_id, plan: ownPlan }: { id: string; connection_id: string; plan: StoredPlan },
): Promise<(RunAhead & { container: string }) | null> {
  const own = new Set(ownPlan.parts.map(({ name }) => name));
  for (const { id, executor, plan } of await runsAtWork(tx, connection_id, ownId, clock.now())) {
    const shared = storedPlan(plan, connections.targetKind)?.parts.find(({ name }) => own.has(name));
    if (shared !== undefined) return { id, executor, container: shared.name };
  }
  return null;
}

/** Releases the run, to retry once the other may have ended. */
export async function awaitOther(context: RunContext, { said }: Overlap): Promise<void> {
  const { deps, run } = context;
  const now = deps.clock.now();
  const due = now + Math.min(lateRetryMs, Math.max(retryMs, Math.round((now - run.created_at) / 10)));
  await deps.db.write((tx) => giveBack(tx, context, due, { reason_code: "waiting_for_connection", reason: said }));
  deps.changes.announce(context.run.id);
}
