import * as v from "valibot";
import type { Journal } from "../../journal.ts";
import type { TargetRef } from "../../target.ts";

const Members = v.object({ members: v.array(v.string()) });

/** The journal of one container of a run: entries it writes name the container, and it reads only that container's. */
export function memberJournal(journal: Journal, container: string): Journal {
  const named = (facts: Readonly<Record<string, unknown>> = {}) => ({ ...facts, container });
  return {
    run_id: journal.run_id,
    // Entries without a name belong to the whole run, or to a time when every run had one container.
    entries: () => {
      return journal.entries().filter(({ facts }) => facts.container === undefined || facts.container === container);
    },
    begin: (step, facts) => journal.begin(step, named(facts)),
    finish: (step, facts) => journal.finish(step, named(facts)),
    fail: (step, facts) => journal.fail(step, named(facts)),
    progress: (progress) => journal.progress(progress),
  };
}

/** The containers of a run in start order; every `create` lists them all. */
function membersIn(journal: Journal, ref: TargetRef): readonly string[] {
  for (const { step, facts } of journal.entries()) {
    if (step !== "create") continue;
    const parsed = v.safeParse(Members, facts);
    if (parsed.success) return parsed.output.members;
  }
  return ref.kind === "container" ? [ref.id] : [];
}

export interface RunMember {
  name: string;
  journal: Journal;
}

export function runMembers(journal: Journal, ref: TargetRef): readonly RunMember[] {
  return membersIn(journal, ref).map((name) => ({ name, journal: memberJournal(journal, name) }));
}
