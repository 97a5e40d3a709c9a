import { PluginError } from "../../../errors.ts";
import { type Message, say, toldAs } from "../../../messages/message.ts";
import type { Journal } from "../../journal.ts";
import type { UpdatePlan } from "../../plan.ts";
import {
  type ApplyContext,
  bringUp,
  type Candidate,
  createCandidate,
  type Replacement,
  swap,
  swapStartFirst,
  takeDown,
} from "../apply.ts";
import type { Blueprint } from "../carry.ts";
import { completeContainer } from "../complete.ts";
import { composeLabels, composeOf } from "../compose/labels.ts";
import { type ComposeOutlook, composeOutlooks, configHashLabels } from "../compose/outlook.ts";
import { planHash } from "../container-plan.ts";
import { type ContainerInspect, isIdPrefix, isRunning, nameOf } from "../objects.ts";
import { canonical, objectAt, stringAt } from "../raw.ts";
import { findMade, judgeReadiness, unready } from "../readiness.ts";
import { findLoss, healthBudgetMs, healthFailure, healthPollMs, longestWaitMs } from "./health.ts";
import { memberJournal } from "./member-journal.ts";
import { rebased, type Successor } from "./ties.ts";

/** A replacement in a run: references to the old container must move to the new one. */
export interface Unit extends Replacement {
  /** Container ids by which others know it: the old one's, and that of the snapshot it is restored from. */
  known_as: readonly string[];
  /** The container whose labels and ties apply. */
  origin: ContainerInspect;
}

/** Whether the new container starts before the old one stops, and how long both then run. */
type Timing = Pick<UpdatePlan, "order" | "drain_seconds">;

/**
 * Replaces the units of a run. All new containers are created while the old ones still run; then each cluster goes down (containers that
 * share a namespace before its owner) and up again, in dependency order. Throws at the first failure, with everything journalled that is
 * needed to restore all of it.
 */
export async function replaceUnits(
  context: ApplyContext,
  clusters: readonly (readonly Unit[])[],
  timing: Timing,
  /** Ids of the snapshot's containers that are not replaced, and their present counterparts. */
  stands: ReadonlyMap<string, Successor>,
  journal: Journal,
): Promise<void> {
  const members = clusters.flat().map((unit) => unit.name);
  const successors = new Map(stands);
  const candidates = new Map<Unit, Candidate>();
  const moves = clusters.flat().map(({ old, origin, blueprint }) => {
    return { container: old ?? origin, reference: stringAt(blueprint.config.Image) };
  });
  const folders = context.composeFolders === null ? {} : { folders: context.composeFolders };
  let outlooks = await composeOutlooks(moves, folders);
  for (const unit of clusters.flat()) {
    const find = (reference: string) => successorOf(reference, clusters.flat(), successors);
    const led = rebased(unit.blueprint, find);
    if (composeOf(unit.origin) !== null && canonical(led) !== canonical(unit.blueprint)) {
      // Compose hashes containers that share a namespace with the owner's id, which is known only now.
      const moved = new Map([...successors].map(([id, successor]) => [id, successor.id]));
      outlooks = await composeOutlooks(moves, { moved, ...folders });
    }
    const labels = { ...objectAt(led.config.Labels), ...hashLabels(unit, led, outlooks) };
    const blueprint = { ...led, config: { ...led.config, Labels: labels } };
    const member = memberJournal(journal, unit.name);
    const candidate = await createCandidate(context, { ...unit, blueprint }, members, member);
    candidates.set(unit, candidate);
    for (const id of unit.known_as) successors.set(id, { id: candidate.new_id, name: candidate.names.next });
  }
  const started: Candidate[] = [];
  for (const [place, cluster] of clusters.entries()) {
    await replaceCluster({ ...context, started }, cluster, candidates, { ...timing, isFirst: place === 0 }, journal);
  }
}

/** `started`: new containers that already run, and must keep running while others are awaited. */
interface GroupContext extends ApplyContext {
  started: Candidate[];
}

/** A lost service is restored at once, not when the last of its group has been replaced. */
async function requireStarted({ client, started }: GroupContext): Promise<void> {
  for (const { new_id: id, name, journal } of started) {
    const loss = await findLoss(client, { id, name });
    if (loss === null) continue;
    await journal.fail("wait", toldAs("error", loss));
    throw new PluginError("rejected", loss);
  }
}

/**
 * The hash by which compose considers a container up to date. A rollback to other settings keeps their hash: today's file may differ, and
 * compose must notice.
 */
function hashLabels(unit: Unit, led: Blueprint, outlooks: readonly ComposeOutlook[]) {
  const hashIn = (labels: unknown) => objectAt(labels)[composeLabels.config_hash];
  const present = unit.old ?? unit.origin;
  const isOfPresent = hashIn(unit.blueprint.config.Labels) === hashIn(present.Config.Labels);
  const isLed = canonical(led) !== canonical(unit.blueprint);
  if (!isOfPresent && !isLed) return {};
  return configHashLabels(outlooks.find((each) => each.container === nameOf(present)));
}

function successorOf(reference: string, units: readonly Unit[], successors: ReadonlyMap<string, Successor>) {
  const bare = reference.replace(/^\//, "");
  for (const [id, successor] of successors) {
    if (isIdPrefix(bare, id)) return { successor, is_by_id: true };
  }
  const named = units.find((unit) => unit.name === bare);
  const successor = named?.known_as.map((id) => successors.get(id)).find((each) => each !== undefined);
  return successor === undefined ? null : { successor, is_by_id: false };
}

async function replaceCluster(
  context: GroupContext,
  cluster: readonly Unit[],
  candidates: ReadonlyMap<Unit, Candidate>,
  { order, drain_seconds, isFirst }: Timing & { isFirst: boolean },
  journal: Journal,
): Promise<void> {
  const made = cluster.flatMap((unit) => {
    const candidate = candidates.get(unit);
    return candidate === undefined ? [] : [{ unit, candidate }];
  });
  const others = [...candidates].filter(([unit]) => !cluster.includes(unit));
  // Dependencies outside of the cluster are awaited while the old containers still run.
  for (const { unit } of made) await awaitNeeds(context, unit, others, journal);
  // Waiting for others may have taken long.
  if (!isFirst) for (const { unit } of made) await requireUnchanged(context, unit);
  context.stopping?.throwIfAborted();
  const [only] = made;
  if (only !== undefined && made.length === 1) {
    const { candidate } = only;
    if (order === "start_first" && candidate.is_to_run) {
      await swapStartFirst(context, candidate, async () => {
        await awaitReady(context, candidate);
        await drain(context, candidate, drain_seconds);
      });
    } else await swap(context, candidate);
    if (only.unit.is_job) await runJob(context, candidate);
    if (candidate.is_to_run) context.started.push(candidate);
    return;
  }
  for (const { candidate } of made.toReversed()) await takeDown(context, candidate);
  // From here on something is down, even when the process is ending: a job may use its remaining time to finish.
  const patient = { ...context, stopping: undefined };
  for (const { unit, candidate } of made) {
    await awaitNeeds(
      context,
      unit,
      made.map((each) => [each.unit, each.candidate] as const),
      journal,
      "down",
    );
    await bringUp(context, candidate);
    if (unit.is_job) await runJob(patient, candidate);
    if (candidate.is_to_run) context.started.push(candidate);
  }
}

/** A change made meanwhile would be lost with the old container: it is restored instead, and the next run carries the change. */
async function requireUnchanged({ client, apiVersion }: ApplyContext, { name, old }: Unit): Promise<void> {
  if (old === null) return;
  const now = await completeContainer(client, await client.inspectContainer(old.Id));
  const hashOf = (container: ContainerInspect) => {
    // Running state does not matter here; and engines report links by names, which the run itself changes.
    const { Links: _links, ...HostConfig } = container.HostConfig;
    return planHash({ ...container, HostConfig, State: old.State }, apiVersion, {});
  };
  if (hashOf(now) === hashOf(old)) return;
  throw new PluginError("rejected", say("readiness.changed_while_waiting", { name }));
}

/**
 * Runs a container that ends by design and waits for its end; throws unless it succeeds. Recovery does not run it again, because it
 * considers the container as not supposed to run.
 */
async function runJob(context: GroupContext, candidate: Candidate): Promise<void> {
  const { client, clock, stopping } = context;
  const { journal, name, new_id: id } = candidate;
  const facts = { for: name, job: true };
  await journal.begin("wait", { ...facts, at: clock.now() });
  // After the entry, which tells recovery that it did not finish: starting it now would only cut it off.
  stopping?.throwIfAborted();
  await client.startContainer(id);
  const deadline = clock.elapsed() + longestWaitMs;
  for (;;) {
    const { container, lost } = await findMade(client, { id, name });
    const isUp = container !== null && isRunning(container);
    const code = container?.State.ExitCode ?? 0;
    if (lost === null && !isUp && code === 0) break;
    if (lost !== null || !isUp || clock.elapsed() >= deadline) {
      const ended = lost ?? say("readiness.job_failed", { name, exit_code: code });
      const message = lost === null && isUp ? say("readiness.job_endless", { name }) : ended;
      await journal.fail("wait", { ...facts, ...toldAs("error", message) });
      throw new PluginError("rejected", message);
    }
    await requireStarted(context);
    await clock.sleep(healthPollMs, stopping);
  }
  await journal.finish("wait", { ...facts, at: clock.now() });
}

/**
 * `depends_on` with `service_healthy`: the new dependency must be healthy before its dependant starts. When the process is ending, a
 * running container stays as it is, and one that is down starts at once.
 */
async function awaitNeeds(
  context: GroupContext,
  unit: Unit,
  others: readonly (readonly [Unit, Candidate])[],
  journal: Journal,
  meanwhile: "serves" | "down" = "serves",
): Promise<void> {
  const labels = composeOf(unit.origin);
  if (labels === null || !unit.is_to_run) return;
  for (const { service, condition } of labels.depends_on) {
    if (condition !== "service_healthy") continue;
    for (const [needed, candidate] of others) {
      const other = composeOf(needed.origin);
      if (needed === unit || other?.project !== labels.project || other.service !== service || !needed.is_to_run)
        continue;
      await awaitHealthy(context, unit, candidate, memberJournal(journal, unit.name), meanwhile);
    }
  }
}

async function awaitHealthy(
  context: GroupContext,
  unit: Unit,
  needed: Candidate,
  journal: Journal,
  meanwhile: "serves" | "down",
): Promise<void> {
  const { clock, stopping } = context;
  const facts = { for: needed.name, at: clock.now() };
  await journal.begin("wait", facts);
  let failure: Message | null = null;
  try {
    const alsoRequire = () => requireStarted(context);
    failure = await healthFailure(context, { id: needed.new_id, name: needed.name }, { alsoRequire });
  } catch (error) {
    if (meanwhile === "serves" || stopping?.aborted !== true || error !== stopping.reason) throw error;
    await journal.finish("wait", { ...facts, is_cut_short: true, at: clock.now() });
    return;
  }
  if (failure !== null) {
    const message = say("readiness.needs_healthy", { name: unit.name, needed: needed.name, cause: failure });
    await journal.fail("wait", { ...facts, ...toldAs("error", message) });
    throw new PluginError("rejected", message);
  }
  await journal.finish("wait", { ...facts, at: clock.now() });
}

/**
 * Both run for a while, so that clients learn of the new one before the old one stops. When the process is ending, both continue: the next
 * process removes the new one.
 */
async function drain(context: GroupContext, candidate: Candidate, seconds: number): Promise<void> {
  if (seconds === 0) return;
  const { clock, stopping } = context;
  const { journal } = candidate;
  const startedAt = clock.elapsed();
  const facts = { seconds, at: clock.now() };
  await journal.begin("drain", facts);
  // Counted by time slept, so that setting the clock does not change it.
  for (let left = seconds * 1000; left > 0; left -= healthPollMs) {
    await requireStarted(context);
    await clock.sleep(Math.min(left, healthPollMs), stopping);
    const { verdict } = await judgeBeside(context, candidate, startedAt);
    if (verdict.ready || verdict.final !== true) continue;
    const message = say("readiness.not_stable_beside", { name: candidate.name, cause: verdict.detail });
    await journal.fail("drain", { ...facts, ...toldAs("error", message) });
    throw new PluginError("rejected", message);
  }
  await journal.finish("drain", { ...facts, at: clock.now() });
}

/** The state of a started container that does not have its name yet. `startedAt`: by `Clock.elapsed`. */
async function judgeBeside({ client, clock }: GroupContext, { new_id: id, names }: Candidate, startedAt: number) {
  const { container, lost } = await findMade(client, { id, name: names.next });
  return { container, verdict: lost === null ? judgeReadiness(container, clock.elapsed() - startedAt) : unready(lost) };
}

/** Waits until a started container is ready by the engine's own judgement; throws when it never will be. */
async function awaitReady(context: GroupContext, candidate: Candidate): Promise<void> {
  const { clock, stopping } = context;
  const startedAt = clock.elapsed();
  for (;;) {
    const { container, verdict } = await judgeBeside(context, candidate, startedAt);
    const deadline = startedAt + healthBudgetMs(container?.Config.Healthcheck);
    if (verdict.ready) return;
    if (verdict.final === true || clock.elapsed() >= deadline) {
      const message = say("readiness.not_ready_beside", { name: candidate.name, cause: verdict.detail });
      throw new PluginError("rejected", message);
    }
    await requireStarted(context);
    await clock.sleep(healthPollMs, stopping);
  }
}
