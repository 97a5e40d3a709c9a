import { openSync, writeSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import type { Database } from "../../src/db/client.ts";
import { connections, executors, runs } from "../../src/db/tables.ts";
import { newId } from "../../src/ids.ts";
import { createLog } from "../../src/log.ts";
import { createRunChanges } from "../../src/runs/changes.ts";
import { openJournal, type RunJournal } from "../../src/runs/journal.ts";
import { holdRun } from "../../src/runs/lease.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";

const owner = "bench";

/** A run that this process holds, with its journal in the database: every step is on the disk before it is taken, as in the product. */
export async function durableRun(db: Database, name: string): Promise<{ journal: RunJournal; end(): Promise<void> }> {
  const now = systemClock.now();
  const [connection_id, executor_id, run_id] = [newId(now), newId(now), newId(now)];
  const times = { created_at: now, updated_at: now };
  await db.write(async (tx) => {
    await tx.insert(connections).values({ id: connection_id, name: run_id, kind: "docker", config: {}, ...times });
    await tx.insert(executors).values({
      ...{ id: executor_id, name: run_id, connection_id, target_kind: "container", target_id: name, ...times },
      ...{ trigger: "manual", image_selection: "keep_name", reference_mode: "tag", health_check: {} },
      restore_on_failure: true,
    });
    await tx.insert(runs).values({
      ...{ id: run_id, executor_id, kind: "update", state: "updating", trigger: "manual", due_at: now },
      ...{ lease_owner: owner, lease_until: now + 30_000, created_at: now },
    });
  });
  const { redact } = createRedactor();
  const nowhere = openSync("/dev/null", "w");
  const log = createLog({
    level: "info",
    format: "text",
    clock: systemClock,
    redact,
    write: (line) => writeSync(nowhere, line),
  });
  const lease = holdRun({ db, clock: systemClock, log, run_id, owner });
  const journal = await openJournal({ db, clock: systemClock, log, lease, changes: createRunChanges(), redact });
  return { journal, end: () => lease.stop() };
}
