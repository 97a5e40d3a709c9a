// A process that updates a group of containers and can be told to die by `kill -9` at any write of its journal. Its one argument
// is JSON: see `Arguments`.
import * as v from "valibot";
import { group, updateGroup } from "./group-target.ts";
import { fileJournal } from "./update-process.ts";
import { openSession } from "./update-target.ts";

const Arguments = v.object({
  address: v.string(),
  kind: v.picklist(["docker", "podman"]),
  project: v.string(),
  /** References by service. */
  to: v.record(v.string(), v.string()),
  /** A file with one JSON entry per line. */
  journal: v.string(),
  run_id: v.string(),
  /** The write (from 1) at which it dies; 0 for never. */
  die_at: v.number(),
  die_when: v.picklist(["before", "after"]),
  /** `finish` after the update, or `undo` as after a failed health check. */
  ending: v.picklist(["finish", "undo"]),
});
export type GroupArguments = v.InferOutput<typeof Arguments>;

async function update(options: GroupArguments): Promise<void> {
  const journal = fileJournal(options);
  await using session = await openSession(options.address, { kind: options.kind });
  const ref = group(options.project);
  await updateGroup(session, options.project, options.to, journal);
  if (options.ending === "undo") {
    await session.undo(ref, journal, null);
    return;
  }
  await journal.begin("commit");
  await journal.finish("commit");
  await session.finish(ref, journal);
}

if (import.meta.main) await update(v.parse(Arguments, JSON.parse(process.argv[2] ?? "")));
