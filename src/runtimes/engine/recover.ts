import type { Clock } from "../../clock.ts";
import { PluginError, SaidError, saidBy } from "../../errors.ts";
import { type Message, say, toldAs } from "../../messages/message.ts";
import type { Journal } from "../journal.ts";
import type { Recovery } from "../session.ts";
import { stopGraceMs } from "./apply.ts";
import type { Attachment } from "./carry.ts";
import { type EngineClient, EngineError, isMissing } from "./client.ts";
import { hasEntry } from "./facts.ts";
import { tiesTo } from "./group/ties.ts";
import { startConnected } from "./lost-networks.ts";
import { type ContainerInspect, isRunning, nameOf } from "./objects.ts";
import {
  findSituation,
  type Move,
  moveAfterFailure,
  moveBack,
  moveForward,
  moveToEnd,
  type Situation,
  wasStarted,
} from "./situation.ts";
import type { EngineStep } from "./steps.ts";

export interface RecoverContext {
  client: EngineClient;
  clock: Clock;
  apiVersion: string;
  /** The networks of a container, by its ID, from the run's snapshot; null if unknown. */
  networksOf?: (id: string) => readonly Attachment[] | null;
  /** Between two attempts at a failed step. */
  retryDelayMs: number;
  /** Aborted when the process shuts down: no stopped container waits for another any longer. */
  stopping?: AbortSignal | undefined;
}

/** An engine refuses for a while when it starts; one that always refuses gets this many attempts. */
const attemptsPerMove = 4;
/** Far above the longest way back or forward; a longer one is a cycle. */
const maxMoves = 40;

const releaseIntervalMs = 100;
/** Podman needs about 0.2 s, longer on a busy machine. After that it is taken not to clean up by itself. */
const longestReleaseMs = 5_000;

/** Recreates a previous container that the engine can no longer start; null if its configuration is unknown. */
export type Mend = (() => Promise<void>) | null;

/** Removes only the backup: the container with this run's backup name, if this run created a successor. */
export async function removePrevious(context: RecoverContext, name: string, journal: Journal): Promise<void> {
  await journal.begin("remove_old", { at: context.clock.now() });
  const failure = await attempt(() => travel(context, name, journal, "remove_old", moveToEnd));
  if (failure !== null) {
    await journal.fail("remove_old", toldAs("error", failure.said));
    throw new PluginError("rejected", failure.said, { cause: failure });
  }
  const left = await findSituation(context.client, name, journal);
  if (left.previous !== null && nameOf(left.previous) === left.names.aside) {
    const message = say("recovery.kept_alone", { kept: left.names.aside });
    await journal.fail("remove_old", toldAs("error", message));
    throw new PluginError("rejected", message);
  }
  await journal.finish("remove_old", {});
}

/**
 * After a failed run: removes the new container that the engine did not remove during the undo, and the previous one if
 * the new one had to be kept and serves. Throws while a previous one is kept because its successor does not serve, or because one of
 * `back` (the restored containers) cannot start without it.
 */
export async function removeAfterFailure(
  context: RecoverContext,
  name: string,
  journal: Journal,
  back: readonly ContainerInspect[],
): Promise<void> {
  const userOf = (previous: ContainerInspect | null) =>
    back.find((each) => previous !== null && tiesTo(each, previous).length > 0);
  const choose = (found: Situation) => {
    const move = moveAfterFailure(found);
    return move?.container === found.previous && userOf(found.previous) !== undefined ? null : move;
  };
  const failure = await attempt(() => travel(context, name, journal, "undo", choose));
  if (failure !== null) throw new PluginError("rejected", failure.said, { cause: failure });
  const { previous, next, names } = await look(context, name, journal);
  if (previous === null || nameOf(previous) !== names.aside || next === null || nameOf(next) !== names.name) return;
  const user = userOf(previous);
  const message =
    user === undefined
      ? say("recovery.kept_not_running", { kept: names.aside, name })
      : say("recovery.kept_needed", { kept: names.aside, user: nameOf(user) });
  throw new PluginError("rejected", message);
}

/** The result was committed: what is in place stays, and nothing that worked is undone. */
export function isEnded(journal: Journal): boolean {
  return hasEntry(journal, "commit", "finish") || hasEntry(journal, "remove_old", "begin");
}

/** Once the result was committed, an existing new container stays. */
export function isInPlace({ next, stranger }: Situation): boolean {
  return next !== null && stranger === null;
}

/** The new one has the name and was started, and undoing has not begun. */
export function isGoingOn({ next, names, facts, stranger }: Situation, journal: Journal): boolean {
  if (next === null || stranger !== null || hasEntry(journal, "undo", "begin")) return false;
  if (isJobOpen({ facts }, journal)) return false;
  const isStarted = wasStarted(next) || (facts?.is_to_run === false && hasEntry(journal, "start", "begin"));
  return nameOf(next) === names.name && isStarted;
}

/** Whether the container is a job that has not been seen to succeed, so that nothing may rely on it. */
function isJobOpen({ facts }: Pick<Situation, "facts">, journal: Journal): boolean {
  const last = journal.entries().findLast((entry) => entry.step === "wait" && entry.facts.job === true);
  return last === undefined ? facts?.is_job === true : last.phase !== "finish";
}

/** Restores the previous container, or, if it is gone or does not start, whatever can serve. */
export async function goBack(
  context: RecoverContext,
  name: string,
  journal: Journal,
  { choose = moveBack, mend }: { choose?: (situation: Situation) => Move | null; mend: Mend },
): Promise<Recovery> {
  const before = await look(context, name, journal);
  if (before.previous === null && before.stranger === null) return keepNext(context, name, journal, before);
  const failure = await attempt(() => travelBack(context, name, journal, choose));
  if (failure !== null && mend !== null && isStuck(failure)) {
    await mend();
    return goBack(context, name, journal, { choose, mend: null });
  }
  if (failure !== null) return fallForward(context, name, journal, failure, choose);
  const after = await look(context, name, journal);
  if (after.stranger !== null) {
    const kept = after.previous === null ? null : nameOf(after.previous);
    const detail =
      kept === null ? say("recovery.name_taken", { name }) : say("recovery.name_taken_kept", { name, kept });
    return { state: "untouched", detail };
  }
  if (after.previous === null) return keepNext(context, name, journal, after);
  return { state: "untouched", detail: say("recovery.as_before", { name }) };
}

/**
 * Whether a start was refused because of the container's former process: a Docker that is killed while it stops a container loses
 * track of that process and then considers it running forever.
 */
function isStuck({ move, cause }: MoveFailed): boolean {
  return move === "start" && cause instanceof EngineError && /\btask [0-9a-f]+: already exists\b/.test(cause.answer);
}

/** An engine that cannot stop the previous one leaves it running, which is all that matters here. */
async function travelBack(
  context: RecoverContext,
  name: string,
  journal: Journal,
  choose: (situation: Situation) => Move | null,
): Promise<void> {
  const failure = await attempt(() => travel(context, name, journal, "undo", choose));
  if (failure === null) return;
  if (failure.move !== "stop") throw failure;
  await travel(context, name, journal, "undo", (found) => choose({ ...found, is_stop_pending: false }));
}

/** Somebody removed the previous one: only the new one is left. */
async function keepNext(context: RecoverContext, name: string, journal: Journal, found: Situation): Promise<Recovery> {
  if (found.next === null) return { state: "down", detail: say("recovery.gone", { name }) };
  const failure = await attempt(() => travel(context, name, journal, "start", moveForward));
  if (failure !== null) {
    return {
      state: "down",
      detail: say("recovery.neither_starts", { cause: failure.said }),
    };
  }
  return { state: "finished", detail: say("recovery.previous_gone", { name }) };
}

/**
 * For a previous container that does not start, as happens if the engine was killed while stopping it. The new one is better than
 * nothing, even if it never started. If it does not start either, the previous one gets its name back and stays down.
 */
async function fallForward(
  context: RecoverContext,
  name: string,
  journal: Journal,
  refusal: MoveFailed,
  choose: (situation: Situation) => Move | null,
): Promise<Recovery> {
  const found = await look(context, name, journal);
  if (found.previous !== null && isBack(found, found.previous)) {
    const facts = { name, is_running: isRunning(found.previous), cause: refusal.said };
    return {
      state: "untouched",
      detail: say("recovery.previous_unfinished", facts),
      is_left_over: found.next !== null,
    };
  }
  if (found.next !== null) {
    const failure = await attempt(() => travel(context, name, journal, "start", moveForward));
    if (failure === null) {
      return {
        state: "started",
        detail: say("recovery.previous_refused", { cause: refusal.said }),
      };
    }
  }
  // Neither starts: the previous one gets its name and policy back, so that the next run finds it instead of the new one.
  await attempt(() => travel(context, name, journal, "undo", (found) => restingMove(found, choose)));
  return { state: "down", detail: say("recovery.down", { name, cause: refusal.said }) };
}

function isBack({ names, facts }: Situation, previous: ContainerInspect): boolean {
  const isUp = isRunning(previous) || facts?.was_running === false;
  return nameOf(previous) === names.name && isUp;
}

/** The next step of the way back that starts nothing; null if only the new one is left. */
export function restingMove(situation: Situation, choose: (situation: Situation) => Move | null): Move | null {
  const { previous, next } = situation;
  if (previous === null) return null;
  const started = new Set([previous.Id, ...(next === null ? [] : [next.Id])]);
  return choose({ ...situation, is_stop_pending: false, started });
}

export class MoveFailed extends SaidError {
  /** The refused step; null if there were too many. */
  readonly move: Move["do"] | null;

  constructor(move: Move["do"] | null, said: Message, cause?: unknown) {
    super(said, cause);
    this.move = move;
  }
}

/** Returns the failure if a step was refused, null if none was; throws every other failure. */
export async function attempt(way: () => Promise<void>): Promise<MoveFailed | null> {
  try {
    await way();
    return null;
  } catch (error) {
    if (error instanceof MoveFailed) return error;
    throw error;
  }
}

/** Determines the next step and takes it until nothing is left. Each step is journalled before it is taken. */
export async function travel(
  context: RecoverContext,
  name: string,
  journal: Journal,
  step: EngineStep,
  choose: (situation: Situation) => Move | null,
): Promise<void> {
  const failures = new Map<string, number>();
  const started = new Set<string>();
  let waited = 0;
  for (let moves = 0; moves < maxMoves; moves += 1) {
    const situation = await look(context, name, journal, started);
    const chosen = choose(situation);
    if (chosen === null) return;
    const holder = chosen.do === "start" ? releasingOne(situation, chosen.container) : null;
    if (holder !== null && waited < longestReleaseMs) {
      await context.clock.sleep(releaseIntervalMs);
      waited += releaseIntervalMs;
      moves -= 1;
      continue;
    }
    const isInTheWay = holder !== null && holder === situation.next && !failures.has(`remove ${nameOf(holder)}`);
    const move: Move = isInTheWay ? { do: "remove", container: holder, with_anonymous: true } : chosen;
    const label = `${move.do} ${nameOf(move.container)}`;
    const told = toldAs("move", say("recovery.move", { move: move.do, name: nameOf(move.container) }));
    await journal.begin(step, { ...told, at: context.clock.now() });
    try {
      await perform(context, move);
      if (move.do === "start") started.add(move.container.Id);
    } catch (error) {
      // A start also fails this way if the owner of a namespace is gone, and then fails every time.
      if (isMissing(error) && move.do !== "start") continue;
      const count = (failures.get(label) ?? 0) + 1;
      failures.set(label, count);
      if (count >= attemptsPerMove) {
        const facts = { move: move.do, name: nameOf(move.container), cause: saidBy(error) };
        throw new MoveFailed(move.do, say("recovery.move_failed", facts), error);
      }
      await context.clock.sleep(context.retryDelayMs * count);
    }
  }
  throw new MoveFailed(null, say("recovery.too_many_moves", { limit: maxMoves }));
}

/**
 * The other container if it has ended and still has its ports: a container that starts before the engine has cleaned up loses them
 * again. The engine may also restart the ended one. Where nothing cleans up behind it, as with Podman before 5.1 and a `runroot` of
 * more than 50 characters (podman issue 22272), only its removal does, and that must come before the start.
 */
function releasingOne({ previous, next }: Situation, starting: ContainerInspect): ContainerInspect | null {
  const other = previous?.Id === starting.Id ? next : previous;
  return other?.State.Releasing === true ? other : null;
}

async function perform({ client, apiVersion, networksOf }: RecoverContext, move: Move): Promise<void> {
  const { Id: id } = move.container;
  if (move.do === "stop") await client.stopContainer(id, stopGraceMs(move.container));
  else if (move.do === "start") await startConnected(client, move.container, networksOf?.(id) ?? null, apiVersion);
  else if (move.do === "remove") await client.removeContainer(id, move.with_anonymous);
  else if (move.do === "rename") await client.renameContainer(id, move.name);
  else if (move.do === "policy") await client.updateRestartPolicy(id, move.policy);
}

/**
 * Inspecting is retried like a step, because a restarting engine does not respond for a moment. If all attempts fail, throws
 * `unreachable` whatever the response was: nothing is decided without an inspection, and recovery tries again later.
 */
export async function look(
  context: RecoverContext,
  name: string,
  journal: Journal,
  started?: ReadonlySet<string>,
): Promise<Situation> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await findSituation(context.client, name, journal, started);
    } catch (error) {
      if (attempt >= attemptsPerMove) {
        if (!(error instanceof PluginError) || error.code === "unreachable") throw error;
        throw new PluginError("unreachable", error.said, { cause: error });
      }
      await context.clock.sleep(context.retryDelayMs * attempt);
    }
  }
}

/** A create without a response may still be in progress: give it a moment to appear. */
export async function awaitPendingCreate(context: RecoverContext, name: string, journal: Journal): Promise<void> {
  const isEnded = hasEntry(journal, "create", "finish") || !hasEntry(journal, "create", "begin");
  if (isEnded) return;
  const { next } = await look(context, name, journal);
  if (next === null) await context.clock.sleep(context.retryDelayMs * 4);
}
