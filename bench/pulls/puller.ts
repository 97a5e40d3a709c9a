// Holds ten sessions on one engine and has all of them pull at once, as runs do: with the plan, the progress and a journal on disk.
import * as v from "valibot";
import { allEngineModes } from "../../tests/peers/engine.ts";
import { temporaryDatabase } from "../../tests/support/temporary-database.ts";
import { target } from "../../tests/support/update-target.ts";
import { answerParent, costOf } from "../child.ts";
import { durableRun } from "../downtime/durable-run.ts";
import { openBenchSession } from "../engines.ts";
import { forgetPeak, peakBytes, residentBytes } from "../figures.ts";

const Question = v.object({
  mode: v.picklist(allEngineModes),
  address: v.string(),
  changes: v.array(v.object({ container: v.string(), reference: v.string(), digest: v.string() })),
});

answerParent(async (message) => {
  const { mode, address, changes } = v.parse(Question, message);
  const database = await temporaryDatabase();
  const works: (() => Promise<unknown>)[] = [];
  const ends: (() => Promise<unknown>)[] = [];
  let progressed = 0;
  for (const { container, reference, digest } of changes) {
    const session = await openBenchSession({ mode, address });
    const ref = target(container);
    const plan = await session.plan(ref, [{ kind: "image", service: "main", reference, digest, image_config: null }]);
    const run = await durableRun(database.db, container);
    const journal = {
      ...run.journal,
      progress: (progress: Parameters<typeof run.journal.progress>[0]) => {
        progressed += 1;
        run.journal.progress(progress);
      },
    };
    works.push(() => session.prepare(plan, [], journal));
    ends.push(async () => {
      await run.end();
      await session[Symbol.asyncDispose]();
    });
  }
  // Modules are loaded and plans are made: what is above this is the pulls' own.
  Bun.gc(true);
  await Bun.sleep(1_000);
  const idle_bytes = residentBytes(process.pid);
  forgetPeak();
  const cost = await costOf(() => Promise.all(works.map((work) => work())));
  const peak_bytes = peakBytes();
  for (const end of ends) await end();
  await Bun.sleep(1_000);
  const after_bytes = residentBytes(process.pid);
  await database.close();
  return { idle_bytes, peak_bytes, after_bytes, progressed, ...cost };
});
