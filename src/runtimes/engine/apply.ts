import type { Clock } from "../../clock.ts";
import { PluginError, saidBy } from "../../errors.ts";
import { say, toldAs } from "../../messages/message.ts";
import type { Journal } from "../runtime.ts";
import { type Blueprint, createBody, mainAttachment, noRestart } from "./carry.ts";
import { type EngineClient, EngineError } from "./client.ts";
import { differences } from "./compare.ts";
import { targetFacts } from "./facts.ts";
import { ownLabelsFor, type RunNames, runNames } from "./names.ts";
import { type ContainerInspect, isRunning } from "./objects.ts";
import { isSame, type RawObject, stringAt } from "./raw.ts";
import { step } from "./step.ts";

/** What one replacement needs: who is replaced, and by what. */
export interface Replacement {
  name: string;
  /** Null when a snapshot is restored whose container is gone. */
  old: ContainerInspect | null;
  /** The old one does not run because an earlier run left it down: it is to run where it is put back. */
  is_owed: boolean;
  /** A new one that is not to run takes the place of one that does not run either: nothing that serves is left stopped. */
  is_to_run: boolean;
  /** Run once to its end before what comes after it. */
  is_job: boolean;
  blueprint: Blueprint;
  new_image_config: unknown;
  /** Passed to the engine only if it differs from the engine's own platform. */
  platform: string | null;
  /** Files that are in the container and in no mount: written into the new one before it is started. */
  files: CarriedFiles | null;
}

export interface CarriedFiles {
  labels(): Promise<RawObject>;
  write(newId: string): Promise<void>;
}

export interface ApplyContext {
  client: EngineClient;
  clock: Clock;
  apiVersion: string;
  /** Where compose is looked for; null for where it usually is. */
  composeFolders: readonly string[] | null;
  /** Aborted when the process shuts down: nothing more is stopped, and pending waits are left to the next process. */
  stopping?: AbortSignal | undefined;
}

const policyAttempts = 3;
/** Ten seconds: a busy engine takes its time to notice the end of a container that ends as soon as it is started. */
const endingAttempts = 50;
const policyRetryMs = 200;

/** Engines wait this long for a container that names no time of its own. */
const defaultStopSeconds = 10;

/** A new container that is made and compared, under a name of its own beside the old one. */
export interface Candidate extends Replacement {
  new_id: string;
  names: RunNames;
  /** Of this container alone. */
  journal: Journal;
}

/** `members`: every container of the run, which the journal keeps with each, so that recovery knows them all from the first on. */
export async function createCandidate(
  { client, clock, apiVersion }: ApplyContext,
  replacement: Replacement,
  members: readonly string[],
  journal: Journal,
): Promise<Candidate> {
  const { name, old, is_owed, is_to_run, is_job, blueprint, new_image_config, platform, files } = replacement;
  const names = runNames(name, journal.run_id);
  let newId = "";
  const found = targetFacts(old, is_to_run, blueprint.restart_policy, is_owed);
  const facts = { ...found, ...(is_job ? { is_job } : {}), next_name: names.next, members, at: clock.now() };
  await step(journal, "create", facts, async () => {
    const labels = { ...ownLabelsFor(journal.run_id, name, old?.Id ?? null), ...(await files?.labels()) };
    newId = await client.createContainer(
      names.next,
      createBody(blueprint, new_image_config, labels, apiVersion),
      platform,
    );
    await attachNetworks(client, blueprint, newId);
    await files?.write(newId);
    requireSettings(blueprint, await client.inspectContainer(newId));
    return { new_id: newId };
  });
  return { ...replacement, new_id: newId, names, journal };
}

/** The create call attached the first network, or the engine's default one where the container was taken off its own. */
export async function attachNetworks(client: EngineClient, blueprint: Blueprint, newId: string): Promise<void> {
  const main = mainAttachment(blueprint);
  const isAttached = blueprint.config.NetworkDisabled !== true;
  if (main === null && isAttached && blueprint.attachments.length > 0) {
    const mode = stringAt(blueprint.host_config.NetworkMode);
    await client.disconnectNetwork(mode === "" || mode === "default" ? "bridge" : mode, newId);
  }
  for (const attachment of blueprint.attachments) {
    if (attachment === main) continue;
    await client.connectNetwork(attachment.network_id || attachment.network, newId, attachment.endpoint);
  }
}

/**
 * From "the old one serves" to "the new one has been started". Everything that takes time or can go wrong by itself (create,
 * networks, comparing with the blueprint, taking the restart policy off) happened before; in the gap are the stop and the start
 * alone. The two renames go on while the engine waits for the old process to end, because the final name has to be there before
 * the start (log tags and service discovery take it from then).
 */
export async function swap(context: ApplyContext, candidate: Candidate): Promise<void> {
  const { old, journal, new_id: newId } = candidate;
  if (old === null || !isRunning(old)) {
    await takeDown(context, candidate);
    return bringUp(context, candidate);
  }
  const { client, clock } = context;
  const stopping = await stopAndSwapNames(context, old, candidate, () =>
    journal.begin("start", { new_id: newId, at: clock.now() }),
  );
  const [start, noted] = await Promise.all([
    settled(client.startContainer(newId)),
    settled(finishStop(journal, stopping)),
  ]);
  const startedAt = clock.now();
  if (noted.error !== null) throw noted.error;
  await endStart(context, candidate, start.error, { started_at: startedAt, at: startedAt });
}

/** The old one is stopped, where it ran, and the new one has its name. */
export async function takeDown(context: ApplyContext, candidate: Candidate): Promise<void> {
  const { old, journal, names, new_id: newId } = candidate;
  if (old !== null && isRunning(old)) {
    await finishStop(journal, await stopAndSwapNames(context, old, candidate, async () => undefined));
    return;
  }
  // One that does not run: nothing has to be stopped, so nobody waits and the two renames come one after the other.
  if (old !== null) {
    const skipped = { new_id: newId, is_skipped: true };
    await journal.begin("stop", { old_id: old.Id, ...skipped, at: context.clock.now() });
    await takePolicyOff(context.client, old, journal);
    await journal.finish("stop", { ...skipped, at: context.clock.now() });
    await renameStep(context.client, renameOld(old.Id, names), journal);
  }
  await renameStep(context.client, renameNew(newId, names), journal);
}

/** Throws where a container that was made is not set as its blueprint says. */
export function requireSettings(blueprint: Blueprint, made: ContainerInspect): void {
  const settings = differences(blueprint, made).map(({ path }) => path);
  if (settings.length === 0) return;
  throw new PluginError("rejected", say("recovery.settings_missing", { settings: settings.slice(0, 20) }));
}

/** Starts the new one, where it is to run. */
export async function bringUp(context: ApplyContext, candidate: Candidate): Promise<void> {
  const { client, clock } = context;
  const { is_to_run: isToRun, new_id: newId, journal } = candidate;
  const skipped = isToRun ? {} : { is_skipped: true };
  await journal.begin("start", { new_id: newId, ...skipped, at: clock.now() });
  const { error } = isToRun ? await settled(client.startContainer(newId)) : { error: null };
  await endStart(context, candidate, error, { ...skipped, at: clock.now() });
}

/**
 * The new one is started beside the old one, which goes down only when `untilReady` has seen it serve. Until the names are swapped
 * the old one is what counts: a process that dies in between is recovered towards it.
 */
export async function swapStartFirst(
  context: ApplyContext,
  candidate: Candidate,
  untilReady: () => Promise<void>,
): Promise<void> {
  await bringUp(context, candidate);
  await untilReady();
  const { old, journal, names, new_id: newId } = candidate;
  const { client, clock, stopping } = context;
  stopping?.throwIfAborted();
  if (old === null) return renameStep(client, renameNew(newId, names), journal);
  const overlapped = { old_id: old.Id, new_id: newId, is_overlapped: true };
  await journal.begin("stop", { ...overlapped, at: clock.now() });
  await takePolicyOff(client, old, journal);
  const { error } = await settled(client.stopContainer(old.Id, stopGraceMs(old)));
  if (error !== null) {
    await journal.fail("stop", { ...toldAs("error", saidBy(error)), may_follow: mayFollow(error) });
    throw error;
  }
  await journal.finish("stop", { ...overlapped, at: clock.now() });
  await renameStep(client, renameOld(old.Id, names), journal);
  await renameStep(client, renameNew(newId, names), journal);
}

interface Stopping {
  stopping_at: number;
  stopped_at: number;
}

function finishStop(journal: Journal, stopping: Stopping): Promise<void> {
  return journal.finish("stop", { ...stopping, at: stopping.stopped_at });
}

/** `beforeEnd`: what is written while the engine still waits for the old process. */
async function stopAndSwapNames(
  { client, clock }: ApplyContext,
  old: ContainerInspect,
  { new_id: newId, names, journal }: Candidate,
  beforeEnd: () => Promise<void>,
): Promise<Stopping> {
  await journal.begin("stop", { old_id: old.Id, new_id: newId, at: clock.now() });
  await takePolicyOff(client, old, journal);
  const moves = { old: renameOld(old.Id, names), next: renameNew(newId, names) };
  await journal.begin(moves.old.step, moves.old.facts);
  const stoppingAt = clock.now();
  const stopping = settled(client.stopContainer(old.Id, stopGraceMs(old)));
  try {
    await move(client, moves.old, journal);
    await together(journal.finish(moves.old.step, moves.old.facts), journal.begin(moves.next.step, moves.next.facts));
    await move(client, moves.next, journal);
    await together(journal.finish(moves.next.step, moves.next.facts), beforeEnd());
  } catch (error) {
    // The stop is on its way and cannot be called back; whoever puts the old one back must find it stopped.
    await stopping;
    throw error;
  }
  const { error } = await stopping;
  if (error !== null) {
    await journal.fail("stop", { ...toldAs("error", saidBy(error)), may_follow: mayFollow(error) });
    throw error;
  }
  return { stopping_at: stoppingAt, stopped_at: clock.now() };
}

/** The engine was told to, and has not said that it will not: a process that hangs may end long after the answer. */
function mayFollow(error: Error): boolean {
  return !(error instanceof PluginError) || error.code === "unreachable" || error.code === "rejected";
}

/** An engine that restarts in the gap would start a stopped container with `always` again, beside its successor. */
async function takePolicyOff(client: EngineClient, old: ContainerInspect, journal: Journal): Promise<void> {
  if (isSame(old.HostConfig.RestartPolicy, noRestart)) return;
  try {
    await client.updateRestartPolicy(old.Id, noRestart);
  } catch (error) {
    await journal.fail("stop", toldAs("error", saidBy(error)));
    throw error;
  }
}

interface Rename {
  step: "rename_old" | "rename_new";
  facts: { id: string; from: string; to: string };
}

function renameOld(id: string, names: RunNames): Rename {
  return { step: "rename_old", facts: { id, from: names.name, to: names.aside } };
}

function renameNew(id: string, names: RunNames): Rename {
  return { step: "rename_new", facts: { id, from: names.next, to: names.name } };
}

/** A rename whose beginning is in the journal already. */
async function move(client: EngineClient, { step: name, facts }: Rename, journal: Journal): Promise<void> {
  try {
    await client.renameContainer(facts.id, facts.to);
  } catch (error) {
    await journal.fail(name, { ...facts, ...toldAs("error", saidBy(error)) });
    throw error;
  }
}

/** The end of one step and the beginning of the next share a commit: while the old one stops, commits are what takes time. */
async function together(...writes: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(writes);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function renameStep(client: EngineClient, rename: Rename, journal: Journal): Promise<void> {
  await journal.begin(rename.step, rename.facts);
  await move(client, rename, journal);
  await journal.finish(rename.step, rename.facts);
}

async function endStart(
  context: ApplyContext,
  { new_id: newId, blueprint, journal }: Candidate,
  startError: Error | null,
  facts: RawObject,
): Promise<void> {
  let failure = startError;
  if (failure === null && !isSame(blueprint.restart_policy, noRestart)) {
    failure = await givePolicy(context, newId, blueprint.restart_policy);
  }
  if (failure === null) return journal.finish("start", { new_id: newId, ...facts });
  await journal.fail("start", { new_id: newId, ...toldAs("error", saidBy(failure)) });
  throw failure;
}

/** An engine refuses the update in the moment in which a container ends; one that ends at once is for the health check to judge. */
async function givePolicy({ client, clock }: ApplyContext, id: string, policy: RawObject): Promise<Error | null> {
  for (let attempt = 1; ; attempt += 1) {
    const { error } = await settled(client.updateRestartPolicy(id, policy));
    if (error === null || attempt >= (isOfEnding(error) ? endingAttempts : policyAttempts)) return error;
    await clock.sleep(policyRetryMs);
  }
}

/** The engine still counts it as running, and what runs containers for it does not any more. */
function isOfEnding(error: Error): boolean {
  return (
    error instanceof EngineError && /stopped container|not running|no such process|deleted process/i.test(error.answer)
  );
}

export function stopGraceMs(container: ContainerInspect): number {
  const seconds = container.Config.StopTimeout;
  // -1 means "wait for ever" to the engine; an hour is as long as we do.
  const named = typeof seconds === "number" ? seconds : defaultStopSeconds;
  return (named < 0 ? 3600 : named) * 1000;
}

/** An outcome as a value, so that several can be awaited before the first failure is handled. */
async function settled(work: Promise<void>): Promise<{ error: Error | null }> {
  try {
    await work;
    return { error: null };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
