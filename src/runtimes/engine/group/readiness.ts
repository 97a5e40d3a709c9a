import { type Message, say } from "../../../messages/message.ts";
import type { Journal } from "../../journal.ts";
import type { Readiness } from "../../session.ts";
import type { TargetRef } from "../../target.ts";
import type { EngineClient } from "../client.ts";
import { factsOf } from "../facts.ts";
import { endOf, findMade, judgeReadiness, type Made, unready } from "../readiness.ts";
import { type RunMember, runMembers } from "./member-journal.ts";

/** Judges what a run started, one by one. The run is ready when each is; the verdict is final as soon as one cannot recover. */
export async function judgeRun(
  client: EngineClient,
  ref: TargetRef,
  journal: Journal,
  ranMs: number,
): Promise<Readiness> {
  const judged = await Promise.all(
    startedBy(journal, ref).map(async (made) => {
      const { container, lost } = await findMade(client, made);
      const readiness = lost === null ? judgeReadiness(container, ranMs) : unready(lost);
      return { name: made.name, readiness };
    }),
  );
  return judgeTogether(ref, judged);
}

/** Several verdicts as one. */
export function judgeTogether(ref: TargetRef, judged: readonly { name: string; readiness: Readiness }[]): Readiness {
  const [only] = judged;
  if (only === undefined) return unready(say("readiness.nothing_runs", { name: ref.id }));
  if (judged.length === 1) return only.readiness;
  const unreadyOnes = judged.filter(({ readiness }) => !readiness.ready);
  const final = unreadyOnes.filter(({ readiness }) => !readiness.ready && readiness.final === true);
  // Names the containers at fault; the others were only not finished.
  const shown = final.length > 0 ? final : unreadyOnes.length > 0 ? unreadyOnes : judged;
  const detail = listed(shown.map(({ name, readiness }) => ({ name, said: readiness.detail })));
  if (unreadyOnes.length === 0) return { ready: true, detail };
  return { ready: false, detail, ...(final.length > 0 ? { final: true } : {}) };
}

/** Which of a run's new containers ended; see `RuntimeSession.findEnd`. */
export async function findEndOfRun(client: EngineClient, ref: TargetRef, journal: Journal): Promise<Message | null> {
  const started = startedBy(journal, ref);
  const ends = await Promise.all(
    started.map(async (made) => {
      const { container, lost } = await findMade(client, made);
      const said = lost ?? endOf(container);
      return said === null ? [] : [{ name: made.name, said }];
    }),
  );
  const found = ends.flat();
  const [first] = found;
  if (first === undefined) return null;
  return started.length === 1 ? first.said : listed(found);
}

/** Messages about several containers, each with its name. */
function listed(said: readonly { name: string; said: Message }[]): Message {
  return say("phrases.joined", { items: said.map((each) => say("phrases.about", each)) });
}

/** The new containers that should run; jobs have finished before. */
function startedBy(journal: Journal, ref: TargetRef): readonly Made[] {
  return runMembers(journal, ref)
    .filter((member) => factsOf(member.journal)?.is_to_run !== false)
    .map((member) => madeFor(member) ?? { name: member.name, id: member.name });
}

/** All new containers, whatever became of them. */
export function madeBy(journal: Journal, ref: TargetRef): readonly Made[] {
  return runMembers(journal, ref).flatMap((member) => madeFor(member) ?? []);
}

function madeFor({ name, journal }: RunMember): Made | null {
  const made = journal.entries().findLast(({ step, phase }) => step === "create" && phase === "finish");
  return typeof made?.facts.new_id === "string" ? { name, id: made.facts.new_id } : null;
}
