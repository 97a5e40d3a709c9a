import type { Clock } from "../../clock.ts";
import { PluginError, saidBy } from "../../errors.ts";
import { say, toldAs } from "../../messages/message.ts";
import type { Journal } from "../journal.ts";
import { type Blueprint, createBody, mainAttachment, noRestart } from "./carry.ts";
import { type EngineClient, EngineError } from "./client.ts";
import { differences } from "./compare.ts";
import { targetFacts } from "./facts.ts";
import { ownLabelsFor, type RunNames, runNames } from "./names.ts";
import { type ContainerInspect, isRunning } from "./objects.ts";
import { isSame, type RawObject, stringAt } from "./raw.ts";
import { step } from "./step.ts";

/** What one replacement needs: the container to replace, and its replacement. */
export interface Replacement {
  name: string;
  /** Null if a snapshot is restored whose container is gone. */
  old: ContainerInspect | null;
  /** An earlier run left the old container down; if it is restored, it is started. */
  is_owed: boolean;
  /** Whether the new container is started; it is not if the old one was stopped. A running one is never left stopped. */
  is_to_run: boolean;
  /** Runs once to its end before the next ones start. */
  is_job: boolean;
  blueprint: Blueprint;
  new_image_config: unknown;
  /** Passed to the engine only if it differs from the engine's own platform. */
  platform: string | null;
  /** Files in the container outside of mounts; written into the new one before it starts. */
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
  /** Where compose is expected; null for the usual places. */
  composeFolders: readonly string[] | null;
  /** Aborted when the process shuts down: nothing more is stopped, and pending waits are left to the next process. */
  stopping?: AbortSignal | undefined;
}

const policyAttempts = 3;
/** Ten seconds: a busy engine is slow to notice that a container ended right after its start. */
const endingAttempts = 50;
const policyRetryMs = 200;

/** How long engines wait for a container without its own stop timeout. */
const defaultStopSeconds = 10;

/** A new container, created and compared, with a temporary name beside the old one. */
export interface Candidate extends Replacement {
  new_id: string;
  names: RunNames;
  /** Of this container alone. */
  journal: Journal;
}

/** `members`: all containers of the run, journalled with each, so that recovery knows all of them from the first entry on. */
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

/** The create call attached the first network, or the engine's default if the container had been disconnected from its own. */
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
 * From "the old one serves" to "the new one is started". Everything that takes time or can fail (create,
 * networks, comparison with the blueprint, removing the restart policy) happened before; the gap has only the stop and the start.
 * The two renames happen while the engine waits for the old process to end, because the final name must be in place before
 * the start (log tags and service discovery read it then).
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

/** Stops the old container if it runs, and gives its name to the new one. */
export async function takeDown(context: ApplyContext, candidate: Candidate): Promise<void> {
  const { old, journal, names, new_id: newId } = candidate;
  if (old !== null && isRunning(old)) {
    await finishStop(journal, await stopAndSwapNames(context, old, candidate, async () => undefined));
    return;
  }
  // It does not run: there is nothing to wait for, so the two renames follow each other.
  if (old !== null) {
    const skipped = { new_id: newId, is_skipped: true };
    await journal.begin("stop", { old_id: old.Id, ...skipped, at: context.clock.now() });
    await takePolicyOff(context.client, old, journal);
    await journal.finish("stop", { ...skipped, at: context.clock.now() });
    await renameStep(context.client, renameOld(old.Id, names), journal);
  }
  await renameStep(context.client, renameNew(newId, names), journal);
}

/** Throws if a created container differs from its blueprint. */
export function requireSettings(blueprint: Blueprint, made: ContainerInspect): void {
  const settings = differences(blueprint, made).map(({ path }) => path);
  if (settings.length === 0) return;
  throw new PluginError("rejected", say("recovery.settings_missing", { settings: settings.slice(0, 20) }));
}

/** Starts the new container if it is to run. */
export async function bringUp(context: ApplyContext, candidate: Candidate): Promise<void> {
  const { client, clock } = context;
  const { is_to_run: isToRun, new_id: newId, journal } = candidate;
  const skipped = isToRun ? {} : { is_skipped: true };
  await journal.begin("start", { new_id: newId, ...skipped, at: clock.now() });
  const { error } = isToRun ? await settled(client.startContainer(newId)) : { error: null };
  await endStart(context, candidate, error, { ...skipped, at: clock.now() });
}

/**
 * Starts the new container beside the old one, which stops only after `untilReady` has seen the new one serve. Until the names are swapped,
 * the old one counts: after a crash in between, recovery restores it.
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

/** `beforeEnd`: written while the engine still waits for the old process. */
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
    // The stop was sent and cannot be cancelled; a restore must find the old container stopped.
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

/** The engine accepted the stop: an unresponsive process may end long after the response. */
function mayFollow(error: Error): boolean {
  return !(error instanceof PluginError) || error.code === "unreachable" || error.code === "rejected";
}

/** If the engine restarts in the gap, it starts a stopped container with `always` again, beside its successor. */
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

/** A rename whose beginning is already journalled. */
async function move(client: EngineClient, { step: name, facts }: Rename, journal: Journal): Promise<void> {
  try {
    await client.renameContainer(facts.id, facts.to);
  } catch (error) {
    await journal.fail(name, { ...facts, ...toldAs("error", saidBy(error)) });
    throw error;
  }
}

/** The end of one step and the beginning of the next share a commit: in the gap, commits are what takes time. */
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

/** An engine refuses the update at the moment a container ends; a container that ends at once is left to the health check. */
async function givePolicy({ client, clock }: ApplyContext, id: string, policy: RawObject): Promise<Error | null> {
  for (let attempt = 1; ; attempt += 1) {
    const { error } = await settled(client.updateRestartPolicy(id, policy));
    if (error === null || attempt >= (isOfEnding(error) ? endingAttempts : policyAttempts)) return error;
    await clock.sleep(policyRetryMs);
  }
}

/** The engine still lists it as running, but its container runtime no longer does. */
function isOfEnding(error: Error): boolean {
  return (
    error instanceof EngineError && /stopped container|not running|no such process|deleted process/i.test(error.answer)
  );
}

export function stopGraceMs(container: ContainerInspect): number {
  const seconds = container.Config.StopTimeout;
  // -1 means "wait forever" to the engine; we wait an hour.
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
