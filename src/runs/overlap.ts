import type { Writer } from "../db/client.ts";
import type { UpdatePlan } from "../runtimes/runtime.ts";
import { giveBack } from "./consent.ts";
import type { RunContext } from "./context.ts";
import { runsAtWork } from "./queries.ts";
import { storedPlan } from "./stored-plan.ts";

/** When a run that met another at work on one of its containers is taken up again. */
const retryMs = 5_000;

/** Another run works on a container of this one's plan: both at once would take each other's containers for strangers. */
export class Overlap extends Error {}

/**
 * Throws `Overlap` within the transaction in which a run begins to work. A connection may let several runs work at once, and a
 * container moves with another executor's target where it shares a namespace with it.
 */
export async function refuseOverlap(tx: Writer, context: RunContext, plan: UpdatePlan): Promise<void> {
  const { run, settings } = context;
  const own = new Set(plan.containers.map(({ name }) => name));
  for (const other of await runsAtWork(tx, settings.connection_id, run.id)) {
    const shared = storedPlan(other.plan)?.containers.find(({ name }) => own.has(name));
    if (shared === undefined) continue;
    throw new Overlap(`Waits for the run "${other.id}" of "${other.executor}", which works on "${shared.name}"`);
  }
}

/** Lets go of the run until the other one has ended. */
export async function awaitOther(context: RunContext, { message }: Overlap): Promise<void> {
  const { deps } = context;
  const due = deps.clock.now() + retryMs;
  await deps.db.write((tx) => giveBack(tx, context, due, { reason_code: "waiting_for_connection", reason: message }));
  deps.changes.announce(context.run.id);
}
