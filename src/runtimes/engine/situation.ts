import type { Journal } from "../journal.ts";
import { noRestart, restartPolicyOf } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { factsOf, hasEntry, type TargetFacts } from "./facts.ts";
import { nameInList, ownLabels, type RunNames, runNames, runOf } from "./names.ts";
import { type ContainerInspect, isRunning, nameOf } from "./objects.ts";
import { isSame, type RawObject } from "./raw.ts";
import { orNull } from "./survey.ts";

/** What a run has on the engine now, and what it had before, according to the journal. */
export interface Situation {
  names: RunNames;
  /** The container that the run found: under its own name, its backup name, or a name that somebody gave it. */
  previous: ContainerInspect | null;
  /** The one that the run created, by its label. */
  next: ContainerInspect | null;
  /** A container with the target's name that is neither: somebody else created it. */
  stranger: ContainerInspect | null;
  facts: TargetFacts | null;
  /** A stop of the previous one may still be in progress: it began, and neither finished nor was refused. */
  is_stop_pending: boolean;
  /** Whether containers of this engine keep the restart policy that they were created with. */
  is_policy_fixed: boolean;
  /** Containers already started on this way, so that one that ends at once is not started again and again. */
  started: ReadonlySet<string>;
}

export async function findSituation(
  client: EngineClient,
  name: string,
  journal: Journal,
  started: ReadonlySet<string> = new Set(),
): Promise<Situation> {
  const names = runNames(name, journal.run_id);
  const facts = factsOf(journal);
  const listed = await client.listContainers();
  const made = listed.find((each) => runOf(each.Labels) === journal.run_id && each.Labels?.[ownLabels.name] === name);
  const others = listed.filter((each) => each.Id !== made?.Id);
  const kept =
    others.find((each) => nameInList(each) === names.aside) ??
    others.find((each) => {
      const isKnown = facts?.old_id === undefined || each.Id === facts.old_id;
      return nameInList(each) === name && (isKnown || each.Labels?.[ownLabels.remade] === journal.run_id);
    }) ??
    // Somebody renamed it.
    others.find((each) => each.Id === facts?.old_id);
  const holder = others.find((each) => nameInList(each) === name && each.Id !== kept?.Id);
  const inspect = (id: string | undefined) => (id === undefined ? null : orNull(client.inspectContainer(id)));
  const [previous, next, stranger] = await Promise.all([inspect(kept?.Id), inspect(made?.Id), inspect(holder?.Id)]);
  return {
    names,
    previous,
    next,
    stranger,
    facts,
    is_stop_pending: isStopPending(journal, facts),
    is_policy_fixed: !client.flavour.changesRestartPolicy,
    started,
  };
}

function isStopPending(journal: Journal, facts: TargetFacts | null): boolean {
  if (!hasEntry(journal, "stop", "begin") || facts?.was_running !== true) return false;
  const end = journal.entries().findLast(({ step, phase }) => step === "stop" && phase !== "begin");
  return end === undefined || (end.phase === "fail" && end.facts.may_follow === true);
}

/** One change on the engine. After each, the engine is inspected again to find the next. */
export type Move =
  | { do: "stop" | "start"; container: ContainerInspect }
  /** `with_anonymous`: also removes the volumes that only this container has; carried ones are mounted by name and stay. */
  | { do: "remove"; container: ContainerInspect; with_anonymous: boolean }
  | { do: "rename"; container: ContainerInspect; name: string }
  | { do: "policy"; container: ContainerInspect; policy: RawObject };

/**
 * The next step towards "the previous one is as it was, the new one is gone"; null once that is reached. The new one is removed last,
 * because it is the fallback if the previous one does not start; it is removed earlier only if it cannot be kept stopped, and by `travel`
 * if it keeps its ports.
 */
export function moveBack(situation: Situation): Move | null {
  const { names, previous, next, stranger, facts } = situation;
  if (previous !== null) {
    // If it were stopped with the policy `always`, a restarting engine would start it again beside the previous one.
    if (next !== null && wasStarted(next) && hasOtherPolicy(situation, next, noRestart)) {
      return { do: "policy", container: next, policy: noRestart };
    }
    if (next !== null && isRunning(next)) return { do: "stop", container: next };
    if (next !== null && isAboutToRestart(situation, next)) {
      return { do: "remove", container: next, with_anonymous: true };
    }
    if (next !== null && nameOf(next) === names.name) return { do: "rename", container: next, name: names.next };
    // A stop in progress ends a container that still looks running: wait for it by requesting the same stop again.
    if (situation.is_stop_pending && isUntouchedSince(previous, facts)) return { do: "stop", container: previous };
    if (stranger === null && nameOf(previous) !== names.name) {
      return { do: "rename", container: previous, name: names.name };
    }
    if (stranger === null && facts !== null) {
      if (hasOtherPolicy(situation, previous, facts.restart_policy)) {
        return { do: "policy", container: previous, policy: facts.restart_policy };
      }
      if (facts.was_running && !isUp(situation, previous)) return { do: "start", container: previous };
    }
  }
  // There is no previous one, and another container has the name. Engines do not remove a running container.
  if (next !== null && isRunning(next)) return { do: "stop", container: next };
  return next === null ? null : { do: "remove", container: next, with_anonymous: previous !== null };
}

function isUntouchedSince(container: ContainerInspect, facts: TargetFacts | null): boolean {
  return isRunning(container) && facts !== null && container.State.StartedAt === facts.old_started_at;
}

function hasOtherPolicy(situation: Situation, container: ContainerInspect, policy: RawObject): boolean {
  return !situation.is_policy_fixed && !isSame(restartPolicyOf(container), policy);
}

/**
 * Whether it ended by itself and the engine will restart it, by a policy that cannot be changed: stopping it has no effect, and once
 * restarted it would hold the ports of the previous one. A container that ends by itself is no fallback.
 */
function isAboutToRestart(situation: Situation, container: ContainerInspect): boolean {
  const hasPolicy = !isSame(restartPolicyOf(container), noRestart);
  return situation.is_policy_fixed && hasPolicy && container.State.Releasing === true;
}

function isUp(situation: Situation, container: ContainerInspect): boolean {
  return isRunning(container) || situation.started.has(container.Id);
}

/** The next step towards "the new one has the name, and runs if it should"; the previous one is kept as a stopped backup. */
export function moveForward(situation: Situation): Move | null {
  const { names, previous, next, stranger, facts } = situation;
  if (next === null || stranger !== null) return null;
  // A previous one that somebody renamed is left alone.
  if (previous !== null && (nameOf(previous) === names.name || nameOf(previous) === names.aside)) {
    if (hasOtherPolicy(situation, previous, noRestart)) return { do: "policy", container: previous, policy: noRestart };
    if (isRunning(previous)) return { do: "stop", container: previous };
    if (nameOf(previous) === names.name) return { do: "rename", container: previous, name: names.aside };
  }
  if (nameOf(next) !== names.name) return { do: "rename", container: next, name: names.name };
  if (facts !== null) {
    if (facts.is_to_run && !isUp(situation, next)) return { do: "start", container: next };
    if (hasOtherPolicy(situation, next, facts.next_restart_policy)) {
      return { do: "policy", container: next, policy: facts.next_restart_policy };
    }
  }
  return null;
}

/**
 * The steps of `moveForward` without starting anything, then the removal of the backup. This can happen long after the run ended: a
 * name or restart policy that somebody has given the new one stays, and a container that now has the target's name has replaced it.
 */
export function moveToEnd(situation: Situation): Move | null {
  const { previous, next, stranger, names } = situation;
  const leftOver = moveLeftOver(situation);
  if (leftOver !== null) return leftOver;
  const all = new Set(next === null ? [] : [next.Id]);
  const forward = moveForward({ ...situation, started: all });
  const isChosenSince = forward !== null && forward.container === next && nameOf(next) !== names.next;
  if (forward !== null && !isChosenSince) return forward;
  const isReplaced = stranger !== null || (next !== null && nameOf(next) === names.name);
  const isAside = previous !== null && nameOf(previous) === names.aside && !isRunning(previous);
  return isReplaced && isAside ? { do: "remove", container: previous, with_anonymous: false } : null;
}

/** If another container has the target's name, the new one under its temporary name is useless and is removed. */
function moveLeftOver({ previous, next, stranger, names }: Situation): Move | null {
  if (next === null || nameOf(next) !== names.next) return null;
  if (stranger === null && (previous === null || nameOf(previous) !== names.name)) return null;
  if (isRunning(next)) return { do: "stop", container: next };
  return { do: "remove", container: next, with_anonymous: true };
}

/**
 * After a failed run: removes the previous one if the new one was kept and serves, or is not to run. Otherwise the previous one is
 * still needed to go back.
 */
export function moveAfterFailure(situation: Situation): Move | null {
  const leftOver = moveLeftOver(situation);
  if (leftOver !== null) return leftOver;
  const { previous, next, names, facts } = situation;
  const isServing = next !== null && nameOf(next) === names.name && (isRunning(next) || facts?.is_to_run === false);
  if (!isServing || previous === null || nameOf(previous) !== names.aside || isRunning(previous)) return null;
  return { do: "remove", container: previous, with_anonymous: false };
}

/** A container that never ran has a start time in the year 1. */
export function wasStarted(container: ContainerInspect): boolean {
  return container.State.Status !== "created" && !(container.State.StartedAt ?? "").startsWith("0001-01-01");
}
