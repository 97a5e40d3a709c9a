import * as v from "valibot";
import { PluginError } from "../../../errors.ts";
import { type Message, say, toldAs } from "../../../messages/message.ts";
import { isImageId } from "../../../versions/image-reference.ts";
import type { Journal } from "../../journal.ts";
import type { Recovery } from "../../session.ts";
import type { TargetRef } from "../../target.ts";
import type { EngineClient } from "../client.ts";
import { composeOf } from "../compose/labels.ts";
import { hasDigest } from "../container-plan.ts";
import { hasEntry } from "../facts.ts";
import { type ImageInspect, isRunning, nameOf } from "../objects.ts";
import {
  attempt,
  awaitPendingCreate,
  goBack,
  isEnded,
  isGoingOn,
  isInPlace,
  look,
  type Mend,
  type MoveFailed,
  type RecoverContext,
  removeAfterFailure,
  removePrevious,
  restingMove,
  travel,
} from "../recover.ts";
import { splitReference } from "../reference.ts";
import { type Move, moveBack, moveForward, type Situation } from "../situation.ts";
import { orNull } from "../survey.ts";
import { healthFailure } from "./health.ts";
import { type RunMember, runMembers } from "./member-journal.ts";
import { type Rebuild, rebuildLost } from "./rebuild.ts";

/** For a whole run: what is down must come back soon, healthy dependency or not. */
const longestHealthWaitMs = 2 * 60_000;

/**
 * Restores the tags that the run moved: otherwise the next `docker compose up` of the same file would return to the image that was just
 * rolled back. A tag that somebody moved meanwhile stays, and one that cannot be moved does not affect the way back.
 */
export async function pointTagsBack({ client }: RecoverContext, journal: Journal): Promise<void> {
  let brought: string | null = null;
  // The oldest last: of several services with one tag, only the first found its original image.
  for (const { step, phase, facts } of [...journal.entries()].reverse()) {
    if (step !== "pull") continue;
    if (phase !== "begin") {
      brought = phase === "finish" && typeof facts.image_id === "string" ? facts.image_id : null;
      continue;
    }
    const moved = v.safeParse(MovedTag, facts);
    if (moved.success) await pointTagBack(client, moved.output, brought);
    brought = null;
  }
}

async function pointTagBack(client: EngineClient, moved: MovedTag, brought: string | null): Promise<void> {
  const { reference, tag_was } = moved;
  const { repository, tag } = splitReference(reference);
  try {
    const named = await orNull(client.inspectImage(reference));
    if (named === null || named.Id === tag_was || !isBrought(named, moved, brought)) return;
    await client.tagImage(tag_was, repository, tag ?? "latest");
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
  }
}

const MovedTag = v.object({ reference: v.string(), tag_was: v.string(), pulled: v.optional(v.string(), "") });
type MovedTag = v.InferOutput<typeof MovedTag>;

/** Whether a pull brought this image; unknown for one that did not finish and named only a tag. */
function isBrought(image: ImageInspect, { pulled }: MovedTag, brought: string | null): boolean {
  if (brought !== null) return image.Id === brought;
  // A rollback requests exactly its snapshot's image.
  if (isImageId(pulled)) return image.Id === pulled;
  return !pulled.includes("@") || hasDigest(image, pulled);
}

/** `rebuild`: recreates containers that somebody removed; null without a snapshot of them. */
type WayOfRun = (
  context: RecoverContext,
  ref: TargetRef,
  journal: Journal,
  rebuild: Rebuild | null,
) => Promise<Recovery>;

/** Moves all containers of a run forward or back. If nothing changed in the end, the tags are restored too. */
async function leadMembers(
  context: RecoverContext,
  ref: TargetRef,
  journal: Journal,
  way: (members: readonly RunMember[]) => Promise<Recovery>,
): Promise<Recovery> {
  const members = runMembers(journal, ref);
  const recovery: Recovery =
    members.length === 0
      ? { state: "untouched", detail: say("recovery.nothing_touched", { name: ref.id }) }
      : await way(members);
  if (recovery.state === "untouched") await pointTagsBack(context, journal);
  return recovery;
}

/** Restores every container of a run, whatever it finds; see `RuntimeSession.undo`. */
export const undoRun: WayOfRun = (context, ref, journal, rebuild) =>
  leadMembers(context, ref, journal, async (members) => {
    if (rebuild !== null) await rebuildLost(context, members, rebuild);
    for (const member of members) await member.journal.begin("undo", { at: context.clock.now() });
    const recovery = await backTogether(context, members, rebuild);
    if (recovery.state === "down") throw new PluginError("rejected", recovery.detail);
    return recovery;
  });

/** Removes a run's backups, those that others depend on last; see `RuntimeSession.finish`. */
export async function finishRun(context: RecoverContext, ref: TargetRef, journal: Journal): Promise<void> {
  const failures: Message[] = [];
  const hasFailed = !isEnded(journal) && hasEntry(journal, "undo", "begin", "fail");
  const members = runMembers(journal, ref);
  const back = hasFailed ? await previousInPlace(context, members) : [];
  for (const { name, journal: own } of members.toReversed()) {
    try {
      if (hasFailed) await removeAfterFailure(context, name, own, back);
      else await removePrevious(context, name, own);
    } catch (error) {
      if (!(error instanceof PluginError) || error.code !== "rejected") throw error;
      failures.push(error.said);
    }
  }
  if (failures.length > 0) throw new PluginError("rejected", joined(failures));
}

/** The previous containers that have their own names. */
async function previousInPlace(context: RecoverContext, members: readonly RunMember[]) {
  const situations = await situationsOf(context, members);
  return situations.flatMap(({ found: { previous, names } }) => {
    return previous !== null && nameOf(previous) === names.name ? [previous] : [];
  });
}

/**
 * After a crash all of a run's containers go forward, or all go back; see `RuntimeSession.recover`. The engine's state decides first: a
 * new container that never started leads back, one that was started leads forward, unless the journal says that undoing had begun or
 * the result was committed.
 */
export const recoverTogether: WayOfRun = (context, ref, journal, rebuild) =>
  leadMembers(context, ref, journal, async (members) => {
    if (rebuild !== null) await rebuildLost(context, await leadingBack(context, members, journal), rebuild);
    if (isEnded(journal)) return await endTogether(context, members, rebuild);
    const situations = await situationsOf(context, members);
    if (situations.every(({ member, found }) => isGoingOn(found, member.journal))) {
      const failure = await goOnTogether(context, members);
      if (failure === null) return await startedOrFinished(context, members);
    }
    return await backTogether(context, members, rebuild);
  });

function mendOf(
  context: RecoverContext,
  members: readonly RunMember[],
  stuck: RunMember,
  rebuild: Rebuild | null,
): Mend {
  return rebuild === null ? null : () => rebuildLost(context, members, rebuild, new Set([stuck.name]));
}

async function situationsOf(context: RecoverContext, members: readonly RunMember[]) {
  const situations: { member: RunMember; found: Situation }[] = [];
  for (const member of members) {
    situations.push({ member, found: await look(context, member.name, member.journal) });
  }
  return situations;
}

/** Those whose previous container is needed: all or none while the result is open, later each one that lost its new container. */
async function leadingBack(
  context: RecoverContext,
  members: readonly RunMember[],
  journal: Journal,
): Promise<readonly RunMember[]> {
  const situations = await situationsOf(context, members);
  if (isEnded(journal)) return situations.filter(({ found }) => !isInPlace(found)).map(({ member }) => member);
  return situations.every(({ member, found }) => isGoingOn(found, member.journal)) ? [] : members;
}

async function endTogether(
  context: RecoverContext,
  members: readonly RunMember[],
  rebuild: Rebuild | null,
): Promise<Recovery> {
  const ends: Recovery[] = [];
  const committed: RunMember[] = [];
  for (const { member, found } of await situationsOf(context, members)) {
    if (!isInPlace(found)) {
      // Somebody removed the new one: the previous one is better than nothing.
      const mend = mendOf(context, members, member, rebuild);
      const recovery = await goBack(context, member.name, member.journal, { mend });
      await endWayBack(member, recovery);
      ends.push(recovery);
      continue;
    }
    // A restarted engine may have left it stopped. If it cannot start, the previous one is kept.
    const failure = await attempt(() => travel(context, member.name, member.journal, "start", moveForward));
    if (failure !== null) {
      ends.push({
        state: "down",
        detail: say("recovery.new_does_not_start", { name: member.name, cause: failure.said }),
      });
      continue;
    }
    committed.push(member);
    ends.push({ state: "finished", detail: say("recovery.in_place", { names: [member.name] }) });
  }
  for (const { name, journal } of committed.toReversed()) await removePrevious(context, name, journal);
  return together(ends);
}

/** Null when each is in place, else what failed. */
async function goOnTogether(context: RecoverContext, members: readonly RunMember[]): Promise<MoveFailed | null> {
  for (const { name, journal } of members) {
    const failure = await attempt(() => travel(context, name, journal, "start", moveForward));
    if (failure !== null) return failure;
  }
  return null;
}

async function startedOrFinished(context: RecoverContext, members: readonly RunMember[]): Promise<Recovery> {
  const situations = await situationsOf(context, members);
  const names = members.map(({ name }) => name);
  if (situations.every(({ found }) => found.previous === null)) {
    return { state: "finished", detail: say("recovery.in_place_gone", { names }) };
  }
  return { state: "started", detail: say("recovery.in_place_kept", { names }) };
}

/**
 * Stops the new containers, dependants first; restores the previous ones in dependency order; removes the remaining new ones in reverse,
 * because an engine may keep what others refer to. One that cannot be restored does not block the others. When others are restored,
 * containers that a rollback added are removed again. Nothing depends on the last member, and the first
 * one back stops its own new container: a single container, which is both, is restored in one go.
 */
async function backTogether(
  context: RecoverContext,
  members: readonly RunMember[],
  rebuild: Rebuild | null,
): Promise<Recovery> {
  for (const { name, journal } of members) await awaitPendingCreate(context, name, journal);
  const added = addedOnes(await situationsOf(context, members));
  const [first, last] = [members.at(0), members.at(-1)];
  for (const member of members.toReversed()) {
    if (member === first && !added.has(member)) continue;
    const choose = added.has(member) ? stopAdded : stopNext;
    // Only what can be restored is taken down; failures here are retried on the way back.
    await attempt(() => travel(context, member.name, member.journal, "undo", choose));
  }
  const ends: { member: RunMember; recovery: Recovery }[] = [];
  const patience = { leftMs: longestHealthWaitMs };
  for (const member of members) {
    if (added.has(member)) continue;
    await awaitNeeds(
      context,
      member,
      ends.map((end) => end.member),
      patience,
    );
    const mend = mendOf(context, members, member, rebuild);
    const choose = member === last ? moveBack : keepingNext;
    const recovery = await goBack(context, member.name, member.journal, { choose, mend });
    ends.push({ member, recovery });
  }
  for (const member of [...added].toReversed()) ends.push({ member, recovery: await takeAway(context, member) });
  for (const end of ends.toReversed()) {
    const { member, recovery } = end;
    if (member === last || (recovery.state !== "untouched" && recovery.state !== "down")) continue;
    const isDown = recovery.state === "down";
    const choose = (found: Situation) => (isDown ? restingMove(found, moveBack) : moveBack(found));
    const failure = await attempt(() => travel(context, member.name, member.journal, "undo", choose));
    if (failure !== null) {
      const detail = say("recovery.unfinished", { said: recovery.detail, cause: failure.said });
      end.recovery = { ...recovery, detail, ...(isDown ? {} : { is_left_over: true }) };
    }
  }
  for (const { member, recovery } of ends) await endWayBack(member, recovery);
  return together(ends.map(({ recovery }) => recovery));
}

async function endWayBack({ journal }: RunMember, recovery: Recovery): Promise<void> {
  if (recovery.state === "down") await journal.fail("undo", toldAs("error", recovery.detail));
  else if (hasEntry(journal, "undo", "begin")) await journal.finish("undo", { state: recovery.state });
}

/** `depends_on` with `service_healthy`, among those that are back. One that does not become healthy blocks nobody. */
async function awaitNeeds(
  context: RecoverContext,
  member: RunMember,
  back: readonly RunMember[],
  patience: { leftMs: number },
): Promise<void> {
  if (back.length === 0) return;
  const { previous } = await look(context, member.name, member.journal);
  const labels = previous === null || isRunning(previous) ? null : composeOf(previous);
  const needs = labels?.depends_on.filter(({ condition }) => condition === "service_healthy") ?? [];
  if (needs.length === 0) return;
  for (const other of back) {
    const needed = (await look(context, other.name, other.journal)).previous;
    const its = needed === null ? null : composeOf(needed);
    if (needed === null || its?.project !== labels?.project || !isRunning(needed)) continue;
    if (!needs.some(({ service }) => service === its?.service)) continue;
    if (patience.leftMs <= 0) return;
    const since = context.clock.elapsed();
    const wait = toldAs("move", say("recovery.wait_for", { name: nameOf(needed) }));
    await member.journal.begin("undo", { ...wait, at: context.clock.now() });
    try {
      await healthFailure(context, { id: needed.Id, name: nameOf(needed) }, { atMostMs: patience.leftMs });
    } catch (error) {
      // When the process is ending nobody waits: what is down starts.
      if (!(error instanceof PluginError) && context.stopping?.aborted !== true) throw error;
    }
    patience.leftMs -= context.clock.elapsed() - since;
  }
}

/** Containers without a previous one, unless none had one: then the new ones are all there is. */
function addedOnes(situations: Awaited<ReturnType<typeof situationsOf>>): ReadonlySet<RunMember> {
  if (situations.every(({ found }) => found.previous === null)) return new Set();
  const isAdded = ({ previous, stranger, facts }: Situation) => {
    return previous === null && stranger === null && (facts === null || facts.old_id === null);
  };
  return new Set(situations.filter(({ found }) => isAdded(found)).map(({ member }) => member));
}

function stopAdded({ next }: Situation): Move | null {
  return next !== null && isRunning(next) ? { do: "stop", container: next } : null;
}

async function takeAway(context: RecoverContext, { name, journal }: RunMember): Promise<Recovery> {
  const failure = await attempt(() => travel(context, name, journal, "undo", moveBack));
  return failure === null
    ? { state: "untouched", detail: say("recovery.absent_as_before", { name }) }
    : { state: "finished", detail: say("recovery.not_removed", { name, cause: failure.said }) };
}

/** The way back without its last move, the removal. */
function keepingNext(situation: Situation) {
  const move = moveBack(situation);
  return move?.do === "remove" ? null : move;
}

function stopNext(situation: Situation) {
  const { previous, next } = situation;
  if (previous === null || next === null || !isRunning(next)) return null;
  const move = moveBack(situation);
  return move !== null && nameOf(move.container) === nameOf(next) && (move.do === "stop" || move.do === "policy")
    ? move
    : null;
}

function together(recoveries: readonly Recovery[]): Recovery {
  const of = (state: Recovery["state"]) => recoveries.filter((each) => each.state === state);
  const detail = (found: readonly Recovery[]) => joined(found.map((each) => each.detail));
  const [down, untouched] = [of("down"), of("untouched")];
  if (down.length > 0) return { state: "down", detail: detail(down) };
  if (untouched.length === recoveries.length) {
    const isLeftOver = recoveries.some((each) => each.state === "untouched" && each.is_left_over === true);
    return { state: "untouched", detail: detail(untouched), is_left_over: isLeftOver };
  }
  if (untouched.length > 0) return { state: "mixed", detail: detail(recoveries) };
  return { state: of("started").length > 0 ? "started" : "finished", detail: detail(recoveries) };
}

function joined(items: readonly Message[]): Message {
  const [only] = items;
  return only !== undefined && items.length === 1 ? only : say("phrases.joined", { items });
}
