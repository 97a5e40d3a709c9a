import type { Writer } from "../db/client.ts";
import { SaidError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { giveBack } from "./consent.ts";
import type { RunContext } from "./context.ts";
import { type RunAhead, runsAtWork } from "./queries.ts";
import { type StoredPlan, storedPlan } from "./stored-plan.ts";

/** When a run that met another at work on one of its containers is taken up again; later once it lasts, as each time is journalled. */
const retryMs = 5_000;
const lateRetryMs = 60_000;

/** Another run works on a container of this one's plan: both at once would take each other's containers for strangers. */
export class Overlap extends SaidError {}

/**
 * Throws `Overlap` within the transaction in which a run begins to work. A connection may let several runs work at once, and a
 * container moves with another executor's target where it shares a namespace with it.
 */
export async function refuseOverlap(tx: Writer, context: RunContext, plan: StoredPlan): Promise<void> {
  const { deps, run, settings } = context;
  const met = await findOverlap(tx, deps, { id: run.id, connection_id: settings.connection_id, plan });
  if (met === null) return;
  const { id, executor, container } = met;
  throw new Overlap(say("runs.waits_for_container", { run: id, executor, container }));
}

/** The run at work on one of these containers, and which; null when there is none. */
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

/** Lets go of the run until the other one has ended. */
export async function awaitOther(context: RunContext, { said }: Overlap): Promise<void> {
  const { deps, run } = context;
  const now = deps.clock.now();
  const due = now + Math.min(lateRetryMs, Math.max(retryMs, Math.round((now - run.created_at) / 10)));
  await deps.db.write((tx) => giveBack(tx, context, due, { reason_code: "waiting_for_connection", reason: said }));
  deps.changes.announce(context.run.id);
}
