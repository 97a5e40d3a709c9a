import { asc, eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { run_steps } from "../../src/db/tables.ts";
import { leaseMs } from "../../src/held-lease.ts";
import { createLog } from "../../src/log.ts";
import { createRunChanges } from "../../src/runs/changes.ts";
import { openJournal, type RunJournal } from "../../src/runs/journal.ts";
import { holdRun, type Lease } from "../../src/runs/lease.ts";
import { leaseRun } from "../../src/runs/queries.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import { createWorld } from "./run-world.ts";

/** The journal of a run as the product stores it, for processes that know these secrets. */
export async function durableJournal(...secrets: readonly string[]) {
  const world = await createWorld();
  const { db, clock } = world;
  const { register, redact } = createRedactor();
  for (const secret of secrets) register(secret);
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const log = createLog({ level: "error", format: "text", clock, redact: (text) => text, write: () => undefined });
  let lease: Lease | null = null;
  return {
    /** As the first process opens it, and then each next one. */
    open: async (): Promise<RunJournal> => {
      await lease?.stop();
      await clock.advance(leaseMs + 1);
      const [owner, now] = [crypto.randomUUID(), clock.now()];
      const taken = await db.write((tx) => leaseRun(tx, id, { owner, now, until: now + leaseMs }));
      if (taken === null) throw new Error("The run is still leased");
      lease = holdRun({ db, clock, log, run_id: id, owner });
      return await openJournal({ db, clock, log, lease, changes: createRunChanges(), redact });
    },
    /** What the database holds of it. */
    facts: async () => {
      const rows = await db.read.select().from(run_steps).where(eq(run_steps.run_id, id)).orderBy(asc(run_steps.seq));
      return rows.map(({ facts }) => facts);
    },
    progress: async () => (await world.run(id)).progress,
    [Symbol.asyncDispose]: async () => {
      await lease?.stop();
      await world.close();
    },
  };
}
