import * as v from "valibot";
import { type Message, say } from "../../../messages/message.ts";
import type { Journal } from "../../journal.ts";
import type { Standing, StandingLook } from "../../session.ts";
import type { TargetRef } from "../../target.ts";
import { type ContainerInspect, isRunning, nameOf } from "../objects.ts";
import { judgeReadiness, unready } from "../readiness.ts";
import { look, type RecoverContext } from "../recover.ts";
import type { Situation } from "../situation.ts";
import { runMembers } from "./member-journal.ts";
import { judgeTogether } from "./readiness.ts";

const Left = v.object({
  id: v.string(),
  name: v.string(),
  is_up: v.boolean(),
  started_at: v.nullable(v.string()),
  restarts: v.number(),
});
type Left = v.InferOutput<typeof Left>;

const LeftMember = v.object({
  container: v.string(),
  previous: v.nullable(Left),
  next: v.nullable(Left),
  stranger: v.nullable(v.string()),
});

const LeftMembers = v.object({ members: v.array(LeftMember) });

interface Seen {
  name: string;
  found: Situation;
  was: v.InferOutput<typeof LeftMember> | null;
}

/** What a run left, and what happened to it since; see `RuntimeSession.standing`. */
export async function standingOf(
  context: RecoverContext,
  ref: TargetRef,
  journal: Journal,
  { before, ran_ms }: StandingLook,
): Promise<Standing> {
  const left = v.safeParse(LeftMembers, before);
  const seen: Seen[] = [];
  for (const { name, journal: own } of runMembers(journal, ref)) {
    const was = left.success ? left.output.members.find((each) => each.container === name) : undefined;
    seen.push({ name, found: await look(context, name, own), was: was ?? null });
  }
  const isUp = seen.length > 0 && seen.every(({ found }) => isUpOrResting(found));
  const changes = seen.map(({ name, found, was }) => {
    return was === null ? goneSince(name, found) : changeSince(name, was, found, isUp);
  });
  const judged = seen.flatMap((each) => {
    return isToRun(each.found) ? { name: each.name, readiness: readinessOf(each, ran_ms) } : [];
  });
  return {
    facts: {
      members: seen.map(({ name, found: { previous, next, stranger } }) => ({
        container: name,
        previous: leftOf(previous),
        next: leftOf(next),
        stranger: stranger?.Id ?? null,
      })),
    },
    changed: changes.find((change) => change !== null) ?? null,
    is_up: isUp,
    readiness: judgeTogether(ref, judged),
  };
}

/** Earlier restarts do not count against a container that has been up since. */
function readinessOf({ name, found, was }: Seen, ranMs: number) {
  const holder = holderOf(found);
  if (holder === null) return unready(say("readiness.no_container", { name }));
  const then = [was?.previous, was?.next].find((each) => each?.id === holder.Id && each.is_up);
  const restarts = (holder.RestartCount ?? 0) - (then?.restarts ?? 0);
  return judgeReadiness({ ...holder, RestartCount: Math.max(0, restarts) }, ranMs);
}

function leftOf(container: ContainerInspect | null): Left | null {
  if (container === null) return null;
  const { Id: id, State, RestartCount } = container;
  const started_at = State.StartedAt ?? null;
  return { id, name: nameOf(container), is_up: isRunning(container), started_at, restarts: RestartCount ?? 0 };
}

/** The container with the target's name. */
function holderOf({ names, previous, next, stranger }: Situation): ContainerInspect | null {
  return [stranger, next, previous].find((each) => each !== null && nameOf(each) === names.name) ?? null;
}

/** A run that created nothing yet recorded nothing either: it was supposed to run. */
function isToRun(situation: Situation): boolean {
  const { facts, next } = situation;
  const holder = holderOf(situation);
  if (holder !== null && holder === next) return facts?.is_to_run !== false && facts?.is_job !== true;
  return facts?.was_running !== false;
}

function isUpOrResting(situation: Situation): boolean {
  const { facts } = situation;
  const isResting = facts !== null && ((!facts.was_running && !facts.is_to_run) || facts.is_job === true);
  const holder = holderOf(situation);
  return isResting || (holder !== null && isRunning(holder));
}

/** For a container whose final state was not recorded. */
function goneSince(name: string, { previous, next, stranger }: Situation): Message | null {
  if (stranger !== null) return say("recovery.name_taken", { name });
  return previous === null && next === null ? say("recovery.gone", { name }) : null;
}

function changeSince(
  name: string,
  was: v.InferOutput<typeof LeftMember>,
  { previous, next, stranger, facts }: Situation,
  isUp: boolean,
): Message | null {
  if (stranger !== null && stranger.Id !== was.stranger) return say("recovery.name_taken", { name });
  // What a run created beside a previous container is useful only to the run.
  const [then, now] = was.previous === null ? [was.next, next] : [was.previous, previous];
  if (then === null) return null;
  if (now === null || now.Id !== then.id) return say("recovery.removed", { name: then.name });
  if (nameOf(now) !== then.name) return say("recovery.renamed", { name: then.name, to: nameOf(now) });
  if (now.State.Paused === true) return say("recovery.paused", { name: then.name });
  if (isRunning(now)) {
    const isWanted = isUp || was.previous === null || facts?.was_running !== false;
    return isWanted || then.is_up ? null : say("recovery.started", { name: then.name });
  }
  return isHandled(then, now) ? say("recovery.started_and_stopped", { name: then.name }) : null;
}

/**
 * Whether somebody started or stopped a container that is not running now. A start by the engine's restart policy counts as a restart, a
 * manual one does not; and these policies never leave a container stopped while they handle it.
 */
function isHandled(then: Left, now: ContainerInspect): boolean {
  const policy = v.safeParse(v.object({ Name: v.string() }), now.HostConfig.RestartPolicy);
  const isKeptUp = policy.success && (policy.output.Name === "always" || policy.output.Name === "unless-stopped");
  if (then.is_up) return isKeptUp && (now.State.Error ?? "") === "";
  return (now.RestartCount ?? 0) === 0 && (now.State.StartedAt ?? null) !== then.started_at;
}
